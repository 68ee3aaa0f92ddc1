/**
 * Every error that leasehold raises. Each has a literal `_tag` for Effect's `catchTag`, a stable `code`, whether the
 * same call may succeed later, and a sentence that says what to do next. A foreign error is never thrown to a caller as
 * it is: it is the `cause` of one of these. Owns no behaviour: which is raised when is decided elsewhere.
 */

import { type ErrorDetails, LockError } from "../../runtime/errors.ts"

export { type ErrorDetails, InvalidConfigError, LockError, type Owner } from "../../runtime/errors.ts"

/**
 * The budget of a wait is over. Nothing is held. A mark that the wait left in the store is erased in the background,
 * within 30 s where the store answers. Else the mark expires.
 */
export class LockTimeoutError extends LockError {
  readonly _tag = "LockTimeoutError" as const
  readonly code = "LEASEHOLD_TIMEOUT" as const
  readonly retryable = true as const
  /** How long the call waited, in milliseconds. */
  readonly waitedMs: number
  /** The budget, in milliseconds. */
  readonly limitMs: number
  /** Where the budget came from: `timeout`, a default, a flag. */
  readonly source: string

  constructor(details: ErrorDetails & { waitedMs: number; limitMs: number; source: string }) {
    super(details)
    this.waitedMs = details.waitedMs
    this.limitMs = details.limitMs
    this.source = details.source
  }
}

/** `contention: "fail"`: another process waits for the key already. */
export class LockContentionError extends LockError {
  readonly _tag = "LockContentionError" as const
  readonly code = "LEASEHOLD_CONTENTION" as const
  readonly retryable = true as const
  /** Who waits. */
  readonly waiterId: string
  /** When to try again, in milliseconds from now. */
  readonly retryAfterMs: number

  constructor(details: ErrorDetails & { waiterId: string; retryAfterMs: number }) {
    super(details)
    this.waiterId = details.waiterId
    this.retryAfterMs = details.retryAfterMs
  }
}

/** `whenOwned: "report"`: the key has an owner, and this call doesn't ask it to leave. */
export class OwnedElsewhereError extends LockError {
  readonly _tag = "OwnedElsewhereError" as const
  readonly code = "LEASEHOLD_ELSEWHERE" as const
  readonly retryable = true as const
}

/**
 * The caller's `AbortSignal` ended the wait. Nothing is held. A mark of the wait is erased before the call rejects, for
 * which it waits 5 s at most, and no longer than its budget. Else it is erased in the background, as after a timeout.
 */
export class LockCancelledError extends LockError {
  readonly _tag = "LockCancelledError" as const
  readonly code = "LEASEHOLD_CANCELLED" as const
  readonly retryable = false as const
}

/** How a lease was lost. */
export type LossReason = "expired" | "taken" | "deleted" | "released" | "corrupt" | "strict" | "fault"

/** The lease ended without a release: since then another may have acted on the key at the same time. */
export class LockLostError extends LockError {
  readonly _tag = "LockLostError" as const
  readonly code = "LEASEHOLD_LOST" as const
  readonly retryable = false as const
  /** How it was lost. */
  readonly reason: LossReason
  /** Unix milliseconds of this process's clock. */
  readonly since: number

  constructor(details: ErrorDetails & { reason: LossReason; since: number }) {
    super(details)
    this.reason = details.reason
    this.since = details.since
  }
}

/** A call needs a lease, and none is held. */
export class LockNotHeldError extends LockError {
  readonly _tag = "LockNotHeldError" as const
  readonly code = "LEASEHOLD_NOT_HELD" as const
  readonly retryable = false as const
}

/** The sandbox is leaving this process. A new use has to find it where it goes. */
export class HandingOffError extends LockError {
  readonly _tag = "HandingOffError" as const
  readonly code = "LEASEHOLD_HANDING_OFF" as const
  readonly retryable = true as const
}

/**
 * A call from inside a turn of a sandbox, or a section on a key, would wait for that turn or section to end: for
 * itself.
 */
export class ReentrantLockError extends LockError {
  readonly _tag = "ReentrantLockError" as const
  readonly code = "LEASEHOLD_REENTRANT" as const
  readonly retryable = false as const
}

/** The key can't name anything. */
export class InvalidKeyError extends LockError {
  readonly _tag = "InvalidKeyError" as const
  readonly code = "LEASEHOLD_KEY" as const
  readonly retryable = false as const
}

/** The manager was not told of this sandbox definition. */
export class UnknownDefinitionError extends LockError {
  readonly _tag = "UnknownDefinitionError" as const
  readonly code = "LEASEHOLD_DEFINITION" as const
  readonly retryable = false as const
}

/** The manager takes no new work: it is cordoned, draining or closed. */
export class ManagerClosedError extends LockError {
  readonly _tag = "ManagerClosedError" as const
  readonly code = "LEASEHOLD_CLOSED" as const
  readonly retryable = false as const
  /** What it was when asked. */
  readonly state: "cordoned" | "draining" | "closed"

  constructor(details: ErrorDetails & { state: "cordoned" | "draining" | "closed" }) {
    super(details)
    this.state = details.state
  }
}

/** The store didn't answer, or answered that it can't serve now. */
export class StoreUnavailableError extends LockError {
  readonly _tag = "StoreUnavailableError" as const
  readonly code = "LEASEHOLD_STORE" as const
  readonly retryable = true as const
  /** The HTTP status or errno name, where there was one. */
  readonly status?: number | string

  constructor(details: ErrorDetails & { status?: number | string }) {
    super(details)
    if (details.status !== undefined) this.status = details.status
  }
}

