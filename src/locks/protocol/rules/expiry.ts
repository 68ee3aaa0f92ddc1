/**
 * Whether another's half is over (rule 6): one pure function of the record, the time in the very answer that showed it,
 * what this process observed, and what its machine said then of the processes that the record names. Never of my own
 * clock's idea of the store's time.
 */
import type { LeaseRecord } from "../../record.ts"
import { isMyOwner, isMyWaiter } from "./standing.ts"
import type { LockConfig, Observation, Remembered, View } from "./state.ts"
import { type Now, surelyElapsed } from "./time.ts"

/** `Date`s are rounded down, and answers of one store may differ. */
const SLACK = 1000
/** No lease is longer, in milliseconds. A time of a stranger that is further ahead counts as none. */
export const LONGEST_TTL: number = 24 * 60 * 60_000

/** What judging takes. */
export interface Sight {
  readonly config: LockConfig
  readonly named: boolean
  readonly view: View
  readonly observedOwner: Observation | undefined
  readonly observedWaiter: Observation | undefined
  readonly observedLine: readonly Observation[]
  readonly now: Now
}

/**
 * Whether the owner's lease is over. If its process has ended, it is; as long as a process group of it lives, it isn't.
 */
export function isOwnerExpired(sight: Sight, record: LeaseRecord): boolean {
  const { config, view, observedOwner: observed, now } = sight
  const half = record.owner
  const { owner: evidence } = view.evidence ?? {}
  // That a process lives says nothing of its lease.
  if (half !== undefined && (evidence === "gone" || evidence === "working")) return evidence === "gone"
  const date = dateFor(config, view, half?.host?.bootId ?? null)
  if (half !== undefined) return halfOver({ ...half, expiresAt: record.expiresAt }, date, observed, now)
  const quiet = Math.max(config.ttl, config.strangerTtl, 3 * (observed?.longestGap ?? 0))
  return (date === undefined || date > record.expiresAt + SLACK) && unchangedFor(observed, quiet, now)
}

/**
 * Whether the owner's half may be as it was created: nothing tells of owners before. Only a create can land after the
 * record was deleted by hand, once more or for the first time. Each other write is conditioned on a version that never
 * comes back.
 */
export const mayBeCreate = ({ owner, past, lastRelease }: LeaseRecord): boolean =>
  owner !== undefined && past === undefined && lastRelease === undefined

/**
 * Whether an owner whose half is over, or left by an attempt of mine, has ended for sure (rule 15). Its half says so
 * unless it may be a create that was brought back. The owner of such a half may have renewed until the record was
 * deleted: it has ended once that half was seen to stand for its ttl.
 */
export function surelyEnded({ view, observedOwner: observed, now }: Sight, { owner, past }: LeaseRecord): boolean {
  if (past !== undefined || view.evidence?.owner === "gone") return true
  return observed !== undefined && surelyElapsed(observed.stood, now) >= (owner?.ttlMs ?? Infinity)
}

/**
 * Whether the waiter's mark is over: past, or never one because its time is none, or that of a process that has ended.
 */
export function isWaiterExpired(sight: Sight, record: LeaseRecord): boolean {
  const { config, view, observedWaiter: observed, now } = sight
  if (record.waiter !== undefined && view.evidence?.waiter === "gone") return true
  const { waiterExpiresAt: end } = record
  const date = dateFor(config, view, record.waiter?.bootId ?? null)
  // One that says no time stands for as long as one of ours would, from when it was first seen.
  if (date === undefined || end === undefined) return unchangedFor(observed, config.waiterTtl, now)
  return date > end + SLACK || end > date + LONGEST_TTL
}

/** What is wrong with the times that others published, if anything is. */
export function timeProblem(sight: Sight, record: LeaseRecord): string | undefined {
  const { config, view } = sight
  const { ownerId, expiresAt, waitingOwnerId, waiterExpiresAt, owner, waiter } = record
  const tooFar = (time: number, bootId: string | null): boolean =>
    time > (dateFor(config, view, bootId) ?? Infinity) + LONGEST_TTL
  // A half of ours with such a time is judged by observation.
  const strange = ownerId !== null && owner === undefined && !isMyOwner(record, sight)
  if (strange && tooFar(expiresAt, null)) return "its owner's time is more than 24 hours ahead"
  const waits = waitingOwnerId !== null && !isMyWaiter(record, sight)
  if (waits && tooFar(waiterExpiresAt ?? 0, waiter?.bootId ?? null))
    return "its waiter's time is more than 24 hours ahead"
  return undefined
}

/** Whether a record that vanished must still be taken for owned: it was seen with a live owner of ours. */
export function stillRemembered(sight: Sight, remembered: Remembered | undefined): boolean {
  if (remembered === undefined || remembered.deletes) return false
  const date = dateFor(sight.config, sight.view, remembered.bootId)
  return !halfOver(remembered, date, remembered, sight.now)
}

function halfOver(
  half: { readonly expiresAt: number; readonly ttlMs: number },
  date: number | undefined,
  observed: Pick<Observation, "since"> | undefined,
  now: Now,
): boolean {
  const ttl = Math.min(half.ttlMs, LONGEST_TTL)
  if (date === undefined || half.expiresAt - date > 2 * ttl) return unchangedFor(observed, ttl, now)
  return date > half.expiresAt + SLACK
}

/** The store's time in the answer, where it means something to a half written under that boot. */
export function dateFor(config: LockConfig, view: View, bootId: string | null): number | undefined {
  if (config.clock === "none" || (config.bootId !== null && config.bootId !== bootId)) return undefined
  return view.storeTime
}

/** Whether a pair was seen unchanged for that long. */
export function unchangedFor(observed: Pick<Observation, "since"> | undefined, ms: number, now: Now): boolean {
  return observed !== undefined && surelyElapsed(observed.since, now) >= ms
}
