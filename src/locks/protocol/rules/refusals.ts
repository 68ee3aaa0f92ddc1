/**
 * Why an attempt ends without the key: one typed error each, that says who stands in the way and what to do next.
 */
import {
  CheckpointVersionError,
  InvalidConfigError,
  LockCancelledError,
  LockContentionError,
  type LockError,
  LockTimeoutError,
  OwnedElsewhereError,
  StoreUnavailableError,
} from "../../api/errors.ts"
import { type LeaseRecord, named, ownerOf } from "../../record.ts"
import { waitedOf } from "./budget.ts"
import type { Attempt, Draft, LockState, Seeking, View } from "./state.ts"
import { elapsed } from "./time.ts"

/** The caller's signal ended the wait. */
export function cancelled(draft: Draft): LockCancelledError {
  return new LockCancelledError({
    key: draft.config.key,
    owner: ownerOf(draft.view?.record),
    message: `The wait for ${quoted(draft)} was cancelled by its signal`,
    next: "Nothing is held; acquire again when it is wanted",
  })
}

/** The budget is over: the key was not to be had, or the store told nothing. */
export function timedOut(draft: Draft, phase: Seeking): LockError {
  const { attempt, lastError } = phase
  const { budgetSource, spentMs, queuedMs } = attempt
  const waitedMs = Math.round(elapsed(attempt.startedAt, draft.now))
  const limitMs = attempt.budgetMs ?? Infinity
  const owner = ownerOf(draft.view?.record)
  const details = { key: draft.config.key, owner, cause: lastError }
  if (lastError !== undefined || isSilent(draft, phase)) {
    return new StoreUnavailableError({
      ...details,
      message: `The store gave no usable answer about ${quoted(draft)} within ${waitedMs - Math.round(spentMs)} ms${lastError === undefined ? "" : `: ${lastError.message}`}`,
      next: "Check the store and the way to it, then try again",
    })
  }
  const held = owner === undefined ? "was not to be had" : `is held by ${named(owner)}`
  const queued =
    Math.round(queuedMs) === 0 ? "" : `, ${Math.round(queuedMs)} ms of it before its turn came in this process`
  return new LockTimeoutError({
    ...details,
    waitedMs,
    limitMs,
    source: budgetSource.name,
    message: `${quoted(draft)} ${held}; waited ${waitedOf(waitedMs, limitMs, budgetSource.name)}${queued}`,
    next: budgetSource.change,
  })
}

/**
 * Whether the store is at fault: it was asked, and has said nothing although it had the time to answer. It had none
 * where most of the budget went by before the call's turn came.
 */
function isSilent(draft: Draft, { attempt, heard }: Seeking): boolean {
  if (heard || draft.flight === undefined) return false
  return elapsed(attempt.startedAt, draft.now) > 2 * attempt.spentMs
}

/** Another waits already. */
export function contention(draft: Draft, view: View, waiterId: string): LockContentionError {
  const ends = view.record?.waiterExpiresAt ?? Infinity
  const left = ends - (view.storeTime ?? draft.now.wall)
  const owner = ownerOf(view.record)
  return new LockContentionError({
    key: draft.config.key,
    owner,
    waiterId,
    retryAfterMs: Math.max(1000, Math.min(left, draft.config.waiterTtl)),
    message: `${JSON.stringify(waiterId)} waits already for ${quoted(draft)}, held by ${owner === undefined ? "nobody" : named(owner)}`,
    next: `Try again later, or pass contention: "retry" to wait for a turn within the budget`,
  })
}

/** The key has an owner, and the caller wants to know rather than wait. */
export function elsewhere(draft: Draft, record: LeaseRecord): OwnedElsewhereError {
  const owner = ownerOf(record)
  return new OwnedElsewhereError({
    key: draft.config.key,
    owner,
    message:
      owner === undefined
        ? `${quoted(draft)} is on its way to ${JSON.stringify(record.waitingOwnerId)}`
        : `${quoted(draft)} is owned by ${named(owner)}`,
    next: `Send the work to ${owner?.address ?? "its owner"}, or pass whenOwned: "request" to ask for the key`,
  })
}

/** Two processes that live have one id. */
export function sharedIncarnation(draft: Draft, record: LeaseRecord, half: "owner" | "waiter"): InvalidConfigError {
  const { id } = draft.config
  const owner = ownerOf(record)
  const there = half === "owner" && owner !== undefined ? `${named(owner)} owns` : `${JSON.stringify(id)} waits for`
  return new InvalidConfigError({
    key: draft.config.key,
    owner,
    message: `Another process that is alive has this one's incarnation: there ${there} ${quoted(draft)}`,
    next: "Give each process an incarnation of its own, or none: an id may come again only once its process has ended",
  })
}

/** The owner's state is of a version that this process doesn't know. */
export function tooNew(draft: Draft, record: LeaseRecord, attempt: Attempt): CheckpointVersionError {
  const saved = record.owner?.stateVersion ?? 0
  const known = attempt.stateVersion ?? 0
  return new CheckpointVersionError({
    key: draft.config.key,
    owner: ownerOf(record),
    saved,
    known,
    message: `${quoted(draft)} runs version ${saved} at its owner; this process knows version ${known}`,
    next: "Leave the key to newer processes, or deploy the newer definition here",
  })
}

const quoted = ({ config }: Pick<LockState, "config">): string => JSON.stringify(config.key)
