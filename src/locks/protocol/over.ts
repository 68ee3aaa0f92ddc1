/**
 * Whether another's half is over (rule 6): one pure function of the record, the time in the very answer that showed it,
 * what this process observed, and what its machine said then of the processes that the record names. Never of my own
 * clock's idea of the store's time.
 */
import type { LeaseRecord } from "../record.ts"
import type { LockConfig, Observation, Remembered, View } from "./state.ts"
import { type Now, surelyElapsed } from "./time.ts"

/** `Date`s are rounded down, and answers of one store may differ. */
const SLACK = 1000
/** Tokens are rounded down, and times to the nearest. */
const ROUNDED = 1
/** No lease is longer; a stranger's time beyond it is no time. */
const LONGEST = 24 * 60 * 60_000

/** What judging takes. */
export interface Sight {
  readonly config: LockConfig
  readonly view: View
  readonly observedOwner: Observation | undefined
  readonly observedWaiter: Observation | undefined
  readonly now: Now
}

/** Whether the owner's lease is over. Of one that has ended, it is; of one whose process groups live, it never is. */
export function ownerOver(sight: Sight, record: LeaseRecord): boolean {
  const { config, view, observedOwner: observed, now } = sight
  const half = record.owner
  if (half !== undefined && view.evidence?.owner !== undefined) return view.evidence.owner === "gone"
  const date = dateFor(config, view, half?.host?.bootId ?? null)
  if (half !== undefined) {
    const late = neverRenewed(record) && !unchangedFor(observed, half.ttlMs, now)
    return !late && halfOver({ ...half, expiresAt: record.expiresAt }, date, observed, now)
  }
  const quiet = Math.max(config.ttl, config.strangerTtl, 3 * (observed?.longestGap ?? 0))
  return (date === undefined || date > record.expiresAt + SLACK) && unchangedFor(observed, quiet, now)
}

/**
 * Whether the record is as it was created. Of all writes a create alone can land late, once more or for the first time, when
 * somebody deleted the record by hand: what it says is then of the past, and whose record was deleted may own yet, for a ttl.
 */
export function neverRenewed({ began, owner, expiresAt }: LeaseRecord): boolean {
  return owner !== undefined && began === owner.token && expiresAt - owner.ttlMs <= began + ROUNDED
}

/**
 * Whether the record is a create to the letter: nobody has written since. Seen as another version of what was seen before, it
 * was brought back.
 */
export function asCreated(record: LeaseRecord): boolean {
  const { began = Infinity, writtenAt = Infinity, waitingOwnerId } = record
  return neverRenewed(record) && waitingOwnerId === null && writtenAt <= began + ROUNDED
}

/** Whether the waiter's mark is over: past, or never one because its time is none, or that of a process that has ended. */
export function waiterOver(sight: Sight, record: LeaseRecord): boolean {
  const { config, view, observedWaiter: observed, now } = sight
  if (record.waiter !== undefined && view.evidence?.waiter === "gone") return true
  const date = dateFor(config, view, record.waiter?.bootId ?? null)
  if (date === undefined) return unchangedFor(observed, config.waiterTtl, now)
  return date > record.waiterExpiresAt + SLACK || record.waiterExpiresAt > date + LONGEST
}

/** What is wrong with the times that others published, if anything is. */
export function timeProblem({ config, view }: Sight, record: LeaseRecord): string | undefined {
  const { ownerId, expiresAt, waitingOwnerId, waiterExpiresAt, owner, waiter } = record
  const tooFar = (time: number, bootId: string | null): boolean =>
    time > (dateFor(config, view, bootId) ?? Infinity) + LONGEST
  // A half of ours with such a time is judged by observation.
  const strange = ownerId !== null && ownerId !== config.id && owner === undefined
  if (strange && tooFar(expiresAt, null)) return "its owner's time is more than 24 hours ahead"
  const waits = waitingOwnerId !== null && waitingOwnerId !== config.id
  if (waits && tooFar(waiterExpiresAt, waiter?.bootId ?? null)) return "its waiter's time is more than 24 hours ahead"
  return undefined
}

/** Whether a record that vanished must still be taken for owned: it was seen with a live owner of ours. */
export function stillRemembered(sight: Sight, remembered: Remembered | undefined): boolean {
  if (remembered === undefined || remembered.deletes) return false
  const date = dateFor(sight.config, sight.view, remembered.bootId)
  return !halfOver(remembered, date, sight.observedOwner, sight.now)
}

function halfOver(
  half: { readonly expiresAt: number; readonly ttlMs: number },
  date: number | undefined,
  observed: Observation | undefined,
  now: Now,
): boolean {
  const ttl = Math.min(half.ttlMs, LONGEST)
  if (date === undefined || half.expiresAt - date > 2 * ttl) return unchangedFor(observed, ttl, now)
  return date > half.expiresAt + SLACK
}

/** The store's time in the answer, where it means something to a half written under that boot. */
function dateFor(config: LockConfig, view: View, bootId: string | null): number | undefined {
  if (config.clock === "none" || (config.bootId !== null && config.bootId !== bootId)) return undefined
  return view.storeTime
}

function unchangedFor(observed: Observation | undefined, ms: number, now: Now): boolean {
  return observed !== undefined && surelyElapsed(observed.since, now) >= ms
}
