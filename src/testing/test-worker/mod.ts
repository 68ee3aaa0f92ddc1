/**
 * One sandbox under test, in a process that exists in the test only: the production manager and protocol, on a clock
 * that stands still until it is told to move. A fault or a handoff (hand it over, crash it, stop it, lose its messages)
 * gives the worker that owns the sandbox next.
 *
 * Not promised: that code which doesn't use `context.clock` stands still. For many processes and drawn faults see
 * `simulate`.
 */
import { partsOf } from "../../actors/api/definition.ts"
import type { Sandbox, SandboxDefinition } from "../../actors/api/sandbox.ts"
import type { SandboxManager } from "../../actors/manager/manager.ts"
import { checkKey } from "../../locks/api/keys.ts"
import type { LockEvent } from "../../locks/api/lock.ts"
import type { Duration } from "../../runtime/input/duration.ts"
import {
  aCount,
  aFlag,
  aPromise,
  millis,
  oneOf,
  type OptionChecks,
  refusal,
  refuseUnknown,
  shown,
} from "../../runtime/input/options.ts"
import type { VirtualTime } from "../../runtime/time/virtual-time.ts"
import type { StartedProcess } from "../simulate/machines/process.ts"
import { Stops } from "../simulate/machines/stops.ts"
import type { StoreControl } from "../simulated-store/store.ts"
import { ended, WorkerWorld } from "./world.ts"

/** How a worker under test is made. */
export interface TestWorkerOptions<C> {
  /** The sandbox's key. Default `test`. */
  readonly key?: string
  /** What an earlier owner has saved. It makes the round trip through the codec. Default: nothing. */
  readonly checkpoint?: C
  /** Of all chance: the same seed gives the same run. Default 1. */
  readonly seed?: number
}

/** What can go wrong with a worker's requests to the store. */
export type WorkerFault =
  /** It takes effect, and the worker hears nothing. */
  | "loseAnswer"
  /** It never arrives, and the worker hears nothing. */
  | "loseRequest"
  /** It changes nothing and is answered with 503. */
  | "status"

/**
 * A process that owns the sandbox under test, or has owned it. Every call lets time pass until it has settled; calls
 * that wait at once share the time that passes, and so a test can crash the process, stop it or hand over while a `use`
 * runs.
 */
export interface TestWorker<S, C> extends AsyncDisposable {
  /** Its incarnation's id. */
  readonly name: string
  /** The manager of this process, for any other call: pass what it gives to `run`. */
  readonly manager: SandboxManager
  /** The time of the test: `layerTestClock(worker.time)` makes it Effect's TestClock. */
  readonly time: VirtualTime
  /** Runs fn in the sandbox. Settles as `SandboxManager.use` does; ManagerClosedError once the process has crashed. */
  readonly use: Sandbox<S>["use"]
  /** What is saved now, or undefined; as any process can read it. Rejects as `SandboxManager.readCheckpoint` does. */
  saved(): Promise<C | undefined>
  /** Lets time pass, and settles all that comes of it. Rejects with what a timer's callback throws. */
  advance(time: Duration): Promise<void>
  /**
   * Lets time pass until the promise settles, and settles as it does; ManagerClosedError once the process has crashed.
   */
  run<A>(promise: Promise<A>): Promise<A>
  /** Another process asks for the sandbox, and gets it. Rejects as `SandboxManager.restoreSandbox` does there. */
  requestHandoff(): Promise<TestWorker<S, C>>
  /**
   * Kills this process; another takes over when the lease is over. Rejects as `SandboxManager.restoreSandbox` does
   * there.
   */
  crash(): Promise<TestWorker<S, C>>
  /**
   * Stops this process for that long, as SIGSTOP does; `suspend`: its machine sleeps, and the monotonic clock stands
   * still. Settles when that is over; stopped several times at once, the process goes on when the last of these is.
   */
  pause(time: Duration, options?: { readonly suspend?: boolean }): Promise<void>
  /**
   * The store of this test, for what `fault` doesn't know: `worker.store.inject({ kind: "partition", worker:
   * worker.name, … })`. Of a worker that is neither there nor the next one `inject` throws InvalidConfigError.
   */
  readonly store: StoreControl
  /** The next requests of this process go wrong: one, or so many `times`. */
  fault(kind: WorkerFault, options?: { readonly times?: number }): void
  /** All lock events of this process so far. */
  readonly trace: readonly LockEvent[]
  /** What background work of all processes of this test reported so far. */
  readonly errors: readonly unknown[]
  /** Ends the test: closes this and all other workers of it. Idempotent. */
  [Symbol.asyncDispose](): Promise<void>
}

