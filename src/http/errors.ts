/**
 * Errors as data, and back. Owns which classes cross as what they are; any other becomes a CallRouteError that says the
 * same. Nothing but texts and numbers crosses, never a stack.
 */
import {
  CallAnswerForgottenError,
  CallDateError,
  CallIdReusedError,
  CallInputError,
  CallRouteError,
  CallTooOldError,
  OverloadedError,
  UnknownCallError,
} from "../actors/api/call-errors.ts"
import {
  CorruptCheckpointError,
  InvalidConfigError,
  InvalidKeyError,
  type LockError,
  LockTimeoutError,
  ReentrantLockError,
  StoreUnavailableError,
  UnknownDefinitionError,
} from "../locks/api/errors.ts"

/** An error that crosses. */
export interface ErrorData {
  readonly tag: string
  readonly message: string
  readonly next: string
  readonly key: string
  /** Of its class, beside those of every error. */
  readonly fields: Readonly<Record<string, string | number>>
}

interface Crossing {
  readonly make: (details: never) => LockError
  /** What its class has beside every error. */
  readonly fields?: readonly string[]
}

const crossing: Readonly<Record<string, Crossing>> = {
  CallAnswerForgottenError: { make: (details) => new CallAnswerForgottenError(details) },
  CallDateError: { make: (details) => new CallDateError(details), fields: ["storeTime"] },
  CallIdReusedError: { make: (details) => new CallIdReusedError(details) },
  CallInputError: { make: (details) => new CallInputError(details) },
  CallTooOldError: { make: (details) => new CallTooOldError(details), fields: ["sentAt", "forgottenUntil"] },
  CorruptCheckpointError: { make: (details) => new CorruptCheckpointError(details) },
  InvalidConfigError: { make: (details) => new InvalidConfigError(details) },
  InvalidKeyError: { make: (details) => new InvalidKeyError(details) },
  LockTimeoutError: { make: (details) => new LockTimeoutError(details), fields: ["waitedMs", "limitMs", "source"] },
  OverloadedError: { make: (details) => new OverloadedError(details) },
  ReentrantLockError: { make: (details) => new ReentrantLockError(details) },
  StoreUnavailableError: { make: (details) => new StoreUnavailableError(details) },
  UnknownCallError: { make: (details) => new UnknownCallError(details) },
  UnknownDefinitionError: { make: (details) => new UnknownDefinitionError(details) },
}

/** What crosses of an error. */
export function errorData(error: LockError): ErrorData {
  const { _tag: tag, message, next, key } = error
  const names = Object.hasOwn(crossing, tag) ? (crossing[tag]!.fields ?? []) : []
  const fields = names.map((name) => [name, (error as unknown as Record<string, string | number>)[name]!] as const)
  return { tag, message: withoutNext(message, next), next, key, fields: Object.fromEntries(fields) }
}

/** The error that crossed; undefined where the data is none. */
export function errorOf(data: unknown): LockError | undefined {
  const { tag, message, next, key, fields } = Object(data) as Partial<Record<keyof ErrorData, unknown>>
  if (typeof tag !== "string" || typeof message !== "string" || typeof next !== "string" || typeof key !== "string")
    return undefined
  const kind = Object.hasOwn(crossing, tag) ? crossing[tag] : undefined
  const more = Object(fields) as Record<string, unknown>
  const own = (kind?.fields ?? []).map((name) => [name, more[name]] as const)
  if (own.some(([, value]) => typeof value !== "string" && typeof value !== "number")) return undefined
  const details = { message, next, key, ...Object.fromEntries(own) }
  return kind === undefined
    ? new CallRouteError({ ...details, message: `The owner refuses the call (${tag}): ${message}` })
    : kind.make(details as never)
}

/** An error's message ends with what to do next, which is told apart. */
const withoutNext = (message: string, next: string): string =>
  message.endsWith(`. ${next}.`) ? message.slice(0, -next.length - 3) : message
