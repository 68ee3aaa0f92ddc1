/**
 * What a suite is told, checked: a misspelt option, or a number that can't be, would leave cases out that nobody
 * misses.
 *
 * Not promised: that `names` are more than a page holds, which the store alone knows.
 */
import type { ObjectStore } from "../../locks/stores/port.ts"
import {
  aClock,
  aFlag,
  aFunction,
  aNumber,
  type OptionChecks,
  refusal,
  refuseUnknown,
  shown,
} from "../../runtime/input/options.ts"
import { type Clock, liveClock } from "../../runtime/time/clock.ts"
import type { SuiteSettings } from "./subject.ts"

/**
 * Makes a store object, not started, on the objects of a place; a place that it sees for the first time is empty. A
 * place is a text of `[A-Za-z0-9_-]`. Stores of one place share their objects as processes do. The suite closes them.
 */
export type MakeStore = (place: string) => ObjectStore | Promise<ObjectStore>

/** How a suite is run. */
export interface ConformanceOptions {
  /** What one request may take, in milliseconds, more than 0; default 10,000. */
  readonly deadline?: number
  /** How much later than its deadline or its abort a call may settle, in milliseconds, more than 0; default 1000. */
  readonly grace?: number
  /** What the store is to declare of deletes; where false the cases of deletes are left out. Default true. */
  readonly deletes?: boolean
  /** How many names the case of long lists writes: more than a page of the store holds, 2 to 100,000. Default 1203. */
  readonly names?: number
  /**
   * From now on nothing answers the stores of this place: requests are taken and that is all. Where a test can do this
   * to its store, two cases more show that silence ends by deadlines.
   */
  readonly silence?: (place: string) => void | Promise<void>
  /** What the suite waits on, for stores under virtual time; default: this process's. */
  readonly clock?: Clock
}

const OPTIONS: OptionChecks<ConformanceOptions> = {
  deadline: aNumber,
  grace: aNumber,
  deletes: aFlag,
  names: aNumber,
  silence: aFunction,
  clock: aClock,
}

/** The checked options. Throws InvalidConfigError. */
export function settingsOf(make: MakeStore, options: ConformanceOptions): SuiteSettings {
  refuseUnknown("conformance", options, OPTIONS)
  const { deadline = 10_000, grace = 1000, deletes = true, names = 1203, silence, clock = liveClock } = options
  demand(typeof make === "function", "makeStore", make, "a function that makes a store for a place")
  demand(isTime(deadline), "deadline", deadline, "milliseconds, more than 0")
  demand(isTime(grace), "grace", grace, "milliseconds, more than 0")
  demand(Number.isInteger(names) && names >= 2 && names <= 100_000, "names", names, "a whole number from 2 to 100,000")
  return { make, clock, deadline, grace, deletes, names, silence }
}

const isTime = (ms: number): boolean => Number.isFinite(ms) && ms > 0

function demand(holds: boolean, name: string, value: unknown, ask: string): void {
  if (holds) return
  throw refusal(`${name} is ${shown(value)}`, `Give ${ask}`)
}
