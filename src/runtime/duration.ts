/**
 * Durations as the API takes them. Owns the syntax only: what to do with a bad one (and the typed error that says so)
 * is the caller's, who knows which option it was.
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
