/**
 * What a record says about me (rule 2): identity is (id, nonce), and one exception, a published pair with my id whose
 * half is missing: a stranger dropped it, it is mine while an attempt of mine lives.
 */
import type { LeaseRecord } from "../record.ts"

/** The owner half: mine, mine but for the half, left by an attempt of mine that is over, or another's. */
export type OwnerStanding = "absent" | "free" | "mine" | "stripped" | "dead" | "other"
/** The waiter half, likewise. A half left by an attempt of mine that is over counts as none. */
export type WaiterStanding = "none" | "mine" | "stripped" | "other"

/** Where I stand as owner. */
export function ownerStanding(record: LeaseRecord | undefined, id: string, nonce: string): OwnerStanding {
  if (record === undefined) return "absent"
  if (record.ownerId === null) return "free"
  if (record.ownerId !== id) return "other"
  if (record.owner === undefined) return "stripped"
  return record.owner.nonce === nonce ? "mine" : "dead"
}

/** Where I stand as waiter. */
export function waiterStanding(record: LeaseRecord | undefined, id: string, nonce: string): WaiterStanding {
  if (record === undefined || record.waitingOwnerId === null) return "none"
  if (record.waitingOwnerId !== id) return "other"
  if (record.waiter === undefined) return "stripped"
  return record.waiter.nonce === nonce ? "mine" : "none"
}
