/**
 * The world of test workers: one virtual time, one simulated store, one kind of sandbox and one key of it, and the
 * workers that have it one after the other. Owns how they are made and ended.
 */
import { defineSandbox, partsOf } from "../../actors/api/definition.ts"
import type { AnyDefinition, SandboxDefinition } from "../../actors/api/sandbox.ts"
import { ManagerClosedError } from "../../locks/api/errors.ts"
import type { ObjectRef } from "../../locks/stores/port.ts"
import { anObject, aText, oneOf, refusal, shown } from "../../runtime/input/options.ts"
import { SeededRandom } from "../../runtime/time/random.ts"
import { VirtualTime } from "../../runtime/time/virtual-time.ts"
import { SimulatedProcess, type StartedProcess } from "../simulate/machines/process.ts"
import { SimulatedConnection } from "../simulated-store/connection.ts"
import { checkStoreFault, type StoreFault } from "../simulated-store/faults.ts"
import { SimulatedStore, type StoreControl } from "../simulated-store/store.ts"
import { Mover } from "./mover.ts"

/** What the workers of one test share. */
export class WorkerWorld<S, C> {
  readonly time: VirtualTime
  readonly store: SimulatedStore
  /** The store as a test has it. */
  readonly control: StoreControl
  readonly sandbox: SandboxDefinition<S, C>
  readonly key: string
  /** What background work reported. */
  readonly errors: unknown[] = []
  readonly #processes = new Set<StartedProcess>()
  readonly #mover: Mover
  #started = 0

  constructor(sandbox: SandboxDefinition<S, C>, key: string, seed: number) {
    this.time = new VirtualTime({ seed })
    this.#mover = new Mover(this.time)
    this.store = new SimulatedStore({ time: this.time, chance: new SeededRandom(seed), profile: "exact" })
    this.control = controlOf(this.store, (fault) => this.#checkWorker(fault))
    this.sandbox = sandbox
    this.key = key
  }

  /**
   * Lets time pass until the promise settles, and settles as it does; ManagerClosedError once its process is killed.
   */
  run<A>(process: StartedProcess, promise: Promise<A>): Promise<A> {
    return this.#mover.run(process.orGone(promise))
  }

  /** Lets time pass. */
  advance(ms: number): Promise<void> {
    return this.#mover.advance(ms)
  }

  /** Starts a process. */
  start(): Promise<StartedProcess> {
    return this.#start(nameOf(++this.#started), this.sandbox)
  }

  /**
   * Leaves this checkpoint in the store, through the codec, as an owner that has gone. Rejects as a checkpoint does.
   */
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
  kill(process: StartedProcess): void {
    this.#processes.delete(process)
    process.kill()
  }

  /** Closes a process, and what it leaves behind goes with it. */
  async close(process: StartedProcess): Promise<void> {
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
    const processes = [...this.#processes]
    this.#processes.clear()
    for (const process of processes) await this.close(process)
  }

  /** A fault of a worker that is misspelt would never strike, and nobody would know. */
  #checkWorker({ worker }: StoreFault): void {
    // those so far, and the next
    const names = Array.from({ length: this.#started + 1 }, (_, index) => nameOf(index + 1))
    if (typeof worker === "string") oneOf("the worker of a fault", worker, names)
  }

  async #start(id: string, sandbox: AnyDefinition): Promise<StartedProcess> {
    const process = new SimulatedProcess({ id, time: this.time, clock: { name: id }, gone: () => ended(id) })
    const store = new SimulatedConnection(this.store, id, process.host)
    const onError = (error: unknown): void => void this.errors.push(error)
    const started = await this.#mover.run(process.start({ store, onError, sandboxes: [sandbox], minTenure: 0 }))
    this.#processes.add(started)
    return started
  }
}

const nameOf = (number: number): string => `worker-${number}`

/** Refuses what no object can be. */
const checkStored = (ref: ObjectRef, body: unknown): void => {
  anObject('Give one such as { area: "leases", name: "orders=2f7" }')("ref", ref)
  oneOf("area", ref.area, ["leases", "state", "probe", "store"])
  aText("name", ref.name)
  if (body !== undefined && !(body instanceof Uint8Array))
    throw refusal(`The body is ${shown(body)}`, "Give bytes, or undefined to remove the object")
}

/** The store, with faults that are checked. */
const controlOf = (store: SimulatedStore, check: (fault: StoreFault) => void): StoreControl => ({
  name: store.name,
  get objects() {
    return store.objects
  },
  inject: (fault) => {
    checkStoreFault(fault)
    check(fault)
    store.inject(fault)
  },
  heal: () => store.heal(),
  tamper: (ref, body) => {
    checkStored(ref, body)
    store.tamper(ref, body)
  },
})

/** What a call of a process rejects with that has crashed or ended. */
export const ended = (name: string): ManagerClosedError =>
  new ManagerClosedError({
    message: `${name} has crashed, or its test has ended`,
    next: "Use the worker that crash() gave",
    state: "closed",
  })
