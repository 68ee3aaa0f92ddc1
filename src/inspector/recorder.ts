/**
 * The recorder: turns what locks, sandboxes and stores do into the lines of one trace, in the order in which they do
 * it. The same for live and for simulated workers: only the clock differs.
 *
 * Recording changes nothing of what is recorded, and an `onLine` that throws is reported, not obeyed.
 *
 * Not promised: that lines are kept. Each goes to `onLine`, once, and what becomes of it is the caller's business; a
 * recorder remembers the last state and the last owner of each key, no more.
 */
import type { Observable, Subscription } from "rxjs"
import type { InspectionEvent } from "xstate"
import type { HookContext, SandboxDefinition } from "../actors/api/sandbox.ts"
import type { SandboxSnapshot } from "../actors/chart/types.ts"
import type { LockEvent } from "../locks/api/lock.ts"
import type { ObjectStore } from "../locks/stores/port.ts"
import {
  aClock,
  aFunction,
  anObject,
  aNumber,
  aText,
  one,
  type OptionChecks,
  refuseUnknown,
} from "../runtime/input/options.ts"
import { type OnError, reporter } from "../runtime/report.ts"
import { type Clock, liveClock } from "../runtime/time/clock.ts"
import { Handoffs } from "../trace/handoffs.ts"
import { type Recorded, recordedStore } from "../trace/recorded-store.ts"
import { type AppliedLine, type FaultLine, TRACE_VERSION, type TraceHeader, type TraceLine } from "../trace/trace.ts"
import { type CallDetail, type RecorderParts, WorkerLines } from "../trace/worker-lines.ts"
import { homeOf, recordedSandbox, WorkRecorder } from "./recorded-sandbox.ts"

/** How a recorder is made. */
export interface TraceRecorderOptions {
  /** Where the workers run. */
  readonly source: TraceHeader["source"]
  /** Gets every line, the moment it happens. */
  readonly onLine: (line: TraceLine) => void
  /** Of the lines' times: of a simulated world its own clock. Default: this process's. */
  readonly clock?: Clock
  /** The seed that runs it again. */
  readonly seed?: number
  /** The commit that is run. */
  readonly commit?: string
  /** Gets what `onLine` throws; default standard error. */
  readonly onError?: OnError
}

const OPTIONS: OptionChecks<TraceRecorderOptions> = {
  source: one("live", "simulated"),
  onLine: aFunction,
  clock: aClock,
  seed: aNumber,
  commit: aText,
  onError: aFunction,
}

interface AboutWorker {
  readonly worker?: string
}
interface AboutFault extends AboutWorker {
  readonly detail?: FaultLine["detail"]
}
const ABOUT: OptionChecks<AboutWorker> = { worker: aText }
const FAULT: OptionChecks<AboutFault> = { ...ABOUT, detail: anObject("Give an object of what there is to tell") }

/** What can be subscribed to. */
const events = anObject("Give an Observable", "subscribe")

/**
 * Records one trace, of one worker or of many.
 *
 * @example
 * ```ts
 * const world = fakeWorld({ seed: 7 })
 * const lines: TraceLine[] = []
 * const onLine = (line: TraceLine) => lines.push(line)
 * const recorder = new TraceRecorder({ source: "simulated", seed: 7, clock: world.clock, onLine })
 * const a = recorder.worker("a")
 * const process = world.process("a")
 * const manager = await SandboxManager.start({
 *   store: a.store(world.store),
 *   inspect: a.inspect,
 *   clock: process.clock,
 *   incarnation: process,
 *   sandboxes,
 * })
 * a.locks(manager.events$)
 * ```
 */
export class TraceRecorder {
  /** The first line of the trace. */
  readonly header: TraceHeader
  readonly #clock: Clock
  readonly #onLine: (line: TraceLine) => void
  readonly #report: OnError
  readonly #handoffs = new Handoffs()
  #requests = 0

  /** Records nothing yet: that begins with what its workers are given. Throws InvalidConfigError. */
  constructor(options: TraceRecorderOptions) {
    refuseUnknown("TraceRecorder", options, OPTIONS, ["source", "onLine"])
    const { source, onLine, clock = liveClock, seed = null, commit = null, onError } = options
    this.header = { kind: "trace", version: TRACE_VERSION, source, seed, commit }
    this.#clock = clock
    this.#onLine = onLine
    this.#report = reporter(onError)
  }

