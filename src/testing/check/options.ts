/** What a check can be told, checked, and what it leaves out, in words. */
import { InvalidConfigError } from "../../locks/api/errors.ts"
import { guardOf, leastTtl, tokensOnlyGrow } from "../../locks/engine/options.ts"
import { LONGEST_TTL } from "../../locks/protocol/rules/expiry.ts"
import type { Duration } from "../../runtime/input/duration.ts"
import {
  aCount,
  aDuration,
  aNumber,
  millis,
  one,
  type OptionChecks,
  refuseUnknown,
  shown,
} from "../../runtime/input/options.ts"
import type { LeftFaults, Rules } from "./world/world.ts"

/** How wrong clocks are. */
export interface ClockError {
  /** How far apart the dates are in the store's answers to the first process and to the others. Default 0. */
  readonly dates?: Duration
  /**
   * How much slower than true the first process's clocks go, and how much faster the others': 0.05 is 5 %. Default 0.
   */
  readonly drift?: number
}

/** What is searched. Everything that may happen is off unless it is asked for. */
export interface CheckOptions {
  /** How many, 1 to 3. Default 2. */
  readonly processes?: number
  /** Of all leases: 6 s to 24 h, as in production; where a `guard` is given, 500 ms to 24 h. Default 6 s. */
  readonly ttl?: Duration
  /** Of the leases of all processes but the first, with the same bounds. Default: the same. */
  readonly otherTtl?: Duration
  /**
   * What an owner subtracts from its lease, in milliseconds: less than every ttl, and at least minus the longest. Where
   * it is given, an owner may lose a lease though nothing befell anybody: an odd guard may leave no time to renew.
   * Default: the protocol's own.
   */
  readonly guard?: number
  /** Default: none. */
  readonly clockError?: ClockError
  /** Whether answers carry the store's time. Default `exact`. */
  readonly clock?: "exact" | "coarse" | "none"
  /**
   * The time that clients keep between two writes of one object. The store refuses no write that comes sooner. Default
   * 0.
   */
  readonly writeSpacing?: Duration
  /** How often an owner saves; with 0 there is no head. Default 0. */
  readonly commits?: number
  /** How long a commit is tried before its owner goes on without knowing its fate. Default 20 s. */
  readonly commitWithin?: Duration
  /**
   * Whether an owner that was granted the key claims the head all the same where nothing can be under way to it.
   * Default: as production decides it, which spares the claim where `clock` is `exact` and none is wrong.
   */
  readonly afterGrant?: "claim" | "spare"
  /** What there is of the key at first: nothing, or the record that its last owner left. Default `released`. */
  readonly record?: "absent" | "released"
  /** Whether each process has an incarnation of its own, as it should, or all have one. Default `own`. */
  readonly incarnations?: "own" | "one"
  /** How often each process wants the key. Default 1. */
  readonly attempts?: number
  /** What a process does that meets another waiter: it fails, or stands in the line behind it. Default `fail`. */
  readonly contention?: "fail" | "retry"
  /** A process is killed, and another starts in its place: at most so often. */
  readonly crashes?: number
  /** A request, or its answer, is lost. */
  readonly losses?: number
  /** A request, or its answer, arrives whenever it wants to. */
  readonly delays?: number
  /** A request arrives a second time, whenever it wants to. */
  readonly duplicates?: number
  /** A process is stopped, for any time. */
  readonly pauses?: number
  /** A machine is suspended, for any time. */
  readonly suspends?: number
  /** An acquire is cancelled. */
  readonly cancels?: number
  /** An owner leaves that nobody asked to. */
  readonly releases?: number
  /** A stranger writes. */
  readonly strangers?: number
  /**
   * An operator deletes the record: at any time; where there is no head, when every process that may look at it has
   * seen its owner.
   */
  readonly deletions?: number
  /** What strangers do with what they don't know. Default `keep`. */
  readonly strangersWill?: "keep" | "drop"
  /** The most that may happen of all these together, in one run. Default: no bound but their own. */
  readonly together?: number
  /** How far time goes, from the first acquire on. Default twice the ttl; a minute at most. */
  readonly until?: Duration
  /** The most worlds that are looked at. Default 2,000,000: about 3 GB. */
  readonly limit?: number
}

