/**
 * An exhaustive search: everything that can come of a few processes, one key and a bounded number of faults, by the
 * very reducers that production runs. It ends with all worlds seen, or with a shortest way to one in which a law is
 * broken:
 *
 * - two may act at once;
 * - a token doesn't grow;
 * - an owner acts again after it has left;
 * - a commit that was acknowledged is lost;
 * - a head is written under a token that is over.
 *
 * Not promised: anything about what it leaves out, which each result lists.
 */
import { InvalidConfigError } from "../../locks/api/errors.ts"
import { liveClock } from "../../runtime/time/clock.ts"
import { firstWorld, ordersOf } from "./first.ts"
import { boundsOf, type CheckOptions, settingsOf } from "./options.ts"
import { search } from "./search.ts"

export type { CheckOptions, ClockError } from "./options.ts"

/** What a search has come to. */
export interface CheckResult {
  /** Worlds that differ. */
  readonly states: number
  /** How long it took, in milliseconds of real time: two searches of the same differ in this alone. */
  readonly ms: number
  /** How many things happened one after the other, at most. */
  readonly depth: number
  /** All worlds were seen. False where a law was broken, and where there were more worlds than the limit. */
  readonly complete: boolean
  /** The law that was broken; undefined where none was. */
  readonly broken: string | undefined
  /** A shortest way there, one line for each thing that happens, with its true time; empty where nothing was broken. */
  readonly trail: readonly string[]
  /** What was not looked at. */
  readonly leftOut: readonly string[]
}

/** The least guard that is safe, and what shows it. */
export interface GuardResult {
  /** In milliseconds: with it the search is complete and nothing is broken. */
  readonly guard: number
  /** The complete search with it. */
  readonly safe: CheckResult
  /** What is broken with a guard that is less by the step. */
  readonly unsafe: CheckResult
}

/** Searches. Returns when it is done, which may take minutes; throws InvalidConfigError for options that can't be. */
export function check(options: CheckOptions = {}): CheckResult {
  const settings = settingsOf(options)
  const { rules, until, limit, leftOut } = settings
  const from = liveClock.mono()
  const { broken, ...found } = search(
    firstWorld(settings),
    rules,
    { until, idle: rules.ttl / 2 },
    { orders: ordersOf(settings), limit },
  )
  const ms = liveClock.mono() - from
  return { ...found, ms, broken: broken?.law, trail: broken?.trail ?? [], leftOut }
}

/**
 * The least guard, in whole steps, with which nothing is broken: shown by a complete search with it, and by a violation
 * with one step less. A step is in whole milliseconds, at most the ttl; default 100. Throws InvalidConfigError for
 * options that can't be, where even a guard of nearly the whole ttl doesn't help, and where a search meets its limit.
 */
export function smallestGuard(options: Omit<CheckOptions, "guard">, step = 100): GuardResult {
  let { least: low, most: high } = boundsOf(options, step)
  let [unsafe, safe] = [tried(options, low * step), tried(options, high * step)]
  if (safe.broken !== undefined || unsafe.broken === undefined)
    throw new InvalidConfigError({
      message: "No guard up to the ttl makes the difference here",
      next: "Let something happen that a guard is for: a pause, and clocks that go wrong",
    })
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    const result = tried(options, middle * step)
    if (result.broken === undefined) [high, safe] = [middle, result]
    else [low, unsafe] = [middle, result]
  }
  return { guard: high * step, safe, unsafe }
}

function tried(options: Omit<CheckOptions, "guard">, guard: number): CheckResult {
  const result = check({ ...options, guard })
  if (result.complete || result.broken !== undefined) return result
  throw new InvalidConfigError({
    message: `There are more than ${result.states} worlds with a guard of ${guard} ms`,
    next: "Let less happen, end earlier, or raise the limit",
  })
}
