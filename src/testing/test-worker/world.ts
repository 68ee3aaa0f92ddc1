/**
 * The world of test workers: one virtual time, one simulated store, one kind of sandbox and one key of it, and the workers
 * that have it one after the other. Owns how they are made and ended.
 */
import { defineSandbox, partsOf } from "../../actors/definition.ts"
import { SandboxManager } from "../../actors/manager.ts"
import type { AnyDefinition, SandboxDefinition } from "../../actors/sandbox.ts"
import { ManagerClosedError } from "../../locks/errors.ts"
import { SeededRandom } from "../../runtime/random.ts"
import { VirtualHost } from "../../runtime/virtual-host.ts"
import { VirtualTime } from "../../runtime/virtual-time.ts"
import { SimulatedStore } from "../simulated-store/store.ts"
import { Mover } from "./mover.ts"

/** One process of the world, as it was started. */
export interface Process {
  readonly name: string
  readonly host: VirtualHost
  readonly manager: SandboxManager
  /** Rejects when it is killed: nothing that it was asked settles after that. */
  readonly gone: PromiseWithResolvers<never>
}

/** What the workers of one test share. */
export class WorkerWorld<S, C> {
  readonly time: VirtualTime
  readonly store: SimulatedStore
  readonly sandbox: SandboxDefinition<S, C>
  readonly key: string
  /** What background work reported. */
  readonly errors: unknown[] = []
  readonly #processes = new Map<string, Process>()
  readonly #mover: Mover
  #started = 0

  constructor(sandbox: SandboxDefinition<S, C>, key: string, seed: number) {
    this.time = new VirtualTime({ seed })
    this.#mover = new Mover(this.time)
    this.store = new SimulatedStore({ time: this.time, chance: new SeededRandom(seed), profile: "exact" })
    this.sandbox = sandbox
    this.key = key
  }

  /** Lets time pass until the promise settles, and settles as it does; ManagerClosedError once its process is killed. */
  run<A>({ gone }: Process, promise: Promise<A>): Promise<A> {
    return this.#mover.run(Promise.race([promise, gone.promise]))
  }

  /** Lets time pass. */
  advance(ms: number): Promise<void> {
    return this.#mover.advance(ms)
  }

  /** Starts a process. */
  start(): Promise<Process> {
    return this.#start(`worker-${++this.#started}`, this.sandbox)
  }

  /** Leaves this checkpoint in the store, through the codec, as an owner that has gone. Rejects as a checkpoint does. */
  async leave(checkpoint: C): Promise<void> {
    const { name, version, schema, migrate } = partsOf(this.sandbox).hooks
    const leaver = defineSandbox({
      ...{ name, schema, version: version ?? 1, ...(migrate !== undefined && { migrate }) },
      restore: () => ({}),
      checkpoint: () => checkpoint,
    }) as SandboxDefinition<object, C>
    const process = await this.#start("leaver", leaver)
    try {
      const sandbox = await this.run(process, process.manager.restoreSandbox(leaver, this.key))
      await this.run(process, sandbox.checkpoint())
    } finally {
      await this.close(process)
    }
  }

  /** Kills a process: nothing of it ever runs again. */
  kill({ name, host, gone }: Process): void {
    this.#processes.delete(name)
    host.kill()
    gone.reject(ended(name))
  }

  /** Whether it has neither crashed nor ended. */
  isAlive({ name }: Process): boolean {
    return this.#processes.has(name)
  }

  /** Closes a process, and what it leaves behind goes with it. */
  async close(process: Process): Promise<void> {
    process.host.resume()
    try {
      await this.#mover.run(process.manager[Symbol.asyncDispose]())
    } finally {
      this.kill(process)
    }
  }

  /** Closes all that still run. Idempotent. */
  async end(): Promise<void> {
    this.store.heal()
    const processes = [...this.#processes.values()]
    this.#processes.clear()
    for (const process of processes) await this.close(process)
  }

  async #start(name: string, sandbox: AnyDefinition): Promise<Process> {
    const host = new VirtualHost(this.time, { name })
    const gone = Promise.withResolvers<never>()
    gone.promise.catch(() => {}) // whoever waits for the process hears of it
    const manager = await this.#mover.run(this.#manager(name, host, sandbox))
    const process = { name, host, manager, gone }
    this.#processes.set(name, process)
    return process
  }

  #manager(id: string, clock: VirtualHost, sandbox: AnyDefinition): Promise<SandboxManager> {
    const store = this.store.connect(id, clock)
    const onError = (error: unknown): void => void this.errors.push(error)
    return SandboxManager.start({ store, clock, onError, incarnation: { id }, sandboxes: [sandbox], minTenure: 0 })
  }
}

/** What a call of a process rejects with that has crashed or ended. */
export const ended = (name: string): ManagerClosedError =>
  new ManagerClosedError({
    message: `${name} has crashed, or its test has ended`,
    next: "Use the worker that crash() gave",
    state: "closed",
  })