/** Options that hold. */
export interface CheckSettings {
  readonly processes: number
  readonly attempts: number
  readonly record: "absent" | "released"
  readonly left: LeftFaults
  readonly rules: Rules
  readonly until: number
  readonly limit: number
  readonly leftOut: readonly string[]
}

/** In milliseconds. */
const LONGEST = 60_000

const some = aCount(0)

/**
 * Every option of the search for the smallest guard. Those with a bound of their own are checked where that is known.
 */
const SEARCHED: OptionChecks<Omit<CheckOptions, "guard">> = {
  ...{ processes: aCount(1), ttl: aDuration, otherTtl: aDuration, writeSpacing: aDuration, commitWithin: aDuration },
  ...{ until: aDuration, limit: aCount(1), attempts: aCount(1), commits: some, together: some, crashes: some },
  ...{ losses: some, delays: some, duplicates: some, pauses: some, suspends: some, cancels: some, releases: some },
  ...{ strangers: some, deletions: some },
  clockError: (name, value) => refuseUnknown(name, value as object, CLOCK_ERROR),
  clock: one("exact", "coarse", "none"),
  record: one("absent", "released"),
  incarnations: one("own", "one"),
  contention: one("fail", "retry"),
  strangersWill: one("keep", "drop"),
  afterGrant: one("claim", "spare"),
}

const CLOCK_ERROR: OptionChecks<ClockError> = { dates: aDuration, drift: aNumber }

const OPTIONS: OptionChecks<CheckOptions> = { ...SEARCHED, guard: aNumber }

/** The checked options. Throws InvalidConfigError. */
export function settingsOf(options: CheckOptions): CheckSettings {
  refuseUnknown("check", options, OPTIONS)
  const { clock = "exact", strangersWill = "keep", ttl: length = "6 s", clockError = {}, guard } = options
  const { record = "released", incarnations = "own", contention = "fail" } = options
  const processes = countOf("processes", options.processes ?? 2, 1, 3)
  const ttl = millis("ttl", length)
  const otherTtl = millis("otherTtl", options.otherTtl ?? ttl)
  checkTtl("ttl", ttl, guard)
  checkTtl("otherTtl", otherTtl, guard)
  if (guard !== undefined) checkGuard(guard, ttl, otherTtl)
  const drift = clockError.drift ?? 0
  if (typeof drift !== "number" || !(drift >= 0 && drift < 1))
    throw bad(`clockError.drift is ${shown(drift)}`, "Give a number from 0 to 1, such as 0.05")
  const dates = millis("clockError.dates", clockError.dates ?? 0)
  const sameClock = dates === 0 && drift === 0
  const { afterGrant = tokensOnlyGrow({ clock, sameClock }) ? "spare" : "claim" } = options
  const left = leftOf(options)
  const ttls = Array.from({ length: processes }, (_, index) => (index === 0 ? ttl : otherTtl))
  const guards = ttls.map((each) => guard ?? guardOf(each, { sameClock: false }))
  const rules: Rules = {
    ...{
      ttl,
      ttls,
      clock,
      guard: guards[0]!,
      guards,
      ownGuard: guard === undefined,
      budget: 30_000,
      whenOwned: "request",
      contention,
    },
    rates: Array.from({ length: processes }, (_, index) => (index === 0 ? 1 - drift : 1 + drift)),
    skews: Array.from({ length: processes }, (_, index) => (index === 0 ? -dates / 2 : dates / 2)),
    spacing: millis("writeSpacing", options.writeSpacing ?? 0),
    commits: countOf("commits", options.commits ?? 0, 0, 9),
    commitWithin: millis("commitWithin", options.commitWithin ?? "20 s"),
    claimsGranted: afterGrant === "claim",
    isOneIncarnation: incarnations === "one",
    start: left,
    strangersKeep: strangersWill === "keep",
  }
  const until = millis("until", options.until ?? Math.min(2 * ttl, LONGEST))
  // What a process knows of the store's time would be too old after that, and worlds that are alike no longer be.
  if (until * (1 + drift) > LONGEST) throw bad(`until is ${until} ms`, "Give less than a minute by every clock")
  const attempts = countOf("attempts", options.attempts ?? 1, 1, 9)
  const limit = countOf("limit", options.limit ?? 2_000_000, 1, 1e9)
  const leftOut = [
    ...omitted(left, rules, until),
    ...(record === "absent" ? [] : ["creates, but for those after a deletion"]),
    ...(incarnations === "one" ? [] : ["one incarnation in two processes"]),
    ...(contention === "retry" ? [] : ["the line behind a waiter"]),
  ]
  return { processes, attempts, record, left, rules, until, limit, leftOut }
}

