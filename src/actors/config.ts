/** Reading options: a value that can't work is an InvalidConfigError that names the option, the value and the way out. */
import { InvalidConfigError } from "../locks/errors.ts"
import { millis } from "../locks/options.ts"
import type { Duration } from "../runtime/duration.ts"

/** The error for an option; `problem` is a sentence that names it. */
export const badOption = (problem: string, next: string): InvalidConfigError =>
  new InvalidConfigError({ message: problem, next })

/** A duration in milliseconds, at least `atLeast`. */
export const millisOf = (option: string, value: Duration, atLeast = 0): number => {
  const ms = millis(option, value)
  if (ms >= atLeast) return ms
  throw badOption(`${option} is ${ms} ms`, `Give at least ${atLeast} ms`)
}

/** A whole number of at least `atLeast`. */
export const countOf = (option: string, value: unknown, atLeast = 0): number => {
  if (Number.isSafeInteger(value) && (value as number) >= atLeast) return value as number
  throw badOption(`${option} is ${JSON.stringify(value) ?? typeof value}`, `Give a whole number of at least ${atLeast}`)
}

/** That each of these members is a function. */
export const checkFunctions = <A extends object>(owner: A, ...names: readonly (keyof A & string)[]): void => {
  for (const name of names) {
    if (typeof owner[name] !== "function") throw badOption(`${name} is ${typeof owner[name]}`, "Give a function")
  }
}
