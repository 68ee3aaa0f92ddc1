/** How many sandboxes were in each state over the last minutes, or over a recorded trace. Pure. */
import type { TraceLine, UnknownLine } from "../../../trace/trace.ts"
import { Fleet } from "../../live/model/fleet.ts"
import { TOP_STATES } from "../../live/model/states.ts"

/** Points of a trend: as many as a small picture has pixels for, two minutes at one a second. */
export const POINTS = 120

/** Counts by time. */
export interface Trends {
  /** Unix seconds. */
  readonly times: readonly number[]
  /** By the index of a state, at each of these times. */
  readonly counts: readonly (readonly number[])[]
}

/** Of a live fleet: what is told to it, once a second. */
export class LiveTrends implements Trends {
  times: number[] = []
  counts: number[][] = TOP_STATES.map(() => [])

  /** How it is now. */
  sample(now: number, counts: Fleet["counts"]): void {
    const isFull = this.times.length >= POINTS
    this.times = [...this.times.slice(isFull ? 1 : 0), now / 1000]
    this.counts = TOP_STATES.map((state, index) => [...this.counts[index]!.slice(isFull ? 1 : 0), counts[state]])
  }

  /** What came before counts no more. */
  clear(): void {
    this.times = []
    this.counts = TOP_STATES.map(() => [])
  }
}

/** Of a recorded trace: all of it, at as many moments. */
export function recordedTrends(lines: readonly (TraceLine | UnknownLine)[], from: number, to: number): Trends {
  const fleet = new Fleet()
  const times = Array.from({ length: POINTS }, (_, index) => from + ((to - from) * index) / (POINTS - 1))
  const counts: number[][] = TOP_STATES.map(() => [])
  let at = 0
  for (const time of times) {
    for (; at < lines.length && timeOf(lines[at]!) <= time; at++) fleet.line(lines[at]!)
    fleet.takeChanges()
    TOP_STATES.forEach((state, index) => counts[index]!.push(fleet.counts[state]))
  }
  return { times: times.map((time) => time / 1000), counts }
}

const timeOf = (line: TraceLine | UnknownLine): number => ("at" in line && typeof line.at === "number" ? line.at : 0)
