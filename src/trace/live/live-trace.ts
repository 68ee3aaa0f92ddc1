/**
 * The trace of one live worker: makes its lines while somebody reads them, keeps the last ones, and gives each to the
 * file, the sink and all subscribers. What is traced looks at `lines` first, which is undefined while nobody reads.
 *
 * Not promised: that who subscribes late has heard of everything. `recent` has what was kept since somebody read.
 */
import { Hub } from "../../runtime/observables.ts"
import type { OnError } from "../../runtime/report.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import { Handoffs } from "../handoffs.ts"
import type { TraceLine } from "../trace.ts"
import type { LinesOf } from "../worker-lines.ts"
import { WorkerLines } from "../worker-lines.ts"
import { TraceFile } from "./file.ts"
import type { TraceSettings } from "./options.ts"
import { type OutletParts, Outlet } from "./outlet.ts"
import { errorOf, safeLine } from "./redacted.ts"
import { LineRing } from "./ring.ts"
import { SinkDestination } from "./sink.ts"

/** What a worker's trace tells to those who look at it. */
export interface TraceTap {
  /** Gets every line from now on; one that throws is reported, and gets no more. The result ends it. */
  subscribe(onLine: (line: TraceLine) => void): () => void
  /** The last lines, the oldest first: none from before somebody read, or there was a trace to write. */
  recent(): readonly TraceLine[]
}

/** Whose trace it is. */
export interface LiveTraceParts {
  /** The worker's name, unless the settings have one. */
  readonly worker: string
  readonly clock: Clock
  /** Never throws. */
  readonly report: OnError
}

/** Of the lines in memory, in bytes. */
const RING_BYTES = 8 * 1024 * 1024
/** Of how many keys the last owner is remembered. */
const OWNERS = 10_000
/** What writing may take after a drain, in milliseconds: the process may be killed soon. */
const FLUSH_WITHIN = 1000
/** What the last writes may take when the trace is closed, in milliseconds. */
const CLOSE_WITHIN = 2000

/** The trace of one worker. */
export class LiveTrace implements LinesOf, TraceTap {
  readonly worker: string
  /** Makes lines; undefined while nobody reads them. */
  lines: WorkerLines | undefined
  readonly #parts: LiveTraceParts
  readonly #settings: TraceSettings
  readonly #ring: LineRing
  readonly #outlets: readonly Outlet[]
  readonly #hub: Hub<TraceLine>
  #readers = 0
  #handoffs = new Handoffs(OWNERS)
  #ids = 0
  #begin: () => (() => void) | undefined = () => undefined
  #end: (() => void) | undefined
  readonly #ended = Promise.withResolvers<void>()
  #isClosed = false

  constructor(settings: TraceSettings, parts: LiveTraceParts) {
    this.worker = settings.worker ?? parts.worker
    this.#settings = settings
    this.#parts = parts
    this.#ring = new LineRing(settings.ring, RING_BYTES)
    this.#hub = new Hub(parts.report)
    this.#outlets = this.#opened(settings)
    if (settings.isOn) this.#open()
  }

  /** Whether messages that may quote values are shown. */
  get values(): boolean {
    return this.#settings.values
  }

  /** Settles once it is closed. Never rejects. */
  get ended(): Promise<void> {
    return this.#ended.promise
  }

  /** How many lines were left out of the file and the sink. */
  get dropped(): number {
    return this.#outlets.reduce((sum, { dropped }) => sum + dropped, 0)
  }

  /** Whether there is a file or a sink, whose last lines are to be waited for. */
  get isWritten(): boolean {
    return this.#outlets.length > 0
  }

  subscribe(onLine: (line: TraceLine) => void): () => void {
    if (this.#isClosed) return () => {}
    const subscription = this.#hub.observable.subscribe(onLine)
    this.#readers++
    if (this.lines === undefined) this.#open()
    subscription.add(() => this.#left())
    return () => subscription.unsubscribe()
  }

  /** Begins something whenever somebody comes to read, and ends it by its result when nobody reads any more. */
  whileRead(begin: () => (() => void) | undefined): void {
    this.#begin = begin
    if (this.lines !== undefined) this.#end = begin()
  }

  recent(): readonly TraceLine[] {
    return this.#ring.lines
  }

  /** Writes what is there, within 1 s. Never rejects. */
  async flush(): Promise<void> {
    await Promise.all(this.#outlets.map((outlet) => outlet.flush(FLUSH_WITHIN)))
  }

  /** Writes what is there, within 2 s, and tells nobody more. Never rejects. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#close()
    this.#hub.complete()
    this.#ended.resolve()
    await Promise.all(this.#outlets.map((outlet) => outlet.close(CLOSE_WITHIN)))
  }

  #open(): void {
    const { clock } = this.#parts
    const parts = { clock, emit: (line: TraceLine) => this.#emit(line), nextId: () => ++this.#ids }
    this.#handoffs = new Handoffs(OWNERS) // what was missed since somebody read last would make the next one wrong
    this.#ring.clear()
    this.lines = new WorkerLines(this.worker, parts, errorOf(this.#settings.values))
    this.#end = this.#begin()
  }

  #left(): void {
    this.#readers--
    if (this.#readers === 0 && !this.#settings.isOn) this.#close()
  }

  #close(): void {
    this.lines = undefined
    this.#end?.()
    this.#end = undefined
  }

  #emit(line: TraceLine): void {
    this.#tell(line)
    const handoff = line.kind === "lock" ? this.#handoffs.after(line) : undefined
    if (handoff !== undefined) this.#tell(handoff)
  }

  /** What is traced takes no harm by its trace, whatever a record of others made of a line. */
  #tell(made: TraceLine): void {
    try {
      const line = safeLine(made)
      this.#ring.push(line)
      for (const outlet of this.#outlets) outlet.push(line)
      this.#hub.emit(line)
    } catch (error) {
      this.#parts.report(error)
    }
  }

  #opened({ file, sink, maxBytes, keep }: TraceSettings): readonly Outlet[] {
    const { clock, report } = this.#parts
    const parts: OutletParts = { clock, report, gap: (missing) => this.#gap(missing) }
    return [
      ...(file === undefined ? [] : [new Outlet(new TraceFile({ file, maxBytes, keep }), parts)]),
      ...(sink === undefined ? [] : [new Outlet(new SinkDestination(sink, report), parts)]),
    ]
  }

  #gap(missing: number): TraceLine {
    const note = `${missing} lines are missing here: they could not be written in time`
    return { kind: "note", at: this.#parts.clock.read().wall, worker: this.worker, note }
  }
}
