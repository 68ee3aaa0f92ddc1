/** What happened to the locks of one listener, as plain numbers that only grow: for gauges, and for people. */
import type { LockEvent } from "./lock.ts"

/** Counters since the listener began. */
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
   * Writes of lease records that the store had no room for at that moment (429 of one write a second, or of the bucket). Those
   * of checkpoints are not counted.
   */
  readonly throttled: number
}

/** Counters that somebody counts with. */
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

/** Counts an event of a lock. What no event tells (contention, throttled writes, waits in this process) is left alone. */
export function countEvent(counts: Counting, { type }: LockEvent): void {
  if (type === "Acquired") counts.acquisitions++
  else if (type === "Waiting") counts.waits++
  else if (type === "Lost") counts.losses++
  else if (type === "Renewed" || type === "Recovered") counts.renewals++
}