  /** The recorder of one worker's part, under a name that the trace shows. */
  worker(name: string): WorkerRecorder {
    aText("the name of the worker", name)
    return new WorkerRecorder(name, {
      clock: this.#clock,
      emit: (line) => this.#emit(line),
      nextId: () => ++this.#requests,
    })
  }

  /** Writes down what was done to a worker, or to all: call it before it is done. */
  fault(fault: string, options: { readonly worker?: string; readonly detail?: FaultLine["detail"] } = {}): void {
    aText("fault", fault)
    refuseUnknown("fault", options, FAULT)
    const { worker = null, detail = {} } = options
    this.#emit({ kind: "fault", at: this.#clock.read().wall, worker, fault, detail })
  }

  /** Writes down a write that took effect: the store calls it, at the moment at which it is true. */
  applied(write: Omit<AppliedLine, "kind" | "at">): void {
    anObject("Give what appliedWrite gave")("write", write)
    this.#emit({ kind: "applied", at: this.#clock.read().wall, ...write })
  }

  /** Writes down that the run came to something. */
  note(note: string, options: { readonly worker?: string } = {}): void {
    aText("note", note)
    refuseUnknown("note", options, ABOUT)
    const { worker = null } = options
    this.#emit({ kind: "note", at: this.#clock.read().wall, worker, note })
  }

  #emit(line: TraceLine): void {
    this.#tell(line)
    const handoff = line.kind === "lock" ? this.#handoffs.after(line) : undefined
    if (handoff !== undefined) this.#tell(handoff)
  }

  #tell(line: TraceLine): void {
    try {
      this.#onLine(line)
    } catch (error) {
      this.#report(error)
    }
  }
}

/** Records one worker. Made by `TraceRecorder.worker`. */
export class WorkerRecorder {
  /** The worker's name in the trace. */
  readonly name: string
  /** All states of all sandboxes of a manager: its `inspect` option. */
  readonly inspect: (event: InspectionEvent) => void
  readonly #lines: WorkerLines
  readonly #work: WorkRecorder

  /** Use `TraceRecorder.worker`. */
  constructor(name: string, parts: RecorderParts) {
    this.name = name
    this.#lines = new WorkerLines(name, parts)
    this.#work = new WorkRecorder(this.#lines)
    this.inspect = (event) => {
      if (event.type === "@xstate.snapshot") this.#lines.state(event.snapshot as unknown as SandboxSnapshot)
    }
  }

  /** Records the events of a manager or a lock (its `events$`) until they complete, or the subscription ends. */
  locks(events$: Observable<LockEvent>): Subscription {
    events("events$", events$)
    return events$.subscribe((event) => this.#lines.lock(event))
  }

  /**
   * Records the states of one sandbox (its `state$`), from the present one on. A manager's `inspect` records those of
   * all its sandboxes, from the first one on; a state that both tell of is one line.
   */
  states(state$: Observable<SandboxSnapshot>): Subscription {
    events("state$", state$)
    return state$.subscribe((snapshot) => this.#lines.state(snapshot))
  }

  /**
   * The same store, with its requests and answers recorded, never their bodies. Make one for a worker and give it to
   * all who share the store there: incarnations and queues belong to the store object.
   */
  store<S extends ObjectStore>(store: S): Recorded<S> {
    anObject("Give a store", "start", "read", "put")("store", store)
    return recordedStore(store, { lines: this.#lines })
  }

  /**
   * The same definition, with where its hooks begin and end recorded: for a manager's `sandboxes`, and for its calls.
   * The checkpoints and closes of a state that is no object are not told.
   */
  sandbox<S, C>(definition: SandboxDefinition<S, C>): SandboxDefinition<S, C> {
    return recordedSandbox(definition, this.#work, (asked, make) => this.call(asked, make))
  }

  /** The same function, with where it begins and ends recorded: for a manager's or a sandbox's `use`. */
  use<S, A>(fn: (state: S, context: HookContext) => A): (state: S, context: HookContext) => A {
    aFunction("fn", fn)
    return (state, context) => this.#work.section({ ...homeOf(context), work: "use" }, () => fn(state, context))
  }

  /** Makes a call, and records it with how it settles. Settles as it does. */
  async call<A>(asked: CallDetail, make: () => Promise<A>): Promise<A> {
    anObject("Give at least the name of the call")("asked", asked)
    aFunction("make", make)
    const ends = this.#lines.called(asked)
    try {
      const result = await make()
      ends()
      return result
    } catch (error) {
      ends({ error })
      throw error
    }
  }
}
