/**
 * The timeline: for each worker a lane a sandbox with its states as bars, its requests, and what befell it, over time.
 * Lines are added as they come; what is drawn is the part between two times. Pure; it runs in a browser too.
 *
 * Not promised: the whole of a long life. Of a lane the last `MOST_BARS` are kept, of a worker the last `MOST_SIGNS`.
 */
import { lineText, stateText } from "../../../trace/line-text.ts"
import { isTraceLine } from "../../../trace/trace-text.ts"
import type { FaultLine, RequestLine, StateLine, TraceLine, UnknownLine } from "../../../trace/trace.ts"
import { fateOf, type RequestFate } from "./sequence.ts"
import { partsOf, type TopState } from "./states.ts"

/** Of one sandbox: a day in which it moves every half minute. */
export const MOST_BARS = 3000

/** Requests, and faults, of one worker. */
export const MOST_SIGNS = 20_000

/** A state of a sandbox, from when to when. */
export interface Bar {
  readonly from: number
  /** Null while it goes on. */
  to: number | null
  readonly state: TopState
  /** `owning: running, degraded`. */
  readonly text: string
  readonly token: number | null
}

/** One sandbox of one worker. */
export interface Lane {
  readonly worker: string
  readonly key: string
  readonly bars: readonly Bar[]
}

/** A request of a worker. */
export interface RequestSign {
  readonly at: number
  /** When its answer came; null before. */
  answeredAt: number | null
  readonly isRead: boolean
  fate: RequestFate
  /** What was asked, and what came of it. */
  text: string
}

/** What befell a worker, or all. */
export interface FaultSign {
  readonly at: number
  /** When it is over, where a line tells: a pause until its resume. Null: at once, or not yet. */
  to: number | null
  readonly fault: string
  readonly text: string
}

/** One worker's part of the timeline. */
export interface WorkerLanes {
  readonly worker: string
  readonly lanes: readonly Lane[]
  readonly requests: readonly RequestSign[]
  readonly faults: readonly FaultSign[]
}

/** A part of the timeline. */
export interface LanesView {
  readonly from: number
  readonly to: number
  /** In the order of their names; their lanes in that of the keys. */
  readonly workers: readonly WorkerLanes[]
  /** What befell all. */
  readonly faults: readonly FaultSign[]
}

/** A timeline that lines are added to. */
export class Lanes {
  #first: number | undefined
  #last = 0
  readonly #workers = new Map<string, WorkerParts>()
  readonly #world: FaultSign[] = []

