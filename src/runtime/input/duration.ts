/**
 * Durations as the API takes them, and as people read them. Owns the syntax only: what to do with a bad one (and the
 * typed error that says so) is the caller's, who knows which option it was.
 */

/** A bare number is milliseconds. (Flags, environment and configuration files count in seconds.) */
export type Duration = number | `${number} ${"ms" | "s" | "min" | "h"}`

const unitMillis: Readonly<Record<string, number>> = { ms: 1, s: 1000, min: 60_000, h: 3_600_000 }
const syntax = /^(\d+(?:\.\d+)?) (ms|s|min|h)$/

/** The duration in milliseconds; undefined when it is NaN, negative, infinite or malformed. */
export const durationMillis = (duration: Duration): number | undefined => {
  const millis = typeof duration === "number" ? duration : parse(duration)
  return Number.isFinite(millis) && millis >= 0 ? millis : undefined
}

const parse = (text: unknown): number => {
  const [, amount, unit] = (typeof text === "string" && syntax.exec(text)) || []
  return amount === undefined || unit === undefined ? NaN : Number(amount) * unitMillis[unit]!
}

/** A duration for people, in its two largest units, rounded down: `12 s`, `2 min 5 s`, `1 h 3 min`, `4 d 0 h`. */
export const durationText = (ms: number): string => {
  const seconds = Math.floor(ms / 1000)
  const minutes = Math.floor(seconds / 60)
  const hours = Math.floor(minutes / 60)
  if (minutes === 0) return `${seconds} s`
  if (hours === 0) return `${minutes} min ${seconds % 60} s`
  return hours < 24 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`
}
