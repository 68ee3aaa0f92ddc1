/**
 * What a public call may be told, checked in one place. An option that nobody reads, and a value that can't work, are
 * InvalidConfigErrors that name the option, the value and the way out; none becomes a default. Absent is undefined, not
 * null.
 *
 * Not promised: that options which are good alone are good together. The caller that reads them knows that.
 */
import { InvalidConfigError } from "../errors.ts"
import { type Duration, durationMillis } from "./duration.ts"

/** Throws InvalidConfigError for a value that the option, or the argument, of this name can't have. */
export type OptionCheck = (name: string, value: unknown) => void

/** Every option of a call with the check of its value; `true` where the value is checked by what reads it. */
export type OptionChecks<Options> = Readonly<Record<keyof Options, OptionCheck | true>>

/** A value as errors name it. Never throws, and tells NaN from null. */
export function shown(value: unknown): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value.length > LONGEST_SHOWN ? `${value.slice(0, LONGEST_SHOWN)}…` : value)
    case "bigint":
      return `${value}n`
    case "symbol":
      return "a symbol"
    case "function":
      return "a function"
    case "object":
      return value === null ? "null" : Array.isArray(value) ? "an array" : "an object"
    case "boolean":
    case "number":
    case "undefined":
      return String(value)
  }
}

/** In characters: an error is a sentence. */
const LONGEST_SHOWN = 80

/** The error for an option, or an argument. `message` names it. */
export const refusal = (message: string, next: string): InvalidConfigError => new InvalidConfigError({ message, next })

/**
 * Refuses what is no options, an option that nobody reads, a value that its option can't have, and a required one's
 * absence.
 */
export function refuseUnknown(
  what: string,
  given: object,
  known: Readonly<Record<string, OptionCheck | true>>,
  required: readonly string[] = [],
): void {
  if (!isRecord(given)) {
    const some = Object.keys(known).join(", ")
    throw refusal(`The options of ${what} are ${shown(given)}`, `Give an object with some of ${some}, or leave it out`)
  }
  for (const [name, value] of Object.entries(given)) {
    const check = Object.hasOwn(known, name) ? known[name] : undefined
    if (check === undefined)
      throw refusal(`${name} is no option of ${what}`, `Use some of ${Object.keys(known).join(", ")}`)
    if (check !== true && value !== undefined) check(name, value)
  }
  for (const name of required) {
    const check = known[name]
    if (typeof check === "function" && given[name] === undefined) check(name, undefined)
  }
}

const isRecord = (given: unknown): given is Readonly<Record<string, unknown>> =>
  typeof given === "object" && given !== null && !Array.isArray(given)

/** A duration in milliseconds, or the error that says what one is. */
export function millis(name: string, duration: Duration): number {
  const ms = durationMillis(duration)
  if (ms !== undefined) return ms
  throw refusal(
    `${name} is ${shown(duration)}, which is no duration`,
    `Give ${name} as milliseconds, 0 or more, or as text such as "30 s" (units ms, s, min, h)`,
  )
}

/** One of the values that an option can have. */
export function oneOf<A extends string>(name: string, value: A, values: readonly A[]): A {
  if (values.includes(value)) return value
  throw refusal(`${name} is ${shown(value)}`, `Use one of ${values.map((each) => JSON.stringify(each)).join(", ")}`)
}

/** A duration. */
export const aDuration: OptionCheck = (name, value) => void millis(name, value as Duration)

/** A duration, or "infinite". */
export const aWait: OptionCheck = (name, value) => {
  if (value !== "infinite") aDuration(name, value)
}

/** One of these texts. */
export const one =
  (...values: readonly string[]): OptionCheck =>
  (name, value) =>
    void oneOf(name, value as string, values)

/** A function. */
export const aFunction: OptionCheck = (name, value) => {
  if (typeof value !== "function") throw refusal(`${name} is ${shown(value)}`, "Give a function")
}

/** True or false. */
export const aFlag: OptionCheck = (name, value) => {
  if (typeof value !== "boolean") throw refusal(`${name} is ${shown(value)}`, "Give true or false")
}

/** A text with something in it. */
export const aText: OptionCheck = (name, value) => {
  if (typeof value !== "string" || value === "") throw refusal(`${name} is ${shown(value)}`, "Give a text")
}

/** A finite number. */
export const aNumber: OptionCheck = (name, value) => {
  if (typeof value !== "number" || !Number.isFinite(value)) throw refusal(`${name} is ${shown(value)}`, "Give a number")
}

/** A whole number of at least `least`. */
export const aCount =
  (least: number): OptionCheck =>
  (name, value) => {
    if (Number.isSafeInteger(value) && (value as number) >= least) return
    throw refusal(`${name} is ${shown(value)}`, `Give a whole number of at least ${least}`)
  }

/** A number from `least` to `most`. */
export const between =
  (least: number, most: number): OptionCheck =>
  (name, value) => {
    if (typeof value === "number" && value >= least && value <= most) return
    throw refusal(`${name} is ${shown(value)}`, `Give a number from ${least} to ${most}`)
  }

/** A list. */
export const aList: OptionCheck = (name, value) => {
  if (!Array.isArray(value)) throw refusal(`${name} is ${shown(value)}`, "Give an array")
}

/** A promise, or what can be waited for like one. */
export const aPromise: OptionCheck = (name, value) => {
  if (!hasMethods(value, ["then"])) throw refusal(`${name} is ${shown(value)}, which is no promise`, "Give a promise")
}

/** An AbortSignal, of whatever realm. */
export const aSignal: OptionCheck = (name, value) => {
  if (hasMethods(value, ["addEventListener", "removeEventListener", "throwIfAborted"])) return
  throw refusal(`${name} is ${shown(value)}, which is no AbortSignal`, "Pass the signal of an AbortController")
}

/** An object with these methods; `next` says what to give. */
export const anObject =
  (next: string, ...methods: readonly string[]): OptionCheck =>
  (name, value) => {
    if (!hasMethods(value, methods)) throw refusal(`${name} is ${shown(value)}`, next)
  }

/** A Clock. */
export const aClock: OptionCheck = anObject(
  "Give a Clock, such as a VirtualTime of leasehold/testing, or leave it out for this process's own",
  ...["read", "mono", "random", "id", "after", "soon"],
)

const hasMethods = (value: unknown, methods: readonly string[]): boolean =>
  isRecord(value) && methods.every((name) => typeof value[name] === "function")
