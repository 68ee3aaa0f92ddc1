/** Round moments on the axis of time. Pure. */
import { timeOfDay } from "../look/format.ts"
import type { SpanTimes } from "./span.ts"

/** One of them. */
export interface Tick {
  readonly at: number
  readonly text: string
}

/** In CSS pixels: two texts side by side stay apart. */
const APART = 92

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** In milliseconds: what people count in. */
const STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, SECOND, 2 * SECOND, 5 * SECOND, 10 * SECOND, 20 * SECOND, 30 * SECOND],
  ...[MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR],
]

/** Moments between two times, for a drawing of this width. With an origin they are seconds from it. */
export function axisTicks({ from, to }: SpanTimes, width: number, origin: number | null): readonly Tick[] {
  const wanted = ((to - from) * APART) / Math.max(APART, width)
  const step = STEPS.find((each) => each >= wanted) ?? 24 * HOUR * Math.ceil(wanted / (24 * HOUR))
  const zero = origin ?? 0
  const ticks: Tick[] = []
  for (let at = zero + Math.ceil((from - zero) / step) * step; at <= to; at += step) {
    const text = origin === null ? timeOfDay(at).slice(0, step < SECOND ? 12 : 8) : seconds(at - origin)
    ticks.push({ at, text })
  }
  return ticks
}

const seconds = (ms: number): string => `${Number((ms / SECOND).toFixed(3))} s`