  /** The time of the first line, and of the last. */
  get span(): { readonly from: number; readonly to: number } {
    return { from: this.#first ?? 0, to: this.#last }
  }

  /** Takes a line. One of a kind that isn't drawn only tells how late it is. */
  add(line: TraceLine | UnknownLine): void {
    if (!isTraceLine(line)) return
    this.#first ??= line.at
    this.#last = Math.max(this.#last, line.at)
    if (line.worker === null) {
      if (line.kind === "fault") pushBounded(this.#world, faultSign(line), MOST_SIGNS)
      return
    }
    const parts = this.#workers.get(line.worker) ?? new WorkerParts(line.worker)
    this.#workers.set(line.worker, parts)
    parts.add(line)
  }

  /** What there is between two times. With a `key` the lanes of that one alone. */
  view(from: number, to: number, key?: string): LanesView {
    const workers = [...this.#workers.values()].sort((a, b) => (a.worker < b.worker ? -1 : 1))
    return {
      from,
      to,
      workers: workers.map((parts) => parts.view(from, to, key)),
      faults: this.#world.filter((sign) => sign.at <= to && (sign.to ?? sign.at) >= from),
    }
  }
}

/** Faults after which the worker is another process: what it had is over. */
const ENDING: ReadonlySet<string> = new Set(["crash", "reboot"])

/** Faults that last until another line ends them. */
const LASTING: ReadonlySet<string> = new Set(["pause", "suspend", "stall", "crash", "reboot", "drain"])

class WorkerParts {
  readonly worker: string
  readonly #lanes = new Map<string, Bar[]>()
  readonly #requests: RequestSign[] = []
  readonly #open = new Map<number, RequestSign>()
  readonly #faults: FaultSign[] = []

  constructor(worker: string) {
    this.worker = worker
  }

  add(line: TraceLine): void {
    if (line.kind === "state") this.#state(line)
    else if (line.kind === "request") this.#request(line)
    else if (line.kind === "answer") this.#answer(line)
    else if (line.kind === "fault" && line.fault !== "clock") this.#fault(line) // a clock's readings are no fault
  }

  view(from: number, to: number, key: string | undefined): WorkerLanes {
    const lanes = [...this.#lanes]
      .filter(([name]) => key === undefined || name === key)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, bars]) => ({ worker: this.worker, key: name, bars: barsBetween(bars, from, to) }))
    return {
      worker: this.worker,
      lanes: lanes.filter(({ bars }) => bars.length > 0),
      requests: this.#requests.slice(indexOf(this.#requests, from), indexOf(this.#requests, to + 1)),
      faults: this.#faults.filter((sign) => sign.at <= to && (sign.to ?? sign.at) >= from),
    }
  }

  #state({ at, key, value, token }: StateLine): void {
    const bars = this.#lanes.get(key) ?? []
    this.#lanes.set(key, bars)
    close(bars, at)
    const { top } = partsOf(value)
    // Being released isn't a time, it is a moment: the lane ends there.
    const bar = { from: at, to: top === "released" ? at : null, state: top, text: stateText({ value }), token }
    pushBounded(bars, bar, MOST_BARS)
  }

  #request(line: RequestLine): void {
    const { at, id, op } = line
    const sign: RequestSign = { at, answeredAt: null, isRead: op === "read", fate: "open", text: lineText(line) }
    pushBounded(this.#requests, sign, MOST_SIGNS)
    if (this.#open.size < MOST_SIGNS) this.#open.set(id, sign)
  }

  #answer(line: Extract<TraceLine, { kind: "answer" }>): void {
    const sign = this.#open.get(line.id)
    if (sign === undefined) return
    this.#open.delete(line.id)
    sign.answeredAt = line.at
    sign.fate = fateOf(line)
    sign.text += ` ${lineText(line)}`
  }

  #fault(line: FaultLine): void {
    const { at, fault } = line
    const before = this.#faults.findLast(({ to, fault: name }) => to === null && LASTING.has(name))
    if (before !== undefined && isEndOf(fault)) before.to = at
    pushBounded(this.#faults, faultSign(line), MOST_SIGNS)
    if (!ENDING.has(fault)) return
    for (const bars of this.#lanes.values()) close(bars, at)
    this.#open.clear()
  }
}

const isEndOf = (fault: string): boolean => fault === "resume" || fault === "start" || fault === "restart"

function faultSign(line: FaultLine): FaultSign {
  const { at, fault, detail } = line
  const ms = detail["ms"]
  return { at, to: LASTING.has(fault) && typeof ms === "number" ? at + ms : null, fault, text: lineText(line) }
}

function close(bars: readonly Bar[], at: number): void {
  const last = bars.at(-1)
  if (last !== undefined && last.to === null) last.to = at
}

/** In large steps, as taking the first of a list moves all others. */
function pushBounded<A>(list: A[], item: A, most: number): void {
  list.push(item)
  if (list.length > most * 1.25) list.splice(0, list.length - most)
}

/**
 * The first that isn't before this time: times only grow, but for clocks that are set back, of which one is off by
 * some.
 */
function indexOf(signs: readonly { readonly at: number }[], at: number): number {
  let [low, high] = [0, signs.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (signs[middle]!.at < at) low = middle + 1
    else high = middle
  }
  return low
}

function barsBetween(bars: readonly Bar[], from: number, to: number): readonly Bar[] {
  return bars.filter((bar) => bar.from <= to && (bar.to === null || bar.to >= from))
}
