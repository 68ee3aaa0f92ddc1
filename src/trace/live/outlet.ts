/**
 * The way of lines to one destination: a queue of bounded size, written in batches behind what is traced, which never
 * waits for it. A destination that fails is told of once and tried again, later each time; what then has no room is
 * counted and left out.
 *
 * Not promised: that lines of the last moments are there when a process ends without `close`.
 */
import { TraceWriteError } from "../../locks/api/errors.ts"
import type { OnError } from "../../runtime/report.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import type { TraceLine } from "../trace.ts"
import { sizeOf } from "./ring.ts"

/** Where lines go. */
export interface Destination {
  /** For messages. */
  readonly name: string
  /**
   * Takes the first of these lines, at least one; settles with how many. Rejects where it took none, and may be tried
   * again.
   */
  write(lines: readonly TraceLine[]): Promise<number>
  /** Lets go of what it has open. Never rejects. */
  close(): Promise<void>
}

/** What outlets share. */
export interface OutletParts {
  readonly clock: Clock
  /** Never throws. */
  readonly report: OnError
  /** The line that stands where lines are missing. */
  readonly gap: (missing: number) => TraceLine
}

/** How long lines are gathered, in milliseconds. */
const GATHER_MS = 100
/** The most lines of one batch: making its text takes a millisecond or two. */
const BATCH = 500
/** The most that waits, in lines and in bytes: seconds of a busy manager. */
const QUEUE_LINES = 50_000
const QUEUE_BYTES = 16 * 1024 * 1024
/** Before a destination that failed is tried again, in milliseconds: at first, and at most. */
const FIRST_PAUSE = 1000
const LONGEST_PAUSE = 60_000

/** One destination's queue. */
export class Outlet {
  readonly #destination: Destination
  readonly #parts: OutletParts
  #queue: TraceLine[] = []
  #bytes = 0
  /** Left out, of which no line tells yet. */
  #missing = 0
  #dropped = 0
  #pause = FIRST_PAUSE
  #failing = false
  #waiting: { cancel(): void } | undefined
  #writing: Promise<void> | undefined
  #isClosed = false

  constructor(destination: Destination, parts: OutletParts) {
    this.#destination = destination
    this.#parts = parts
  }

  /** How many lines were left out. */
  get dropped(): number {
    return this.#dropped
  }

  /** Takes a line. Never throws, never waits. */
  push(line: TraceLine): void {
    if (this.#isClosed) return
    if (this.#queue.length >= QUEUE_LINES || this.#bytes >= QUEUE_BYTES) {
      this.#missing++
      this.#dropped++
      return
    }
    if (this.#missing > 0) this.#add(this.#parts.gap(this.#missing))
    this.#missing = 0
    this.#add(line)
    this.#writeIn(GATHER_MS)
  }

  /**
   * Writes what is there, within so many milliseconds, for which it keeps the process alive: somebody waits for it.
   * Tries once where that fails. Never rejects.
   */
  async flush(withinMs: number): Promise<void> {
    const { promise: over, resolve } = Promise.withResolvers<void>()
    const timer = this.#parts.clock.after(withinMs, resolve)
    await Promise.race([this.#drained(), over])
    timer.cancel()
  }

  /** The same, and takes no more. What isn't written by then is left out. Never rejects. */
  async close(withinMs: number): Promise<void> {
    this.#isClosed = true
    await this.flush(withinMs)
    this.#waiting?.cancel()
    const closed = this.#destination.close()
    if (this.#writing === undefined) await closed
    this.#dropped += this.#queue.length
    this.#queue = []
  }

  #add(line: TraceLine): void {
    this.#queue.push(line)
    this.#bytes += sizeOf(line)
  }

  #writeIn(ms: number): void {
    if (this.#waiting !== undefined || this.#writing !== undefined) return
    this.#waiting = this.#parts.clock.after(ms, () => void this.#write(), { background: true })
  }

  async #drained(): Promise<void> {
    await this.#writing
    if (this.#missing > 0) this.#add(this.#parts.gap(this.#missing))
    this.#missing = 0
    await this.#write()
  }

  #write(): Promise<void> {
    this.#waiting?.cancel()
    this.#waiting = undefined
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined
      if (this.#queue.length > 0 && !this.#isClosed) this.#writeIn(this.#failing ? this.#pause : GATHER_MS)
    })
    return this.#writing
  }

  /** What is there by now. What comes meanwhile is for the next time: a sink may bring about the lines that it gets. */
  async #writeAll(): Promise<void> {
    let left = this.#queue.length
    try {
      while (left > 0 && this.#queue.length > 0) {
        const count = await this.#destination.write(this.#queue.slice(0, Math.min(left, BATCH)))
        this.#took(count)
        left -= count
        // A sink that gives no promise would keep all else from going on, batch after batch.
        if (left > 0) await new Promise<void>((resolve) => this.#parts.clock.soon(resolve))
      }
    } catch (error) {
      this.#failed(error)
    }
  }

  #took(count: number): void {
    for (const line of this.#queue.splice(0, count)) this.#bytes -= sizeOf(line)
    this.#failing = false
    this.#pause = FIRST_PAUSE
  }

  #failed(cause: unknown): void {
    if (!this.#failing) this.#parts.report(unwritten(this.#destination.name, cause))
    else this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE)
    this.#failing = true
  }
}

const unwritten = (name: string, cause: unknown): TraceWriteError =>
  new TraceWriteError({
    message: `The trace can't be written to ${name}: ${cause instanceof Error ? cause.message : String(cause)}`,
    next: "Nothing else is affected, and it is tried again; see to the room, the path and its permissions",
    cause,
  })
