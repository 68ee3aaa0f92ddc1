/**
 * The world of test workers: one virtual time, one simulated store, one kind of sandbox and one key of it, and the workers
 * that have it one after the other. Owns how they are made and ended.
 */
import { defineSandbox, partsOf } from "../../actors/definition.ts"
import { SandboxManager } from "../../actors/manager.ts"
import type { AnyDefinition, SandboxDefinition } from "../../actors/sandbox.ts"
import { SeededRandom } from "../../runtime/random.ts"
import { VirtualHost } from "../../runtime/virtual-host.ts"
import { VirtualTime } from "../../runtime/virtual-time.ts"
import { SimulatedStore } from "../simulated-store/store.ts"

/** One process of the world, as it was started. */
export interface Process {
  readonly name: string
  readonly host: VirtualHost
  readonly manager: SandboxManager
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
  #started = 0
  #driving: Promise<unknown> = Promise.resolve()

  constructor(sandbox: SandboxDefinition<S, C>, key: string, seed: number) {
    this.time = new VirtualTime({ seed })
    this.store = new SimulatedStore({ time: this.time, chance: new SeededRandom(seed), profile: "exact" })
    this.sandbox = sandbox
    this.key = key
  }

  /** Lets time pass until the promise settles, and settles as it does. */
  run<A>(promise: Promise<A>): Promise<A> {
    promise.catch(() => {}) // it is heard of when its turn has come
    return this.#drive(() => this.time.runUntil(promise))
  }

  /** Lets time pass. */
  advance(ms: number): Promise<void> {
    return this.#drive(() => this.time.advance(ms))
  }

  /** Time is moved by one at a time: several calls take turns. */
  #drive<A>(move: () => Promise<A>): Promise<A> {
    const driven = this.#driving.then(move)
    this.#driving = driven.catch(() => {})
    return driven
  }

  /** Starts a process. */
  async start(): Promise<Process> {
    const name = `worker-${++this.#started}`
    const host = new VirtualHost(this.time, { name })
    const manager = await this.#manager(name, host, this.sandbox)
    const process = { name, host, manager }
    this.#processes.set(name, process)
    return process
  }

  /** Leaves this checkpoint in the store, through the codec, as an owner that has gone. Rejects as a checkpoint does. */
  async leave(checkpoint: C): Promise<void> {
    const { name, version, schema, migrate } = partsOf(this.sandbox).hooks
    const leaver = defineSandbox({
      ...{ name, schema, version: version ?? 1, ...(migrate !== undefined && { migrate }) },
      restore: () => ({}),
      checkpoint: () => checkpoint,
    }) as SandboxDefinition<object, C>
    const manager = await this.#manager("leaver", new VirtualHost(this.time, { name: "leaver" }), leaver)
    try {
      await this.run(manager.use(leaver, this.key, () => {}, { durable: true }))
    } finally {
      await this.run(manager[Symbol.asyncDispose]())
    }
  }

  /** Kills a process: nothing of it ever runs again. */
  kill({ name, host }: Process): void {
    host.kill()
    this.#processes.delete(name)
  }

  /** Whether it has neither crashed nor ended. */
  isAlive({ name }: Process): boolean {
    return this.#processes.has(name)
  }

  /** Closes all that still run. Idempotent. */
  async end(): Promise<void> {
    this.store.heal()
    const processes = [...this.#processes.values()]
    this.#processes.clear()
    for (const { host, manager } of processes) {
      host.resume()
      await this.run(manager[Symbol.asyncDispose]())
    }
  }

  #manager(id: string, clock: VirtualHost, sandbox: AnyDefinition): Promise<SandboxManager> {
    const store = this.store.connect(id, clock)
    const onError = (error: unknown): void => void this.errors.push(error)
    return this.run(
      SandboxManager.start({ store, clock, onError, incarnation: { id }, sandboxes: [sandbox], minTenure: 0 }),
    )
  }
}
