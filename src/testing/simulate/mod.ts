/**
 * Simulation: a fleet of processes runs the production manager, lock and protocol on virtual time, over a simulated
 * store. Faults are drawn from a seed. Invariants judge the traces.
 *
 * Not promised: that a fault which no seed has shown isn't there. Nor that a run ends: code that computes forever is
 * not stopped.
 */
import { TraceHash } from "../../runtime/time/hash.ts"
import { KeptSeeds } from "./kept-seeds.ts"
import { settingsOf, type SimulateOptions, type SimulationSettings } from "./options.ts"
import { attainable } from "./report/sometimes.ts"
import { RunTally } from "./report/tally.ts"
import { runSeed } from "./seed.ts"
import { inTurn } from "./turns.ts"

export type { StoreFault, StoreFaultKind, StoreFaultScope, StoreOp } from "../simulated-store/faults.ts"
export type { GenerationStyle, StoreProfileName } from "../simulated-store/profile.ts"
export type { Damage } from "../simulated-store/operator.ts"
export type { StoreControl, StoredVersion } from "../simulated-store/store.ts"
export type { StrangerMove } from "../simulated-store/stranger.ts"
export { SimulationError } from "./plan/failure.ts"
export type { Hook, HookFault, Moment, OperatorFault, ProcessFault, StrangerFault } from "./plan/faults.ts"
export type { CallOptions } from "./run/member.ts"
export type { SimulatedClocks, SimulateOptions } from "./options.ts"
export type {
  Fault,
  FaultKind,
  Plan,
  PlannedClock,
  PlannedRelease,
  PlannedTimes,
  PlannedWorker,
  TimedFault,
} from "./plan/plan.ts"
export { NeverReachedError } from "./report/tally.ts"
export type { SimulatedWorker, SimulatedWorld, Workload, WorldRandom } from "./run/world.ts"

/** What a simulation has seen. */
export interface Simulation {
  /** How many seeds were run, kept ones included. */
  readonly seeds: number
  /** Of all their traces, in their order: the same on every machine and runtime. */
  readonly hash: string
  /** Simulated time of all seeds together, each counted once, in hours. */
  readonly clusterHours: number
  /** Requests to the store, each seed counted once. */
  readonly requests: number
  /**
   * What runs came to, each with the number of seeds: the workload's own `sometimes`, and what the trace tells by
   * itself.
   */
  readonly reached: Readonly<Record<string, number>>
  /**
   * What no seed came to, of all that the traces of runs can tell: what befalls leases and calls, faults of the kinds
   * that were drawn from or are in the script, and the states and transitions of the sandbox chart. It fails nothing:
   * many sandboxes never come to all of it.
   */
  readonly neverReached: readonly string[]
}

/**
 * Runs a fleet under each seed, twice, and settles when none has failed. Rejects with SimulationError at the first seed
 * that went against an invariant, failed a check of its workload, or differed between its two runs; with
 * NeverReachedError where none came to what `sometimes` asks for; with InvalidConfigError or UnknownDefinitionError for
 * bad options. Leaves nothing behind but what `reports` asks for.
 *
 * Simulations of one process run one after the other, in the order of the calls, since their traps are the whole
 * process's: other code of it is trapped as well while one runs. No option counts the wait for a turn.
 * InvalidConfigError where it is called inside a simulation.
 */
export async function simulate<S, C>(options: SimulateOptions<S, C>): Promise<Simulation> {
  const settings = settingsOf(options)
  return inTurn(() => simulateNow(settings))
}

async function simulateNow<S, C>(settings: SimulationSettings<S, C>): Promise<Simulation> {
  const kept = new KeptSeeds(settings.reports)
  const hash = new TraceHash()
  const seeds = kept.before(settings.seeds)
  const reached = new RunTally()
  let ms = 0
  let requests = 0
  for (const seed of seeds) {
    const { run, error } = await runSeed(seed, settings)
    kept.note(seed, error === undefined)
    if (error !== undefined) throw error
    hash.add(run.hash)
    ms += run.ms
    requests += run.requests
    reached.add(run.reached)
    settings.onSeed(seed, run.hash)
  }
  reached.require(settings.sometimes)
  return {
    seeds: seeds.length,
    hash: hash.hex(),
    clusterHours: ms / 3_600_000,
    requests,
    reached: reached.counts,
    neverReached: reached.missing(attainable(seeds.length, settings.script?.map(({ kind }) => kind) ?? settings.kinds)),
  }
}
