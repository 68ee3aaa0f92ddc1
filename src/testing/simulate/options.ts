/** What a simulation can be told, checked: every bad value has its own message, and none becomes a default. */
import { partsOf } from "../../actors/api/definition.ts"
import type { SandboxDefinition } from "../../actors/api/sandbox.ts"
import { InvalidConfigError } from "../../locks/api/errors.ts"
import type { Duration } from "../../runtime/input/duration.ts"
import {
  aCount,
  aDuration,
  aFunction,
  aList,
  aText,
  millis,
  type OptionChecks,
  refusal,
  refuseUnknown,
  shown,
} from "../../runtime/input/options.ts"
import { allInvariants, type Invariant } from "../invariants/mod.ts"
import { someInvariants } from "../invariants/reading/invariant.ts"
import { type StoreProfileName, storeProfiles } from "../simulated-store/profile.ts"
import { type FaultKind, faultKinds, type PlanBounds, type PlannedTimes, type TimedFault } from "./plan/plan.ts"
import { scriptOf } from "./plan/script.ts"
import type { Workload } from "./run/world.ts"

/** How a fleet is simulated. */
export interface SimulateOptions<S, C> {
  /** The kind of sandbox that the fleet runs. */
  readonly sandbox: SandboxDefinition<S, C>
  /**
   * What the fleet ran before, under the same name: each key was used and saved by it once when a run begins, so that
   * its state is migrated. Default: nothing is saved.
   */
  readonly former?: SandboxDefinition<S, C>
  /** How many seeds are run, from 1 on, or which. */
  readonly seeds: number | readonly number[]
  /** What one client does once. Default: it uses a key somewhere and does nothing with it. */
  readonly workload?: Workload<S, C>
  /** Called once in each run, when all faults are over: whatever is asked of the fleet now has to succeed. */
  readonly afterwards?: Workload<S, C>
  /** How long faults and workload last in one run, in simulated time. Default 2 min. */
  readonly duration?: Duration
  /** How many processes, 1 to 26. Default 3. */
  readonly workers?: number
  /** How many keys, 1 or more. Default 2. */
  readonly keys?: number
  /** What a use or a restore may wait where it doesn't say. Default 30 s. */
  readonly budget?: Duration
  /** The kinds of stores that may be drawn. Default: all. */
  readonly store?: StoreProfileName | readonly StoreProfileName[]
  /** The kinds of faults that may be drawn; each seed turns some of them on. Default: all. */
  readonly faults?: readonly FaultKind[]
  /**
   * Exactly these faults at exactly these times, and none that is drawn. Of workers `a`, `b`, `c` and so on, and of
   * keys `k1`, `k2` and so on; what is none of the run's, or misspelt, is refused.
   */
  readonly script?: readonly TimedFault[]
  /** How wrong the workers' clocks may be. */
  readonly clocks?: SimulatedClocks
  /** Of the managers. Default: drawn, each seed others. */
  readonly manager?: { readonly [K in keyof PlannedTimes]?: Duration }
  /** What has to be true of every trace. Default: `allInvariants`. */
  readonly invariants?: readonly Invariant[]
  /** Names that `world.sometimes(name)` has to have noted in some run: the simulation fails without. Default: none. */
  readonly sometimes?: readonly string[]
  /** What looking for fewer faults that still fail may take, in real time. Default 20 s. */
  readonly shrinkFor?: Duration
  /** Where failures leave their traces, and which seeds failed: those are run first the next time. Default: nowhere. */
  readonly reports?: string
  /** The line with which somebody runs a seed again. Default: names the option `seeds`. */
  readonly rerun?: (seed: number) => string
  /** The commit that is run, for reports. */
  readonly commit?: string
  /** Told after each seed. */
  readonly onSeed?: (seed: number, hash: string) => void
}

/** How wrong clocks may be. */
export interface SimulatedClocks {
  /** The most that wall clocks are off, either way. Default 1 h. */
  readonly offset?: Duration
  /** The most that clocks run too fast or slow: 0.05 is 5 %, the most that the protocol allows, and the default. */
  readonly drift?: number
}

/** Options that hold. */
export interface SimulationSettings<S, C> extends PlanBounds {
  readonly seeds: readonly number[]
  readonly sandbox: SandboxDefinition<S, C>
  readonly former: SandboxDefinition<S, C> | undefined
  readonly workload: Workload<S, C>
  readonly afterwards: Workload<S, C> | undefined
  readonly budget: number
  readonly script: readonly TimedFault[] | undefined
  readonly invariants: readonly Invariant[]
  readonly sometimes: readonly string[]
  readonly shrinkFor: number
  /** Whether a seed is run once more, to see that it gives the same run again. */
  readonly isTwice: (seed: number) => boolean
  readonly reports: string | undefined
  readonly rerun: (seed: number) => string
  readonly commit: string | undefined
  readonly onSeed: (seed: number, hash: string) => void
}

