/**
 * The errors of calls. Like all of leasehold's, each has a literal `_tag`, a stable `code`, and says what to do next.
 * Owns no behaviour: which is raised when is decided elsewhere.
 */
import { type ErrorDetails, LockError } from "../../runtime/errors.ts"

/** The definition has no call of that name. A worker of another version may lack it. */
export class UnknownCallError extends LockError {
  readonly _tag = "UnknownCallError" as const
  readonly code = "LEASEHOLD_CALL" as const
  readonly retryable = false as const
}

/** The input of a call can't be taken: its schema refuses it, or JSON changes it. Nothing has happened. */
export class CallInputError extends LockError {
  readonly _tag = "CallInputError" as const
  readonly code = "LEASEHOLD_CALL_INPUT" as const
  readonly retryable = false as const
}

/** The id of a durable call belongs to a call with another name or input. Nothing has happened. */
export class CallIdReusedError extends LockError {
  readonly _tag = "CallIdReusedError" as const
  readonly code = "LEASEHOLD_CALL_ID" as const
  readonly retryable = false as const
}

/** A durable call is older than what its sandbox remembers: nobody can tell whether it was applied. It wasn't now. */
export class CallTooOldError extends LockError {
  readonly _tag = "CallTooOldError" as const
  readonly code = "LEASEHOLD_CALL_OLD" as const
  readonly retryable = false as const
  /** The store's time of its first send, in Unix milliseconds. */
  readonly sentAt: number
  /** Calls sent by then may be forgotten, in Unix milliseconds of the store's time. */
  readonly forgottenUntil: number

  constructor(details: ErrorDetails & { sentAt: number; forgottenUntil: number }) {
    super(details)
    this.sentAt = details.sentAt
    this.forgottenUntil = details.forgottenUntil
  }
}

/** Too many calls wait for a sandbox. Nothing has happened. */
export class OverloadedError extends LockError {
  readonly _tag = "OverloadedError" as const
  readonly code = "LEASEHOLD_OVERLOADED" as const
  readonly retryable = true as const
}

/**
 * A call had begun, and nobody knows how it ended: its sandbox was lost, its effect may not be stored, or its caller
 * waits no longer. `cause` says which. A durable call has the `id` and `sentAt` by which a repetition is known.
 */
export class CallUnknownError extends LockError {
  readonly _tag = "CallUnknownError" as const
  readonly code = "LEASEHOLD_CALL_UNKNOWN" as const
  readonly retryable = false as const
  /** Undefined where the call isn't durable. */
  readonly id: string | undefined
  /** In Unix milliseconds of the store's time; undefined where the call isn't durable. */
  readonly sentAt: number | undefined

  constructor(details: ErrorDetails & { id: string | undefined; sentAt: number | undefined }) {
    super(details)
    this.id = details.id
    this.sentAt = details.sentAt
  }
}

/** A durable call is dated more than 10 s after the store's time. Nothing has happened. */
export class CallDateError extends LockError {
  readonly _tag = "CallDateError" as const
  readonly code = "LEASEHOLD_CALL_DATE" as const
  readonly retryable = false as const
  /** In Unix milliseconds. */
  readonly storeTime: number

  constructor(details: ErrorDetails & { storeTime: number }) {
    super(details)
    this.storeTime = details.storeTime
  }
}

/** The repetition of a durable call whose answer was too large to be remembered. The call had its effect once. */
export class CallAnswerForgottenError extends LockError {
  readonly _tag = "CallAnswerForgottenError" as const
  readonly code = "LEASEHOLD_CALL_ANSWER" as const
  readonly retryable = false as const
}

/**
 * A call can't be sent to the owner of its sandbox: its address is none, isn't allowed, or answers as no worker of this
 * fleet does. It had no effect.
 */
export class CallRouteError extends LockError {
  readonly _tag = "CallRouteError" as const
  readonly code = "LEASEHOLD_CALL_ROUTE" as const
  readonly retryable = false as const
}

/** The handler of a call threw. */
export class CallThrewError extends LockError {
  readonly _tag = "CallThrewError" as const
  readonly code = "LEASEHOLD_CALL_THREW" as const
  readonly retryable = false as const
  /** What it threw, as data: it may have been thrown in another process. */
  readonly thrown: { readonly name: string; readonly message: string; readonly code: string | undefined }

  constructor(details: ErrorDetails & { thrown: CallThrewError["thrown"] }) {
    super(details)
    this.thrown = details.thrown
  }
}
