/**
 * What came in, as far back as there is room: to look at the fleet as it was, and for the timeline and the sequence.
 * The oldest lines are folded into a base, so that any moment after it can be made again.
 *
 * Not promised: how often each edge was taken before a moment, where the base already has rows: counts begin there.
 */
import type { TraceLine, UnknownLine } from "../../../trace/trace.ts"
import { Fleet } from "../../live/model/fleet.ts"
import { rowOf } from "../../live/model/live-row.ts"
import type { WireMessages } from "../../live/model/wire.ts"

/** Lines that are kept at least, once there were so many: some 60 MB, and over a minute of a thousand a second. */
export const LINES_KEPT = 100_000

/** A message that isn't lines, and how many lines came before it. */
interface Beside {
  readonly before: number
  readonly apply: (fleet: Fleet) => void
}

/** A fleet as it was after so many lines. */
interface HistoryMoment {
  readonly fleet: Fleet
  lines: number
  besides: number
}

/** The messages of one stream. */
export class History {
  #base = new Fleet()
  #lines: (TraceLine | UnknownLine)[] = []
  #besides: Beside[] = []
  #view: HistoryMoment | undefined
  #dropped = 0

  /** All lines that are kept. */
  get lines(): readonly (TraceLine | UnknownLine)[] {
    return this.#lines
  }

  /** How many lines came in and are kept no more. */
  get dropped(): number {
    return this.#dropped
  }

  /** The time of the first line that is kept; null while there is none. */
  get from(): number | null {
    return this.#lines.length === 0 ? null : atOf(this.#lines[0]!)
  }

  /** The time of the last one. */
  get to(): number | null {
    return this.#lines.length === 0 ? null : atOf(this.#lines.at(-1)!)
  }

  /** Takes one message. */
  add<K extends keyof WireMessages>(event: K, message: WireMessages[K]): void {
    if (event === "hello") this.#begin()
    if (event !== "lines") {
      this.#besides.push({ before: this.#lines.length, apply: (fleet) => fleet.apply(event, message) })
      return
    }
    const { lines } = message as WireMessages["lines"]
    for (const line of lines) this.#lines.push(line)
    if (this.#lines.length > 2 * LINES_KEPT) this.#fold()
  }

  /** The fleet as it was at this time. Later times than the last one asked for cost only what came between. */
  at(time: number): Fleet {
    const wanted = this.#linesUntil(time)
    if (this.#view === undefined || this.#view.lines > wanted) this.#view = this.#beginning()
    this.#advance(this.#view, wanted)
    this.#view.fleet.tick(time)
    return this.#view.fleet
  }

  /** How many lines are at or before this time. Lines of several workers are nearly in order; a look needs no more. */
  #linesUntil(time: number): number {
    let [low, high] = [0, this.#lines.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (atOf(this.#lines[middle]!) <= time) low = middle + 1
      else high = middle
    }
    return low
  }

  #begin(): void {
    this.#base = new Fleet()
    this.#lines = []
    this.#besides = []
    this.#view = undefined
    this.#dropped = 0
  }

  #beginning(): HistoryMoment {
    const fleet = new Fleet()
    const { hello } = this.#base
    if (hello !== undefined) fleet.apply("hello", hello)
    fleet.apply("rows", Array.from(this.#base.rows(), rowOf))
    if (this.#base.workers.size > 0) fleet.apply("workers", [...this.#base.workers.values()])
    return { fleet, lines: 0, besides: 0 }
  }

  #advance(moment: HistoryMoment, lines: number): void {
    while (true) {
      const beside = this.#besides[moment.besides]
      if (beside !== undefined && beside.before <= moment.lines) {
        beside.apply(moment.fleet)
        moment.besides++
      } else if (moment.lines < lines) moment.fleet.line(this.#lines[moment.lines++]!)
      else return
    }
  }

  /** The older half goes into the base. */
  #fold(): void {
    const base: HistoryMoment = { fleet: this.#base, lines: 0, besides: 0 }
    this.#advance(base, this.#lines.length - LINES_KEPT)
    this.#base.takeChanges()
    this.#dropped += base.lines
    this.#lines = this.#lines.slice(base.lines)
    this.#besides = this.#besides
      .slice(base.besides)
      .map(({ before, apply }) => ({ before: before - base.lines, apply }))
    this.#view = undefined
  }
}

const atOf = (line: TraceLine | UnknownLine): number => ("at" in line && typeof line.at === "number" ? line.at : 0)
