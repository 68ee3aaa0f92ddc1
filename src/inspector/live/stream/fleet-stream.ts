/**
 * The stream of a fleet: what its sources say, ten times a second as numbered messages, for any number of readers. Each
 * reader reads from the same ring at its own pace; one that falls behind it begins anew. Nothing is kept for a reader,
 * so that one that stalls costs nothing. Without readers nothing is listened to.
 */
import type { Clock, Timer } from "../../../runtime/time/clock.ts"
import type { TraceLine } from "../../../trace/trace.ts"
import { Fleet } from "../model/fleet.ts"
import { type LiveRow, rowOf } from "../model/live-row.ts"
import type { Hello, SandboxRow, WireMessages, WorkerRow } from "../model/wire.ts"
import { EventRing } from "./ring.ts"
import type { FleetSink, FleetSource } from "./source.ts"
import { eventText, withId } from "./sse.ts"

/** Ten times a second: a person sees no more. In milliseconds. */
export const BATCH_EVERY = 100

/** Lines of one message: at 1,000 a second there are 100. More are left out, and the rows that they changed follow. */
export const LINES_A_BATCH = 2000

/** Rows of one message: about 100 kB. */
export const ROWS_A_MESSAGE = 400

/**
 * What a new reader is told of what happened before: a timeline that begins empty says little. At least so many lines.
 */
export const HISTORY = 2000

/** What readers can be behind, in characters: some seconds of a fleet in a storm. */
const RING_LIMIT = 8 * 1024 * 1024

/**
 * How long the stream goes on without readers: who comes back after a lost connection goes on where it was. In
 * milliseconds.
 */
export const LINGER = 15_000

/** The stream. */
export class FleetStream {
  readonly #clock: Clock
  readonly #sources: readonly FleetSource[]
  readonly #hello: Pick<Hello, "actions">
  #running: RunningStream | undefined
  #readers = 0
  #lingering: Timer | undefined

  constructor(clock: Clock, sources: readonly FleetSource[], hello: Pick<Hello, "actions">) {
    this.#clock = clock
    this.#sources = sources
    this.#hello = hello
  }

  /** What is known now; undefined while nobody reads. */
  get fleet(): Fleet | undefined {
    return this.#running?.fleet
  }

  /** A new reader, from after the message with this id on where that is kept. */
  read(lastId: string | null): StreamReader {
    this.#lingering?.cancel()
    this.#readers++
    this.#running ??= new RunningStream(this.#clock, this.#sources, this.#hello)
    return new StreamReader(this.#running, lastId, () => this.#left())
  }

  /** Ends all readers, and listens to nothing any more. */
  close(): void {
    this.#lingering?.cancel()
    this.#running?.stop()
    this.#running = undefined
  }

  #left(): void {
    this.#readers--
    if (this.#readers > 0 || this.#running === undefined) return
    this.#lingering = this.#clock.after(LINGER, () => this.close(), { background: true })
  }
}

/** One run of the stream: from the first reader until nobody has read for a while. */
class RunningStream implements FleetSink {
  readonly fleet: Fleet = new Fleet()
  /** What was said, without ids. */
  readonly ring: EventRing = new EventRing(RING_LIMIT)
  /** Tells its numbers from those of another run, of this process or another. */
  readonly name: string
  readonly #clock: Clock
  readonly #hello: Pick<Hello, "actions">
  readonly #stops: readonly (() => void)[]
  readonly #wakes = new Set<() => void>()
  #lines: TraceLine[] = []
  #history: TraceLine[] = []
  readonly #workers = new Map<string, WorkerRow>()
  #workersChanged = false
  #batch: Timer | undefined
  #isStarting = true
  isOver = false

  constructor(clock: Clock, sources: readonly FleetSource[], hello: Pick<Hello, "actions">) {
    this.#clock = clock
    this.#hello = hello
    this.name = clock.id()
    this.#stops = sources.map((source) => source.start(this))
    this.#isStarting = false
    this.#flush()
  }

