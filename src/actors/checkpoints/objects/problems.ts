/**
 * The typed errors about saved state, each with what to do next. Owns the wording; who raises which is decided
 * elsewhere.
 */
import {
  CheckpointInvalidError,
  CheckpointRejectedError,
  CheckpointUnknownError,
  CheckpointVersionError,
  CorruptCheckpointError,
  FormatVersionError,
  LockCancelledError,
  LockError,
  LockLostError,
  StoreMisconfiguredError,
  StoreUnavailableError,
} from "../../../locks/api/errors.ts"
import type { Lease } from "../../../locks/api/lock.ts"
import type { LeaseOrigin } from "../../../locks/stores/identity.ts"
import { headRef } from "./names.ts"
import type { Again } from "./patience.ts"

/** Whose saved state, and where it lies. */
export interface StatePlace {
  /** The checkpoint store's name. */
  readonly store: string
  readonly lockKey: string
  /** The definition's name; without one, any is taken. */
  readonly type?: string
}

const headAt = ({ store, lockKey }: StatePlace): string =>
  `The head of ${lockKey} (${store}, state/${headRef(lockKey).name})`

/** The head can't be read, or isn't this sandbox's. */
export function corruptHead(place: StatePlace, why: string, cause?: unknown): CorruptCheckpointError {
  return new CorruptCheckpointError({
    message: `${headAt(place)} ${why}`,
    next: "Nothing was changed. Put a good copy of that object back, or delete it by hand if the sandbox may start empty",
    key: place.lockKey,
    cause,
  })
}

/** The head names content that isn't there, or isn't what it was. */
export function corruptContent(place: StatePlace, content: string, why: string): CorruptCheckpointError {
  return new CorruptCheckpointError({
    message: `${headAt(place)} names the content ${content}, which ${why}`,
    next: "Put that object back from a backup, or point the head at one of those it keeps; the sandbox never starts empty instead",
    key: place.lockKey,
  })
}

/** The head needs something that this release doesn't know. */
export function unknownNeeds(place: StatePlace, needs: readonly string[]): FormatVersionError {
  return new FormatVersionError({
    message: `${headAt(place)} needs ${needs.join(", ")}, which this release of leasehold doesn't know`,
    next: "Run this sandbox with the newer release that wrote it",
    key: place.lockKey,
    needs,
  })
}

/** The head was written under leases of another store. */
export function foreignLeases(place: StatePlace, theirs: LeaseOrigin, ours: LeaseOrigin): StoreMisconfiguredError {
  const [there, here] =
    theirs.leases === ours.leases
      ? [`another store of that name (${theirs.leasesId})`, `${ours.leases} (${ours.leasesId})`]
      : [theirs.leases, ours.leases]
  return new StoreMisconfiguredError({
    message: `${headAt(place)} was written under leases in ${there}, but this process keeps its leases in ${here}`,
    next: "Use the same lease store everywhere; after moving the leases on purpose, with no process left on the old store, set adoptHeads",
    key: place.lockKey,
  })
}

/** The head was written on a machine whose copy of the lease store this is not. */
export function foreignBoot(place: StatePlace, boot: string, { leases }: LeaseOrigin): StoreMisconfiguredError {
  return new StoreMisconfiguredError({
    message: `${headAt(place)} was written under leases in a copy of ${leases}: no manager ever started on this one under the boot ${boot}`,
    next: "Give all machines one lease store, or each its own checkpoints; where the other copy is gone for good, set adoptHeads",
    key: place.lockKey,
  })
}

/** The state was saved by newer code. */
export function newerVersion(key: string, saved: number, known: number): CheckpointVersionError {
  return new CheckpointVersionError({
    message: `The state of ${key} was saved by version ${saved} of its definition, and this process has version ${known}`,
    next: "Run it in a process with the newer code",
    key,
    saved,
    known,
  })
}

/** Not storable. */
export function invalidCheckpoint(key: string, why: string, next: string, cause?: unknown): CheckpointInvalidError {
  return new CheckpointInvalidError({
    message: `The checkpoint of ${key} can't be stored: ${why}`,
    next: `${next}. The last good checkpoint stays`,
    key,
    cause,
  })
}

/** Fenced, and surely not landed. */
export function rejected(place: StatePlace): CheckpointRejectedError {
  return new CheckpointRejectedError({
    message: `${headAt(place)} belongs to a later owner, and this write didn't land`,
    next: "The lease is lost: stop acting, and restore the sandbox anew to see what the later owner made of it",
    key: place.lockKey,
  })
}

/** Nobody can tell. */
export function unknownFate(place: StatePlace, why: string, cause?: LockError): CheckpointUnknownError {
  return new CheckpointUnknownError({
    message: `Nobody can tell whether this checkpoint of ${place.lockKey} was stored: ${why}`,
    next: "The next owner may see it or the one before; make the work idempotent, or read the state before doing it again",
    key: place.lockKey,
    cause,
  })
}

/** Nothing was stored, and trying again may help. */
export function notReached(place: StatePlace, what: string, cause?: unknown): StoreUnavailableError {
  return new StoreUnavailableError({
    message: `${what} of ${place.lockKey} in ${place.store} didn't succeed within its budget`,
    next: "Nothing was stored by it. Try again, with a longer budget if the store is slow",
    key: place.lockKey,
    cause,
  })
}

/** The caller's signal has aborted. */
export function cancelled(key: string, signal: AbortSignal | undefined): LockCancelledError {
  return new LockCancelledError({
    message: `Getting the saved state of ${key} was cancelled by its caller's signal`,
    next: "Nothing is to be done: whoever aborted the signal wanted this",
    key,
    cause: signal?.reason,
  })
}

/** A typed error for anything that a store, or a lease that isn't ours, threw against its contract. */
export function asLockError(error: unknown, place: StatePlace): LockError {
  return error instanceof LockError ? error : notReached(place, "A request for the saved state", error)
}

/** Rejects for work whose patience is over, with the reason that it met last. */
export function orFail({ error }: Again, place: StatePlace, what: string, signal: AbortSignal | undefined): never {
  if (signal?.aborted) throw cancelled(place.lockKey, signal)
  throw notReached(place, what, error)
}

/** The lease is gone: why, as the lease says. */
export function lossOf(lease: Lease, since: number): LockError {
  const reason: unknown = lease.signal.reason
  if (reason instanceof LockError) return reason
  return new LockLostError({
    message: `The lease of ${lease.key} is lost`,
    next: "Restore the sandbox anew",
    key: lease.key,
    cause: reason,
    reason: "expired",
    since,
  })
}
