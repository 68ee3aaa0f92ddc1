/**
 * One life of a process in a virtual world: a clock and a manager of its own, until it is killed. Owns how it starts,
 * how it dies, and that nothing settles after that. What is done with it is the fleet's to say, or the test's.
 */
import { SandboxManager } from "../../../actors/manager/manager.ts"
import type { ManagerOptions } from "../../../actors/registry/options.ts"
import type { CheckpointStore, LeaseStore } from "../../../locks/stores/port.ts"
import { VirtualHost, type VirtualHostOptions } from "../../../runtime/time/virtual-host.ts"
import type { VirtualTime } from "../../../runtime/time/virtual-time.ts"

/** What a process is made of. */
export interface ProcessParts {
  /** Its incarnation's id, which no other life has. */
  readonly id: string
  readonly time: VirtualTime
  /** How its clocks differ from the world's. */
  readonly clock: VirtualHostOptions
  /** With what the waits for it reject once it is killed. */
  readonly gone: () => Error
}

/** What its manager is started with. */
export type ProcessStartOptions = Omit<
  ManagerOptions,
  "clock" | "incarnation" | "store" | "checkpoints" | "lockFactory"
> & {
  readonly store: LeaseStore & CheckpointStore
}

/** One that has started. */
export type StartedProcess = SimulatedProcess & { readonly manager: SandboxManager }

/** A process that lives once. */
export class SimulatedProcess {
  readonly id: string
  readonly host: VirtualHost
  readonly #goneWith: () => Error
  readonly #gone = Promise.withResolvers<never>()
  #manager: SandboxManager | undefined
  #isAlive = true

  /** Alive, without a manager. */
  constructor({ id, time, clock, gone }: ProcessParts) {
    this.id = id
    this.host = new VirtualHost(time, clock)
    this.#goneWith = gone
    this.#gone.promise.catch(() => {}) // whoever waits for the process hears of it
  }

  /** Undefined until it has started. */
  get manager(): SandboxManager | undefined {
    return this.#manager
  }

  /** It hasn't been killed. */
  get isAlive(): boolean {
    return this.#isAlive
  }

  /**
   * Starts its manager, and settles with itself. Rejects as `SandboxManager.start` does; never settles once it is
   * killed.
   */
  async start(options: ProcessStartOptions): Promise<StartedProcess> {
    this.#manager = await SandboxManager.start({ ...options, clock: this.host, incarnation: { id: this.id } })
    return this as StartedProcess
  }

  /** Settles as the promise does, or rejects when the process is killed. */
  orGone<A>(promise: Promise<A>): Promise<A> {
    return Promise.race([promise, this.#gone.promise])
  }

  /** Ends it as SIGKILL does: nothing of it ever runs again. */
  kill(): void {
    this.#isAlive = false
    this.host.kill()
    this.#gone.reject(this.#goneWith())
  }
}