/** A checkpoint is the schema's to judge. */
const OPTIONS: OptionChecks<TestWorkerOptions<unknown>> = {
  key: (_name, value) => checkKey(value),
  checkpoint: true,
  seed: aWhole,
}

function aWhole(name: string, value: unknown): void {
  if (!Number.isSafeInteger(value)) throw refusal(`${name} is ${shown(value)}`, "Give a whole number")
}

/**
 * Starts a process that owns the sandbox of a key, and settles when that runs. Rejects with InvalidConfigError or
 * UnknownDefinitionError for bad arguments, with CheckpointInvalidError for a `checkpoint` that can't be saved, and
 * with what `restore` throws. It leaves nothing behind once it is disposed.
 *
 * @example
 * ```ts
 * await using worker = await testWorker(counter, { checkpoint: { n: 5 } })
 * await worker.use((state) => void state.n++)
 * const next = await worker.requestHandoff()
 * expect(await next.saved()).toEqual({ n: 6 })
 * ```
 */
export async function testWorker<S, C>(
  definition: SandboxDefinition<S, C>,
  options: TestWorkerOptions<NoInfer<C>> = {},
): Promise<TestWorker<S, C>> {
  partsOf(definition)
  refuseUnknown("testWorker", options, OPTIONS)
  const { key = "test", seed = 1 } = options
  const world = new WorkerWorld(definition, key, seed)
  if (options.checkpoint !== undefined) await world.leave(options.checkpoint)
  return nextWorker(world)
}

/** Another process, once it runs the sandbox. */
async function nextWorker<S, C>(world: WorkerWorld<S, C>): Promise<TestWorker<S, C>> {
  const process = await world.start()
  const worker = new WorkerUnderTest(world, process)
  try {
    await worker.restore()
  } catch (error) {
    await world.close(process)
    throw error
  }
  return worker
}

/** A crashed owner's lease has to run out first. */
const patience = "5 min"

class WorkerUnderTest<S, C> implements TestWorker<S, C> {
  readonly trace: LockEvent[] = []
  readonly #world: WorkerWorld<S, C>
  readonly #process: StartedProcess
  readonly #stops: Stops

  constructor(world: WorkerWorld<S, C>, process: StartedProcess) {
    this.#world = world
    this.#process = process
    this.#stops = new Stops(process.host)
    process.manager.events$.subscribe((event) => void this.trace.push(event))
  }

  get name(): string {
    return this.#process.id
  }

  get manager(): SandboxManager {
    return this.#process.manager
  }

  get time(): VirtualTime {
    return this.#world.time
  }

  get store(): StoreControl {
    return this.#world.control
  }

  get errors(): readonly unknown[] {
    return this.#world.errors
  }

  async restore(): Promise<void> {
    const { sandbox, key } = this.#world
    await this.run(this.manager.restoreSandbox(sandbox, key, { timeout: patience }))
  }

  readonly use: Sandbox<S>["use"] = async (fn, options) => {
    this.#alive()
    const { sandbox, key } = this.#world
    return this.run(this.manager.use(sandbox, key, fn, options))
  }

  async saved(): Promise<C | undefined> {
    this.#alive()
    const { sandbox, key } = this.#world
    return this.run(this.manager.readCheckpoint(sandbox, key))
  }

  async advance(time: Duration): Promise<void> {
    return this.#world.advance(millis("the time to advance by", time))
  }

  async run<A>(promise: Promise<A>): Promise<A> {
    aPromise("what run waits for", promise)
    return this.#world.run(this.#process, promise)
  }

  async requestHandoff(): Promise<TestWorker<S, C>> {
    this.#alive()
    return nextWorker(this.#world)
  }

  async crash(): Promise<TestWorker<S, C>> {
    this.#alive()
    this.#world.kill(this.#process)
    return nextWorker(this.#world)
  }

  async pause(time: Duration, options: { readonly suspend?: boolean } = {}): Promise<void> {
    this.#alive()
    refuseUnknown("pause", options, { suspend: aFlag })
    const { suspend = false } = options
    const ms = millis("the time to pause for", time)
    const end = this.#stops.begin(suspend)
    try {
      await this.#world.advance(ms)
    } finally {
      end()
    }
    await this.#world.advance(0)
  }

  fault(kind: WorkerFault, options: { readonly times?: number } = {}): void {
    this.#alive()
    refuseUnknown("fault", options, { times: aCount(1) })
    oneOf("the kind of fault", kind, ["loseAnswer", "loseRequest", "status"])
    const { times = 1 } = options
    const scope = { worker: this.name, times }
    this.#world.store.inject(kind === "status" ? { kind, status: 503, applied: false, ...scope } : { kind, ...scope })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#world.end()
  }

  #alive(): void {
    if (this.#process.isAlive) return
    throw ended(this.name)
  }
}
