/**
 * The errors of calls on a lock that the protocol has no part in: they come of this process, its store object or its
 * options. Each is typed and says what to do next.
 */
import {
  InvalidConfigError,
  LockCancelledError,
  LockError,
  LockNotHeldError,
  LockTimeoutError,
  type Owner,
  OwnedElsewhereError,
  StoreUnavailableError,
} from "../api/errors.ts"
import { waitedOf } from "../protocol/rules/budget.ts"
import { named } from "../record.ts"
import type { AcquireSettings } from "./options.ts"

/** The caller's signal ended the wait before anything was sent. */
export function cancelled(key: string): LockCancelledError {
  return new LockCancelledError({
    key,
    message: `The wait for ${JSON.stringify(key)} was cancelled by its signal`,
    next: "Nothing is held; acquire again when it is wanted",
  })
}

/** The owner for which a call queues in this process. */
export interface Ahead {
  /** Undefined where it isn't known. */
  readonly owner: Owner | undefined
  /** The owner is this process. */
  readonly isHere: boolean
}

/** The owner where there are no other processes. */
export const here: Ahead = { owner: undefined, isHere: true }

/** The budget ended in this process's queue. */
export function inUseHere(
  key: string,
  { owner, isHere }: Ahead,
  settings: AcquireSettings,
  waited: number,
): LockTimeoutError {
  const { name: source, change } = settings.budgetSource
  const waitedMs = Math.round(waited)
  const limitMs = settings.budgetMs ?? Infinity
  const other = owner === undefined ? "wanted" : `held by ${named(owner)} and wanted`
  const held = isHere ? "held by this very process" : `${other} by an earlier call of this process`
  return new LockTimeoutError({
    ...{ key, owner, waitedMs, limitMs, source },
    message: `${JSON.stringify(key)} is ${held}; waited ${waitedOf(waitedMs, limitMs, source)}`,
    next: isHere ? `Release it where it is held, or wait longer: ${lowerCase(change)}` : change,
  })
}

const lowerCase = (sentence: string): string => sentence.slice(0, 1).toLowerCase() + sentence.slice(1)

/** This process holds the key, and the caller asked for a report instead of a wait. */
export function heldHere(key: string, owner: Owner | undefined): OwnedElsewhereError {
  return new OwnedElsewhereError({
    key,
    owner,
    message: `${JSON.stringify(key)} is held by this very process`,
    next: "Use the lease that is held, or release it first",
  })
}

/** The lock has no lease: never had one, or has it no more. */
export function notHeld(key: string): LockNotHeldError {
  return new LockNotHeldError({
    key,
    message: `No lease on ${JSON.stringify(key)} is held by this lock`,
    next: "Acquire the key first",
  })
}

/** The error of a store that threw or rejected: a LockError as it is, anything else as a cause. */
export function brokenStore(key: string, store: string, cause: unknown): LockError {
  if (cause instanceof LockError) return cause
  return new StoreUnavailableError({
    key,
    cause,
    message: `The store ${store} failed: ${String(cause)}`,
    next: "Look at the cause; a store must answer, not throw",
  })
}

/** The store went past the deadline of a request. */
export function silentStore(key: string, store: string, deadline: number): StoreUnavailableError {
  return new StoreUnavailableError({
    key,
    message: `The store ${store} did not answer within ${Math.round(deadline)} ms`,
    next: "Check the store and the way to it",
  })
}

/** The store did not start within the budget; `cause` is why its last try failed. */
export function notReady(key: string, store: string, limit: number, cause: LockError | undefined): LockError {
  const why = cause === undefined ? "" : `: ${cause.message}`
  return new StoreUnavailableError({
    key,
    cause,
    message: `The store ${store} did not get ready within ${Math.round(limit)} ms${why}`,
    next: "Check the store and the way to it",
  })
}

/** There is no store to lock on. */
export function noStore(key: string): InvalidConfigError {
  return new InvalidConfigError({
    key,
    message: "The lock was given no store",
    next: "Pass store: gcsStore({ bucket }), fileStore({ directory }) or memoryStore()",
  })
}

/** Two locks of one incarnation on one store have two clocks. They take turns by one. */
export function otherClock(key: string): InvalidConfigError {
  return new InvalidConfigError({
    key,
    message: `Another lock of this process on ${JSON.stringify(key)} has another clock`,
    next: "Give all locks of one incarnation on one store the same clock",
  })
}
