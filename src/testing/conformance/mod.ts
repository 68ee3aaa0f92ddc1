/**
 * The suite that every store passes, by the contract in `src/locks/stores/port.ts`, for authors of stores. It needs no
 * test runner: a case is a sentence and a function.
 *
 * Not promised: that a store which passes is right under crashes of machines, or between processes whose store objects
 * share nothing but the objects: a case runs in one process, with several store objects.
 */
import { deleting } from "./deleting.ts"
import { living } from "./living.ts"
import { naming } from "./naming.ts"
import { type ConformanceOptions, type MakeStore, settingsOf } from "./options.ts"
import { reading } from "./reading.ts"
import { Subject, type SuiteSettings } from "./subject.ts"
import type { Trial } from "./trial.ts"
import { writing } from "./writing.ts"

export type { ConformanceOptions, MakeStore } from "./options.ts"
export { ConformanceError, type Verdict } from "./verdict.ts"

/** One demand of the contract, as a test. */
export interface ConformanceCase {
  /** A sentence whose subject is the store. */
  readonly name: string
  /**
   * Rejects with ConformanceError (what the store did, and what the contract asks), or with what `makeStore` throws.
   */
  readonly run: () => Promise<void>
}

/**
 * The cases for stores that `makeStore` makes. Each runs by itself, in any order or at once with others, in a place of
 * its own; it leaves its objects there. Throws InvalidConfigError for options that can't be, and where `makeStore` is
 * no function.
 *
 * @example
 * ```ts
 * for (const { name, run } of conformance((place) => new MyStore(place))) it(name, run)
 * ```
 */
export function conformance(makeStore: MakeStore, options: ConformanceOptions = {}): readonly ConformanceCase[] {
  const settings = settingsOf(makeStore, options)
  return [...reading, ...writing, ...deleting, ...naming, ...living]
    .filter(({ when }) => when?.(settings) ?? true)
    .map((trial) => ({ name: trial.name, run: () => runTrial(settings, trial) }))
}

async function runTrial(settings: SuiteSettings, { asks, raw, run }: Trial): Promise<void> {
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
