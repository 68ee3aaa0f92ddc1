/** The error of a call that the command can't make sense of, and how a flag's fault becomes one. */
import { InvalidConfigError } from "../../locks/api/errors.ts"
import { advice, happened } from "./advice.ts"

/** The command was called in a way that it can't make sense of. */
export class UsageError extends Error {
  /** What to do about it. */
  readonly next: string

  constructor(message: string, next: string) {
    super(message)
    this.name = "UsageError"
    this.next = next
  }
}

/** A flag's bad value as a fault of the call, instead of one of a configuration. */
export const usageError = (error: InvalidConfigError): UsageError => new UsageError(happened(error), advice(error))

/** The result of `read`, which reads a flag. Throws UsageError for a bad value. */
export function ofFlag<A>(read: () => A): A {
  try {
    return read()
  } catch (error) {
    return refuseFlag(error)
  }
}

/** Throws the error of reading a flag, as UsageError if the value is bad. */
export function refuseFlag(error: unknown): never {
  throw error instanceof InvalidConfigError ? usageError(error) : error
}
