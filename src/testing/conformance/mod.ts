/**
 * The suite that every store passes, by the contract in `src/locks/store.ts`, for whoever writes one. It needs no test
 * runner: a case is a sentence and a function.
 *
 * Not promised: that a store which passes is right under crashes of machines, or between processes whose store objects
 * share nothing but the objects: a case runs in one process, with several store objects.
 */
import type { ObjectStore } from "../../locks/store.ts"
import { type Clock, liveClock } from "../../runtime/clock.ts"
import { deleting } from "./deleting.ts"
import { living } from "./living.ts"
import { naming } from "./naming.ts"
import { reading } from "./reading.ts"
import { type Settings, Subject } from "./subject.ts"
import type { Trial } from "./trial.ts"
import { writing } from "./writing.ts"

export { ConformanceError, type Verdict } from "./verdict.ts"

/** One demand of the contract, as a test. */
export interface ConformanceCase {
  /** A sentence whose subject is the store. */
  readonly name: string
  /** Rejects with ConformanceError (what the store did, and what the contract asks), or with what `makeStore` throws. */
  readonly run: () => Promise<void>
}

/**
 * Makes a store object, not started, on the objects of a place; a place that it sees for the first time is empty. A
 * place is a text of `[A-Za-z0-9_-]`. Stores of one place share their objects as processes do. The suite closes them.
 */
export type MakeStore = (place: string) => ObjectStore | Promise<ObjectStore>

/** How a suite is run. */
export interface ConformanceOptions {
  /** What one request may take, in milliseconds; default 10,000. */
  readonly deadline?: number
  /** How much later than its deadline or its abort a call may settle, in milliseconds; default 1000. */
  readonly grace?: number
  /** What the store is to declare of deletes; where false the cases of deletes are left out. Default true. */
  readonly deletes?: boolean
  /** How many names the case of long lists writes: more than a page of the store holds. Default 1203. */
  readonly names?: number
  /**
   * From now on nothing answers the stores of this place: requests are taken and that is all. Where a test can do this to
   * its store, two cases more show that silence ends by deadlines.
   */
  readonly silence?: (place: string) => void | Promise<void>
  /** What the suite waits on, for stores under virtual time; default: this process's. */
  readonly clock?: Clock
}

/**
 * The cases for stores that `makeStore` makes. Each runs by itself, in any order or at once with others, in a place of
 * its own; it leaves its objects there.
 *
 * @example
 * ```ts
 * for (const { name, run } of conformance((place) => new MyStore(place))) it(name, run)
 * ```
 */
export function conformance(makeStore: MakeStore, options: ConformanceOptions = {}): readonly ConformanceCase[] {
  const settings: Settings = {
    make: makeStore,
    clock: options.clock ?? liveClock,
    deadline: options.deadline ?? 10_000,
    grace: options.grace ?? 1000,
    deletes: options.deletes ?? true,
    names: options.names ?? 1203,
    silence: options.silence,
  }
  return [...reading, ...writing, ...deleting, ...naming, ...living]
    .filter(({ when }) => when?.(settings) ?? true)
    .map((trial) => ({ name: trial.name, run: () => runTrial(settings, trial) }))
}

async function runTrial(settings: Settings, { asks, raw, run }: Trial): Promise<void> {
  const place = `case-${settings.clock.id()}`
  const subject = new Subject(settings, place, await settings.make(place), asks)
  let ran = false
  try {
    if (raw !== true) await subject.start()
    await run(subject)
    ran = true
  } finally {
    if (ran) await subject.close()
    else await subject.store.close().catch(() => {}) // what the case found says more
  }
}