/** What has bounds, or is a list of names, is checked where those are known. */
const OPTIONS: OptionChecks<SimulateOptions<unknown, unknown>> = {
  sandbox: (_name, value) => void partsOf(value as SandboxDefinition<unknown>),
  former: (_name, value) => void partsOf(value as SandboxDefinition<unknown>),
  seeds: (name, value) => (typeof value === "number" ? aCount(1) : aList)(name, value),
  workload: aFunction,
  afterwards: aFunction,
  duration: aDuration,
  workers: aCount(1),
  keys: aCount(1),
  budget: aDuration,
  store: (name, value) => void storesOf(name, value),
  faults: aList,
  script: aList,
  clocks: (name, value) => refuseUnknown(name, value as object, CLOCKS),
  manager: (name, value) => refuseUnknown(name, value as object, TIMES),
  invariants: someInvariants,
  sometimes: aList,
  shrinkFor: aDuration,
  reports: aText,
  rerun: aFunction,
  commit: aText,
  onSeed: aFunction,
}
const CLOCKS: OptionChecks<SimulatedClocks> = { offset: aDuration, drift: (_name, value) => void driftOf(value) }
const TIMES: OptionChecks<PlannedTimes> = {
  ttl: aDuration,
  minTenure: aDuration,
  settleWithin: aDuration,
  checkpointWithin: aDuration,
  restoreWithin: aDuration,
  killGrace: aDuration,
}

/** The checked options. Throws InvalidConfigError or UnknownDefinitionError. */
export function settingsOf<S, C>(options: SimulateOptions<S, C>): SimulationSettings<S, C> {
  refuseUnknown("simulate", options, OPTIONS, ["sandbox", "seeds"])
  formerOf(options)
  const { duration = "2 min", workers = 3, keys = 2, budget = "30 s", shrinkFor = "20 s", clocks = {} } = options
  const bounds: PlanBounds = {
    duration: durationOf(duration),
    workers: countOf("workers", workers, 26),
    keys: countOf("keys", keys, 1000),
    stores: storesOf("store", options.store ?? storeNames),
    kinds: kindsOf(options.faults ?? faultKinds),
    maxOffset: millis("clocks.offset", clocks.offset ?? "1 h"),
    maxDrift: driftOf(clocks.drift ?? 0.05),
    times: timesOf(options.manager ?? {}),
  }
  return {
    ...bounds,
    sandbox: options.sandbox,
    former: options.former,
    seeds: seedsOf(options.seeds),
    workload: options.workload ?? idleUse,
    afterwards: options.afterwards,
    budget: millis("budget", budget),
    script: options.script && scriptOf(options.script, bounds),
    invariants: options.invariants ?? allInvariants,
    sometimes: options.sometimes ?? [],
    shrinkFor: millis("shrinkFor", shrinkFor),
    isTwice: () => true,
    reports: options.reports,
    rerun: options.rerun ?? ((seed) => `simulate({ …, seeds: [${seed}] })`),
    commit: options.commit,
    onSeed: options.onSeed ?? (() => {}),
  }
}

function formerOf<S, C>({ sandbox, former }: SimulateOptions<S, C>): void {
  if (former === undefined) return
  if (former.name === sandbox.name && former.version <= sandbox.version) return
  throw new InvalidConfigError({
    message: `former is ${former.name} in version ${former.version}, and sandbox ${sandbox.name} in version ${sandbox.version}`,
    next: "Give an earlier version of the same definition",
  })
}

async function idleUse<S, C>({ workers, keys, random }: Parameters<Workload<S, C>>[0]): Promise<void> {
  await random.pick(workers).use(() => {}, { key: random.pick(keys), contention: "retry", durable: random.chance(0.5) })
}

function seedsOf(seeds: number | readonly number[]): readonly number[] {
  const all =
    typeof seeds === "number" ? Array.from({ length: countOf("seeds", seeds, 1e9) }, (_, at) => at + 1) : seeds
  if (all.length === 0)
    throw new InvalidConfigError({
      message: "seeds is empty, so that nothing would run",
      next: "Give one seed or more",
    })
  for (const [index, seed] of all.entries()) aCount(0)(`seeds[${index}]`, seed)
  return all
}

function durationOf(duration: Duration): number {
  const ms = millis("duration", duration)
  if (ms > 0) return ms
  throw new InvalidConfigError({ message: "duration is 0, so that nothing would run", next: "Give more than 0 ms" })
}

function countOf(name: string, value: number, most: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= most) return value
  throw refusal(`${name} is ${shown(value)}`, `Give a whole number from 1 to ${most}`)
}

function driftOf(drift: unknown): number {
  if (typeof drift === "number" && drift >= 0 && drift <= 0.05) return drift
  throw refusal(
    `clocks.drift is ${shown(drift)}`,
    "Give a number from 0 to 0.05: under clocks that are worse the protocol promises nothing",
  )
}

function kindsOf(kinds: readonly FaultKind[]): readonly FaultKind[] {
  const unknown = kinds.find((kind) => !faultKinds.includes(kind))
  if (unknown === undefined) return kinds
  throw new InvalidConfigError({
    message: `${shown(unknown)} is no kind of fault`,
    next: `Use some of ${faultKinds.join(", ")}`,
  })
}

const storeNames = Object.keys(storeProfiles) as StoreProfileName[]

function storesOf(name: string, store: unknown): readonly StoreProfileName[] {
  const stores: readonly unknown[] = Array.isArray(store) ? store : [store]
  const isKnown = (each: unknown): each is StoreProfileName => (storeNames as readonly unknown[]).includes(each)
  if (stores.length > 0 && stores.every(isKnown)) return stores
  const bad = stores.find((each) => !isKnown(each))
  throw refusal(
    `${name} is ${stores.length === 0 ? "an empty array" : shown(bad)}`,
    `Use one or several of ${storeNames.join(", ")}`,
  )
}

function timesOf(manager: NonNullable<SimulateOptions<unknown, unknown>["manager"]>): Partial<PlannedTimes> {
  return Object.fromEntries(Object.entries(manager).map(([name, value]) => [name, millis(`manager.${name}`, value)]))
}
