/** Counts of what happened to locks: plain numbers that only grow, for gauges and for people. */
import type { LockEvent } from "./lock.ts"

/** Counts since they began. */
export interface LockCounts {
  /** Locks that were acquired. */
  readonly acquisitions: number
  /** Acquires that had to wait: for an owner elsewhere, or for another caller of this process. */
  readonly waits: number
  /** Acquires that found another waiting already. */
  readonly contention: number
  /** Leases that were lost: ended without a release. */
  readonly losses: number
  /** Renewals that were applied. */
  readonly renewals: number
  /**
   * Writes of lease records that the store throttled (429: one write a second, or the bucket's limit). Checkpoints
   * don't count.
   */
  readonly throttled: number
}

/** The same, to count with. */
export type Counting = { -readonly [Name in keyof LockCounts]: number }

/** All at zero. */
export const noCounts = (): Counting => ({
  acquisitions: 0,
  waits: 0,
  contention: 0,
  losses: 0,
  renewals: 0,
  throttled: 0,
})

/**
 * Counts an event of a lock. No event tells of contention, throttled writes and waits in this process: those are
 * counted elsewhere.
 */
export function countEvent(counts: Counting, { type }: LockEvent): void {
  if (type === "Acquired") counts.acquisitions++
  else if (type === "Waiting") counts.waits++
  else if (type === "Lost") counts.losses++
  else if (type === "Renewed" || type === "Recovered") counts.renewals++
}
