/**
 * Time as the protocol sees it: moments on two clocks that may disagree (rule 3), and what is known of the store's
 * time. Elapsed time is the larger of the two where it ends a right of ours, the smaller where it ends another's.
 * Reads no clock: every function is given `now`.
 */
import type { Reading } from "../../../runtime/time/clock.ts"

/** A moment of this process, on both of its clocks. */
export interface Instant {
  readonly mono: number
  readonly boot: number
}

/** What one step is given from outside: the clocks, and chance. */
export interface Now extends Reading {
  /** Unique to this step, unpredictable to others. */
  readonly fresh: string
  /** In [0,1): jitter. */
  readonly draw: number
}

/** My clocks may disagree by this much from one comparison to the next; beyond it one of them jumped. */
const DIVERGENCE = 1000
/**
 * A sample of the store's time older than this has drifted too far to stamp writes with: by 3 s, where a clock is off
 * by 5 %.
 */
const SAMPLE_LIFE = 60_000
/** While younger than this, a sample of a clock of whole seconds may be better than the next one. */
const SAMPLE_YOUTH = 15_000

/** What this process knows of time. */
export interface Sense {
  /** When the clocks were last compared: within a step, the moment of it. */
  readonly last: Instant
  /** Grows whenever the clocks diverged: a request of an earlier epoch proves nothing. */
  readonly epoch: number
  /** The store said `storeTime` to a request sent `at`. */
  readonly sample: Sample | undefined
}

/** What one answer taught of the store's time. */
export interface Sample {
  readonly storeTime: number
  readonly at: Instant
}

/** The moment alone. */
export const instant = (now: Instant): Instant => ({ mono: now.mono, boot: now.boot })

/** `ms` after (or before) a moment. */
export const plus = (at: Instant, ms: number): Instant => ({ mono: at.mono + ms, boot: at.boot + ms })

/** The earlier of two moments, clock by clock. */
export const earlier = (a: Instant, b: Instant): Instant => ({
  mono: Math.min(a.mono, b.mono),
  boot: Math.min(a.boot, b.boot),
})

/** The later of two moments, clock by clock. */
export const later = (a: Instant, b: Instant): Instant => ({
  mono: Math.max(a.mono, b.mono),
  boot: Math.max(a.boot, b.boot),
})

/** Whether the moment is over by either clock: how rights of ours end. */
export const past = (at: Instant, now: Instant): boolean => now.mono >= at.mono || now.boot >= at.boot

/**
 * My clocks may be this much further apart than a moment has them before it is waited for by the other one: readings of
 * the boot clock are rounded, and a wait that ends early is a step for nothing. In milliseconds.
 */
const AGREEING = 250

/** The monotonic time at which the moment is over by either clock, should they run on as they stand. */
export function wakeOf(at: Instant, now: Instant): number {
  const ahead = now.boot - now.mono - (at.boot - at.mono)
  return ahead > AGREEING ? at.mono - ahead : at.mono
}

/**
 * How long after its last write an owner renews: a third of the ttl, give or take a tenth of that by chance in [0,1).
 */
export const renewalAfter = (ttl: number, chance: number): number => (ttl / 3) * (0.9 + chance / 5)

/** Milliseconds since a moment, by the clock that counted more. */
export const elapsed = (from: Instant, now: Instant): number => Math.max(now.mono - from.mono, now.boot - from.boot)

/** Milliseconds since a moment, by the clock that counted less: how rights of others end. */
export const surelyElapsed = (from: Instant, now: Instant): number =>
  Math.min(now.mono - from.mono, now.boot - from.boot)

/**
 * The moment to count from, once the clocks were read again. A clock that was set back takes nothing away from what it
 * counted before; a wall clock that stands in for the boot clock may be.
 */
export const neverBack = (from: Instant, last: Instant, now: Instant): Instant => ({
  mono: from.mono + Math.min(0, now.mono - last.mono),
  boot: from.boot + Math.min(0, now.boot - last.boot),
})

/** Whether one of the clocks jumped since they were last compared. */
export const diverged = (sense: Sense, now: Instant): boolean =>
  Math.abs(now.boot - sense.last.boot - (now.mono - sense.last.mono)) > DIVERGENCE

/** Compares the clocks: a divergence kills the sample and begins a new epoch. */
export const compare = (sense: Sense, now: Instant): Sense =>
  diverged(sense, now)
    ? { last: instant(now), epoch: sense.epoch + 1, sample: undefined }
    : { ...sense, last: instant(now) }

/** The better of two samples of a clock that is rounded down to seconds: the one that was rounded less. */
export function leastRounded(old: Sample | undefined, fresh: Sample, now: Instant): Sample {
  if (old === undefined || elapsed(old.at, now) > SAMPLE_YOUTH) return fresh
  return old.storeTime + elapsed(old.at, now) > fresh.storeTime + elapsed(fresh.at, now) ? old : fresh
}

/**
 * The store's time now, in milliseconds, as far as the sample tells; undefined without one that lives. What an old
 * sample has drifted could be half of a short lease: there it lives no longer than a ttl beyond its youth.
 */
export function storeNow({ sample }: Sense, now: Instant, ttl: number): number | undefined {
  if (sample === undefined) return undefined
  const age = elapsed(sample.at, now)
  return age > Math.min(SAMPLE_LIFE, SAMPLE_YOUTH + ttl) ? undefined : sample.storeTime + age
}
