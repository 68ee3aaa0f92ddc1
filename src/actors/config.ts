/** Reading options: a value that can't work is an InvalidConfigError that names the option, the value and the way out. */
import { InvalidConfigError } from "../locks/errors.ts"
import { type Duration, durationMillis } from "../runtime/duration.ts"

/** The error for an option; `problem` completes a sentence that begins with the option's name. */
export const badOption = (problem: string, next: string): InvalidConfigError =>
  new InvalidConfigError({ message: problem, next })

/** A duration in milliseconds, at least `atLeast`. */
export const millisOf = (option: string, value: Duration, atLeast = 0): number => {
  const millis = durationMillis(value)
  if (millis === undefined) {
    throw badOption(
      `${option} is ${JSON.stringify(value)}, which is no duration`,
      'Give a finite number of milliseconds that isn\'t negative, or a string such as "30 s"',
    )
  }
  if (millis < atLeast) throw badOption(`${option} is ${millis} ms`, `Give at least ${atLeast} ms`)
  return millis
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
