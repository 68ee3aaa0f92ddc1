/** What a workload sees of a simulated fleet: types only. `fleet.ts` makes them. */
import type { RestoreOptions } from "../../../actors/api/call-options.ts"
import type { HookContext, Sandbox, SandboxDefinition } from "../../../actors/api/sandbox.ts"
import type { SandboxManager } from "../../../actors/manager/manager.ts"
import type { CallOptions } from "./member.ts"

/** A process of the fleet that takes calls. */
export interface SimulatedWorker<S, C> {
  /** Its name in the trace. */
  readonly name: string
  /**
   * Runs fn in the sandbox of a key, the run's first where none is given. Rejects as `SandboxManager.use` does, and
   * with an error of the name `ProcessGone` when the process is killed meanwhile. Waits for the run's `budget` unless
   * told otherwise.
   */
  use<A>(
    fn: (state: S, context: HookContext) => A | Promise<A>,
    options?: CallOptions & { readonly key?: string },
  ): Promise<A>
  /**
   * A handle of the sandbox of a key. Rejects as `SandboxManager.restoreSandbox` does, and as `use` when it is killed.
   */
  restore(options?: RestoreOptions & { readonly key?: string }): Promise<Sandbox<S>>
  /** Removes what is saved of a key. Rejects as `SandboxManager.remove` does, and as `use` when it is killed. */
  remove(options?: RestoreOptions & { readonly key?: string }): Promise<void>
  /** Anything else that the manager of this process can do. Rejects as that does, and as `use` when it is killed. */
  ask<A>(call: (manager: SandboxManager, sandbox: SandboxDefinition<S, C>) => Promise<A>): Promise<A>
  /**
   * Settles `ms` later by a timer of this process that leasehold knows nothing of, as one of `setTimeout` in a hook:
   * not while the process is stopped, and whatever has become of a lease. Rejects as `use` when it is killed.
   */
  sleep(ms: number): Promise<void>
}

/** Chance for a workload, from the seed. */
export interface WorldRandom {
  /** A number in [0, 1). */
  next(): number
  /** True with this probability. */
  chance(probability: number): boolean
  /** A whole number from `least` to `most`, both included. */
  int(least: number, most: number): number
  /** One of them. */
  pick<A>(items: readonly A[]): A
}

/**
 * The fleet of one run. The same object in all calls of a run, and another in every other: hang what you know on it.
 */
export interface SimulatedWorld<S, C> {
  /** The processes that take calls now; never empty in a workload. */
  readonly workers: readonly SimulatedWorker<S, C>[]
  /** The keys of the run. */
  readonly keys: readonly string[]
  /** Chance, from the seed. */
  readonly random: WorldRandom
  /** True time, in milliseconds since the run began. */
  now(): number
  /** Waits in true time. */
  sleep(ms: number): Promise<void>
  /** The run has failed: says of what. For what only the workload can know. */
  fail(message: string): void
  /** Notes that the run came here: see the option `sometimes`. */
  sometimes(name: string): void
}

/** What one client does once: it is called again and again while a run lasts, by one client for each worker. */
export type Workload<S, C> = (world: SimulatedWorld<S, C>) => Promise<void>
