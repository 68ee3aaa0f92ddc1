/** Numbers, durations and moments in few characters. Pure, but for the reader's time zone. */
import { timeParts } from "./clock.ts"

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** `850 ms`, `4.2 s`, `3 m 05 s`, `2 h 10 m`, `4 d 3 h`. */
export function duration(ms: number): string {
  const sign = ms < 0 ? "−" : ""
  const left = Math.abs(ms)
  if (left < SECOND) return `${sign}${Math.round(left)} ms`
  if (left < 10 * SECOND) return `${sign}${(Math.floor(left / 100) / 10).toFixed(1)} s`
  if (left < MINUTE) return `${sign}${Math.floor(left / SECOND)} s`
  if (left < HOUR) return `${sign}${Math.floor(left / MINUTE)} m ${two(Math.floor(left / SECOND) % 60)} s`
  if (left < DAY) return `${sign}${Math.floor(left / HOUR)} h ${two(Math.floor(left / MINUTE) % 60)} m`
  return `${sign}${Math.floor(left / DAY)} d ${Math.floor(left / HOUR) % 24} h`
}

/** `18:04:09.120`, of the reader's own time zone. */
export function timeOfDay(at: number): string {
  const parts = timeParts(at)
  if (parts === null) return "?"
  const [hours, minutes, seconds, ms] = parts
  return `${two(hours)}:${two(minutes)}:${two(seconds)}.${String(ms).padStart(3, "0")}`
}

/** `1,234,567`. */
export const count = (value: number): string => value.toLocaleString("en")

/** A rate with as many digits as matter: `0.3`, `12`. */
export const rate = (perSecond: number): string =>
  perSecond < 10 ? perSecond.toFixed(1) : count(Math.round(perSecond))

/** `1 sandbox`, `2 sandboxes`. */
export const plural = (value: number, one: string, many: string = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`

const two = (value: number): string => String(value).padStart(2, "0")
