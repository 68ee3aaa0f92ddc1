/**
 * Reading options that have bounds: what can't work is an InvalidConfigError that names the option, the value and the
 * way out.
 */
import type { Duration } from "./duration.ts"
import { aCount, type OptionCheck, millis, refusal } from "./options.ts"

/** A duration in milliseconds, at least `atLeast`. */
export const millisOf = (option: string, value: Duration, atLeast = 0): number => {
  const ms = millis(option, value)
  if (ms >= atLeast) return ms
  throw refusal(`${option} is ${ms} ms`, `Give at least ${atLeast} ms`)
}

/** A duration of at least so many milliseconds. */
export const lasting =
  (atLeast: number): OptionCheck =>
  (name, value) =>
    void millisOf(name, value as Duration, atLeast)

/** A whole number of at least `atLeast`. */
export const countOf = (option: string, value: unknown, atLeast = 0): number => {
  aCount(atLeast)(option, value)
  return value as number
}