/** The store can't be used as it is set up: no bucket, no permission, preconditions ignored, a read-only directory. */
export class StoreMisconfiguredError extends LockError {
  readonly _tag = "StoreMisconfiguredError" as const
  readonly code = "LEASEHOLD_STORE_CONFIG" as const
  readonly retryable = false as const
  /** The HTTP status or errno name, where there was one. */
  readonly status?: number | string

  constructor(details: ErrorDetails & { status?: number | string }) {
    super(details)
    if (details.status !== undefined) this.status = details.status
  }
}

/** The object of the key is not a lease record. The key never counts as free then. */
export class CorruptRecordError extends LockError {
  readonly _tag = "CorruptRecordError" as const
  readonly code = "LEASEHOLD_CORRUPT" as const
  readonly retryable = false as const
}

/** The record, head or trace needs a feature that this release doesn't know. */
export class FormatVersionError extends LockError {
  readonly _tag = "FormatVersionError" as const
  readonly code = "LEASEHOLD_FORMAT" as const
  readonly retryable = false as const
  /** The entries of `needs` that are not known here, or the version of the trace. */
  readonly needs: readonly string[]

  constructor(details: ErrorDetails & { needs: readonly string[] }) {
    super(details)
    this.needs = details.needs
  }
}

/**
 * What leasehold knows of a key can't be: a fault of its own, or of a store that answers with what is no time. The key
 * is given up at once, a lease on it is lost, and nothing more is written for it.
 */
export class ProtocolFaultError extends LockError {
  readonly _tag = "ProtocolFaultError" as const
  readonly code = "LEASEHOLD_FAULT" as const
  readonly retryable = false as const
}

/** The result of `checkpoint` can't be stored: the schema refuses it, JSON changes it, or it is over the cap. */
export class CheckpointInvalidError extends LockError {
  readonly _tag = "CheckpointInvalidError" as const
  readonly code = "LEASEHOLD_CHECKPOINT_INVALID" as const
  readonly retryable = false as const
}

/** Fenced: the head belongs to a later owner, and this write surely wasn't applied. */
export class CheckpointRejectedError extends LockError {
  readonly _tag = "CheckpointRejectedError" as const
  readonly code = "LEASEHOLD_CHECKPOINT_REJECTED" as const
  readonly retryable = false as const
}

/** It isn't known whether this write was applied: the next owner may see it. */
export class CheckpointUnknownError extends LockError {
  readonly _tag = "CheckpointUnknownError" as const
  readonly code = "LEASEHOLD_CHECKPOINT_UNKNOWN" as const
  readonly retryable = false as const
}

/** A drain ended, and the last state of some sandboxes isn't known to be stored. */
export class StatesUnsavedError extends LockError {
  readonly _tag = "StatesUnsavedError" as const
  readonly code = "LEASEHOLD_UNSAVED" as const
  readonly retryable = false as const
  /** How many there are. */
  readonly count: number
  /** The lock keys of the first of them, ten at most. */
  readonly keys: readonly string[]

  constructor(details: ErrorDetails & { count: number; keys: readonly string[] }) {
    super(details)
    this.count = details.count
    this.keys = details.keys
  }
}

/** The saved state was written by a newer version of the definition than this process has. */
export class CheckpointVersionError extends LockError {
  readonly _tag = "CheckpointVersionError" as const
  readonly code = "LEASEHOLD_VERSION" as const
  readonly retryable = false as const
  /** The version that wrote the state. */
  readonly saved: number
  /** The version that this process has. */
  readonly known: number

  constructor(details: ErrorDetails & { saved: number; known: number }) {
    super(details)
    this.saved = details.saved
    this.known = details.known
  }
}

/** Saved state that can't be read: wrong checksum, missing content, another sandbox's, refused by the schema. */
export class CorruptCheckpointError extends LockError {
  readonly _tag = "CorruptCheckpointError" as const
  readonly code = "LEASEHOLD_CHECKPOINT_CORRUPT" as const
  readonly retryable = false as const
}

/** `durable`: the use ran, but its effect may not be stored. */
export class NotDurableError extends LockError {
  readonly _tag = "NotDurableError" as const
  readonly code = "LEASEHOLD_NOT_DURABLE" as const
  readonly retryable = false as const
}

/**
 * A hook of a sandbox ran over its limit. Its signal has aborted by then, and its sandbox keeps the lease until the
 * hook has really ended: what it does meanwhile nobody else does.
 */
export class HookOverrunError extends LockError {
  readonly _tag = "HookOverrunError" as const
  readonly code = "LEASEHOLD_HOOK_OVERRUN" as const
  readonly retryable = true as const
  /** Which hook: `restore`, `run`, `turn`, `use`, `checkpoint`, `close`, `migrate`, `schema` or `codec`. */
  readonly hook: string
  /** The option of the manager that limits it. */
  readonly option: string
  /** The limit, in milliseconds. */
  readonly limitMs: number

  constructor(details: ErrorDetails & { hook: string; option: string; limitMs: number }) {
    super(details)
    this.hook = details.hook
    this.option = details.option
    this.limitMs = details.limitMs
  }
}

/** A text is no trace: its `line` is none. */
export class TraceFormatError extends LockError {
  readonly _tag = "TraceFormatError" as const
  readonly code = "LEASEHOLD_TRACE" as const
  readonly retryable = false as const
  /** Which line, from 1. */
  readonly line: number

  constructor(details: ErrorDetails & { line: number }) {
    super(details)
    this.line = details.line
  }
}

/**
 * A live trace can't be written: the disk is full, or the path can't be used. The manager goes on, and it is tried
 * again.
 */
export class TraceWriteError extends LockError {
  readonly _tag = "TraceWriteError" as const
  readonly code = "LEASEHOLD_TRACE_WRITE" as const
  readonly retryable = true as const
}
