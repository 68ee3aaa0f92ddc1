/**
 * A lock provider as its users see it: code that has a critical section for a key is run alone, whatever keeps the
 * others out. `providers/` has one in memory, one over any `LeaseStore`, and one that keeps nobody out.
 *
 * Not promised by any of them: that a section which runs past the loss of its lease is alone. Its signal aborts. Where
 * something checks a fencing token, pass it the section's `token`.
 */
import type { LockCounts } from "./counts.ts"
import type { AcquireOptions, Lease } from "./lock.ts"

/**
 * How to wait for a key:
 *
 *     timeout           the budget; default 30 s, `0` is one try
 *     timeoutSource     where the budget came from
 *     signal            cancels the wait; that of `withLock` also aborts its section's
 *     observer          observes the wait; for `acquireAll` each key is a call of its own
 */
export type ProviderOptions = Pick<AcquireOptions, "timeout" | "timeoutSource" | "signal" | "observer">

/** A key that is held until `release`, or until it is disposed of. */
export type HeldLock = Pick<Lease, "key" | "token" | "signal" | "isHeld" | "release"> & AsyncDisposable

/** Several keys that are held together. */
export interface HeldLocks extends AsyncDisposable {
  /** Each once, in the order in which they were acquired. */
  readonly keys: readonly string[]
  /** Aborts when any of them is lost, with its LockLostError. */
  readonly signal: AbortSignal
  /** The fencing token of a key; undefined for a key that isn't among them. */
  token(key: string): number | undefined
  /** Whether this process may act on all of them now. */
  isHeld(): boolean
  /**
   * Each one's `release`, beginning with the last acquired. Settles with the worst of what became of them, never
   * rejects.
   */
  release(): ReturnType<Lease["release"]>
}

/** The time as a section reads it: from inside, so that no other section comes between the reading and its use. */
export interface SectionClock {
  /** Unix milliseconds. */
  now(): number
}

/** The argument of a critical section. */
export interface Section {
  /** The key on which it is alone. */
  readonly key: string
  /**
   * Strictly greater than that of every earlier section on the key; 0 where nobody is kept out. In memory it begins
   * anew with each provider, and means nothing to what outlives the process.
   */
  readonly token: number
  /**
   * Aborts when the lock is lost, with LockLostError: end what is done under it. Aborts also when the call's own
   * `signal` does, with its reason; the key is still held then, until `fn` has ended.
   */
  readonly signal: AbortSignal
  /** The time, to be read in here. */
  readonly clock: SectionClock
  /** Whether this process may act on the key now. */
  isHeld(): boolean
}

/**
 * Keeps critical sections of one key apart. A key is a non-empty NFC string of at most 512 bytes, without control
 * characters and without `.` and `..` segments; others are refused (InvalidKeyError). Make it of what names the thing
 * in every process, and of nothing that changes.
 */
export interface LockProvider {
  /**
   * Runs `fn` alone on the key. Settles as `fn` does, once the key is released again.
   *
   * Rejects before `fn` with LockTimeoutError, LockCancelledError, InvalidKeyError, InvalidConfigError, or another
   * error of the store (see `Lock.acquire`). From inside a section on the same key it would wait for itself: that is
   * ReentrantLockError at once.
   *
   * Rejects with LockLostError as soon as the lock is lost while `fn` runs. `fn` goes on, and has to obey its signal.
   */
  withLock<A>(key: string, fn: (section: Section) => A | Promise<A>, options?: ProviderOptions): Promise<A>
  /**
   * Settles with the key, for `await using`. Rejects as `withLock` does before `fn`, but for ReentrantLockError: a
   * caller that holds the key already waits for itself, until its `timeout`.
   */
  acquire(key: string, options?: ProviderOptions): Promise<HeldLock>
  /**
   * Settles with all of these keys or none, within one budget. Every call acquires in one order, that of UTF-16 code
   * units, so that no two calls wait for each other. A key that is named twice is taken once.
   *
   * Rejects as `acquire` does, with LockLostError where a key was lost while the rest was waited for, and with
   * InvalidConfigError where there are no keys. What was held is released by then.
   */
  acquireAll(keys: readonly string[], options?: ProviderOptions): Promise<HeldLocks>
  /**
   * Counts of what happened so far. In memory they are this provider's. Over a store they are those of all locks of
   * this incarnation on it: other providers', managers' and `StoreLock`s'.
   */
  stats(): LockCounts
}