  /** What a reader that begins is told first. */
  beginning(): {
    readonly hello: Hello
    readonly workers: readonly WorkerRow[]
    readonly history: readonly TraceLine[]
  } {
    const { wall } = this.#clock.read()
    const hello: Hello = { version: 1, source: "live", now: wall, rows: this.fleet.size, title: null, ...this.#hello }
    return { hello, workers: this.#told(), history: this.#history.slice(-HISTORY) }
  }

  rows(rows: readonly SandboxRow[]): void {
    this.#flushLines() // what was said before comes before
    this.fleet.apply("rows", rows)
    this.#say("rows", rows)
  }

  line(line: TraceLine): void {
    this.#lines.push(line)
    this.#soon()
  }

  worker(row: WorkerRow): void {
    this.#workers.set(row.worker, row)
    this.#workersChanged = true
    this.#soon()
  }

  forget(worker: string, isGone: boolean): void {
    this.#flushLines()
    this.fleet.apply("forget", { workers: [worker] })
    this.#say("forget", { workers: [worker] })
    if (!isGone) return
    this.#workers.delete(worker)
    this.#workersChanged = true
    this.#soon()
  }

  /** Calls `wake` once, when there is more. */
  wait(wake: () => void): void {
    this.#wakes.add(wake)
  }

  unwait(wake: () => void): void {
    this.#wakes.delete(wake)
  }

  /** What was said until now is still read. */
  stop(): void {
    for (const stop of this.#stops) stop()
    this.#flush()
    this.#batch?.cancel()
    this.isOver = true
    this.#wake()
  }

  #told(): readonly WorkerRow[] {
    return [...this.#workers.values()]
  }

  #soon(): void {
    if (this.#isStarting || this.isOver) return
    this.#batch ??= this.#clock.after(BATCH_EVERY, () => this.#flush(), { background: true })
  }

  #flush(): void {
    this.#batch = undefined
    this.#flushLines()
    if (this.#workersChanged) {
      this.#workersChanged = false
      this.fleet.apply("workers", this.#told())
      this.#say("workers", this.#told())
    }
    this.fleet.tick(this.#clock.read().wall)
    this.fleet.takeChanges() // nobody asks for them here
    this.#wake()
  }

  #flushLines(): void {
    const all = this.#lines
    if (all.length === 0) return
    this.#lines = []
    this.#history.push(...all.slice(-HISTORY))
    if (this.#history.length > 2 * HISTORY) this.#history = this.#history.slice(-HISTORY) // in one step, not one by one
    const lines = all.slice(0, LINES_A_BATCH)
    const left = all.slice(LINES_A_BATCH)
    this.fleet.apply("lines", { lines, left: 0 })
    this.#say("lines", { lines, left: left.length })
    if (left.length > 0) this.#leaveOut(left)
  }

  /** Only what became of the rows is told. */
  #leaveOut(lines: readonly TraceLine[]): void {
    this.fleet.takeChanges()
    this.fleet.apply("lines", { lines, left: 0 })
    const changed = [...this.fleet.takeChanges().rows].map(rowOf)
    for (let at = 0; at < changed.length; at += ROWS_A_MESSAGE)
      this.#say("rows", changed.slice(at, at + ROWS_A_MESSAGE))
  }

  #say<K extends keyof WireMessages>(event: K, message: WireMessages[K]): void {
    if (this.#isStarting) return // nobody has read yet
    this.ring.push(eventText(event, message))
    this.#soon() // it wakes those who read
  }

  #wake(): void {
    const wakes = [...this.#wakes]
    this.#wakes.clear()
    for (const wake of wakes) wake()
  }
}

/**
 * One who reads the stream. Until it has all rows it is given no id, so that one that breaks off before begins anew.
 */
export class StreamReader {
  readonly #running: RunningStream
  readonly #onLeave: () => void
  /** The number of the next message. */
  #next: number
  /** Where the walk through the rows is; undefined when it is done. */
  #row: number | undefined
  #isBegun: boolean
  #isLeft = false

  /** Use `FleetStream.read`. */
  constructor(running: RunningStream, lastId: string | null, onLeave: () => void) {
    this.#running = running
    this.#onLeave = onLeave
    const after = numberAfter(lastId, running)
    this.#isBegun = after !== undefined
    this.#next = after ?? running.ring.next
  }

  /** The next text, or undefined while there is none. Null: the stream is over. */
  take(): string | null | undefined {
    const { ring, isOver } = this.#running
    if (this.#isLeft || (isOver && (!this.#isBegun || this.#next >= ring.next || this.#next < ring.first))) return null
    if (!this.#isBegun || this.#next < ring.first) return this.#begin() // or too far behind: everything anew
    const message = ring.at(this.#next)
    if (message === undefined) return this.#row === undefined ? undefined : this.#someRows(this.#row)
    this.#next++
    return this.#row === undefined ? withId(this.#id, message) : message
  }

  /** Calls `wake` once, when `take` may have more. */
  wait(wake: () => void): void {
    this.#running.wait(wake)
  }

  /** Idempotent. */
  leave(wake: () => void): void {
    this.#running.unwait(wake)
    if (this.#isLeft) return
    this.#isLeft = true
    this.#onLeave()
  }

  #begin(): string {
    this.#isBegun = true
    this.#next = this.#running.ring.next
    this.#row = 0
    const { hello, workers, history } = this.#running.beginning()
    const begun = withId("", eventText("hello", hello)) + eventText("workers", workers)
    return history.length === 0 ? begun : begun + eventText("lines", { lines: history, left: 0 })
  }

  /**
   * The fleet is as the ring has told so far, and the reader has read all of that: lines that are told later change
   * rows that it has, or rows that are told later still.
   */
  #someRows(from: number): string {
    const { slots } = this.#running.fleet
    const rows: LiveRow[] = []
    let at = from
    for (; at < slots.length && rows.length < ROWS_A_MESSAGE; at++) {
      const row = slots[at]
      if (row !== undefined) rows.push(row)
    }
    this.#row = at
    if (rows.length > 0) return eventText("rows", rows.map(rowOf))
    this.#row = undefined
    return withId(this.#id, eventText("ready", {}))
  }

  /** Of what was told last. */
  get #id(): string {
    return `${this.#running.name}.${this.#next - 1}`
  }
}

/** The number after the one of an id; undefined where it isn't of this run, or what follows is kept no more. */
function numberAfter(lastId: string | null, { name, ring }: RunningStream): number | undefined {
  const [run, number] = (lastId ?? "").split(".")
  const next = Number(number) + 1
  return run === name && Number.isSafeInteger(next) && next >= ring.first && next <= ring.next ? next : undefined
}