/** What a search for the smallest guard goes by. Throws InvalidConfigError. */
export function boundsOf(
  options: Omit<CheckOptions, "guard">,
  step: number,
): { readonly least: number; readonly most: number } {
  refuseUnknown("smallestGuard", options, SEARCHED)
  const { ttls } = settingsOf({ ...options, guard: 0 }).rules
  const shortest = Math.min(...ttls)
  countOf("step", step, 1, shortest)
  return { least: -Math.floor(Math.max(...ttls) / step), most: Math.ceil(shortest / step) - 1 }
}

/**
 * What production refuses says nothing of the protocol. Under a guard that is given, it is what no store would take.
 */
function checkTtl(name: string, ttl: number, guard: number | undefined): void {
  const least = leastTtl({ sameClock: guard !== undefined })
  if (ttl >= least && ttl <= LONGEST_TTL) return
  throw bad(`${name} is ${ttl} ms`, `Give at least ${least} ms and at most 24 h`)
}

/** An owner that has to leave as it comes could only renew again and again. */
function checkGuard(guard: number, ttl: number, otherTtl: number): void {
  const [shortest, longest] = [Math.min(ttl, otherTtl), Math.max(ttl, otherTtl)]
  if (Number.isFinite(guard) && guard < shortest && guard >= -longest) return
  throw bad(`guard is ${shown(guard)}`, `Give milliseconds from ${-longest} on, less than ${shortest}`)
}

const kinds = [
  ...(["crashes", "losses", "delays", "duplicates", "pauses", "suspends", "cancels", "releases"] as const),
  ...(["strangers", "deletions"] as const),
]

function leftOf(options: CheckOptions): LeftFaults {
  const each = kinds.map((kind) => [kind, countOf(kind, options[kind] ?? 0, 0, 9)] as const)
  const most = each.reduce((sum, [, count]) => sum + count, 0)
  const sum = countOf("together", options.together ?? most, 0, 99)
  return { ...(Object.fromEntries(each) as Record<(typeof kinds)[number], number>), sum }
}

/** What a search says nothing about. */
function omitted(left: LeftFaults, rules: Rules, until: number): readonly string[] {
  const { commits, claimsGranted, clock, rates, skews } = rules
  return [
    ...kinds.filter((kind) => left[kind] === 0).map((kind) => `${kind} of any number`),
    ...kinds.filter((kind) => left[kind] > 0).map((kind) => `more than ${left[kind]} ${kind} in one run`),
    `more than ${left.sum} of all these in one run`,
    `whatever comes after ${until} ms`,
    "jitter: every draw is one half",
    "requests that take time without being late: the others are answered at once",
    "faults and users' wishes while somebody is about to act: they come before or after",
    "moments at which nobody is due, no right ends and nothing is first seen to be over",
    "answers that arrive when nobody waits for them any more: they are dropped",
    "a limit of writes: the store makes each that comes too soon, and none is answered as throttled",
    "answers that are errors, before or after a write took effect: a request is answered, or nothing is heard of it",
    "answers without a date that others have, answers from a cache, and writes that are answered as overtaken",
    ...(left.deletions === 0 || commits > 0 ? [] : ["records that are deleted before all have seen their owner"]),
    ...(commits === 0 ? ["heads"] : ["content objects, and saving at any other time than as soon as it may be"]),
    ...(commits === 0 ? [] : [claimsGranted ? "claims that a grant spares" : "claims after a grant that spares them"]),
    ...(clock === "coarse" ? [] : ["dates that are rounded to whole seconds"]),
    ...(rates.every((rate) => rate === 1) ? ["clocks that go wrong"] : []),
    ...(skews.every((skew) => skew === 0) ? ["dates that differ between answers"] : []),
  ]
}

function countOf(name: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value
  throw bad(`${name} is ${shown(value)}`, `Give a whole number from ${least} to ${most}`)
}

const bad = (message: string, next: string): InvalidConfigError => new InvalidConfigError({ message, next })
