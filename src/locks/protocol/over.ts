/**
 * Whether another's half is over (rule 6): one pure function of the record, the time in the very answer that showed it,
 * and what this process observed. Never of my own clock's idea of the store's time.
 */
import { corrupt, type LeaseRecord } from "../record.ts"
import type { LockConfig, Observation, Remembered, View } from "./state.ts"
import { type Now, surelyElapsed } from "./time.ts"

/** `Date`s are rounded down, and answers of one store may differ. */
const SLACK = 1000
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

/** Whether the owner's lease is over. Throws CorruptRecordError where its times are none. */
export function ownerOver(sight: Sight, record: LeaseRecord): boolean {
  const { config, view, observedOwner: observed, now } = sight
  const half = record.owner
  const date = dateFor(config, view, half?.host?.bootId ?? null)
  if (half !== undefined) return halfOver({ ...half, expiresAt: record.expiresAt }, date, observed, now)
  const quiet = Math.max(config.ttl, config.strangerTtl, 3 * (observed?.longestGap ?? 0))
  return published(config.key, record.expiresAt, date) && unchangedFor(observed, quiet, now)
}

/** Whether the waiter's mark is over. Throws CorruptRecordError where its times are none. */
export function waiterOver(sight: Sight, record: LeaseRecord): boolean {
  const { config, view, observedWaiter: observed, now } = sight
  const date = dateFor(config, view, record.waiter?.bootId ?? null)
  if (date === undefined) return unchangedFor(observed, config.waiterTtl, now)
  return published(config.key, record.waiterExpiresAt, date)
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

/** Whether a published time is past, as far as the store's time tells. */
function published(key: string, expiresAt: number, date: number | undefined): boolean {
  if (date === undefined) return true
  if (expiresAt - date > LONGEST) corrupt(key, "it names a time more than 24 hours ahead")
  return date > expiresAt + SLACK
}

/** The store's time in the answer, where it means something to a half written under that boot. */
function dateFor(config: LockConfig, view: View, bootId: string | null): number | undefined {
  if (config.clock === "none" || (config.bootId !== null && config.bootId !== bootId)) return undefined
  return view.storeTime
}

function unchangedFor(observed: Observation | undefined, ms: number, now: Now): boolean {
  return observed !== undefined && surelyElapsed(observed.since, now) >= ms
}
