/**
 * What a lock provider is, as seen by code that has a critical section for a key: run it alone, whatever it is that keeps
 * the others out. `providers/` has one in memory, one over any `LeaseStore`, and one that keeps nobody out.
 *
 * Not promised by any of them: that a section which runs past the loss of its lease is alone. Its signal aborts; pass its
 * `token` on to whatever checks one.
 */
import type { LockCounts } from "./counts.ts"
import type { AcquireOptions, Lease } from "./lock.ts"

/**
 * How to wait for a key: `timeout` (default 30 s, `0` is one try) and where it came from, the `signal` that cancels the wait,
 * and the `observer` that hears of it (`acquireAll` tells it of each key as of a call of its own). The signal of `withLock` also
 * aborts that of its section.
 */
export type ProviderOptions = Pick<AcquireOptions, "timeout" | "timeoutSource" | "signal" | "observer">

/** A key that is held until it is released: dispose of it, or call `release`. */
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
  /** Each one's `release`, beginning with the last acquired. Settles with the worst of what became of them, never rejects. */
  release(): ReturnType<Lease["release"]>
}

/** The time as a section reads it: from inside, so that nobody else's section lies between the reading and what is done. */
export interface SectionClock {
  /** Unix milliseconds. */
  now(): number
}

/** What a critical section is told. */
export interface Section {
  /** What it is alone on. */
  readonly key: string
  /**
   * Strictly greater than that of every earlier section on the key; 0 where nobody is kept out. In memory it begins anew with
   * each provider: of no use to what outlives the process.
   */
  readonly token: number
  /**
   * Aborts when the lock is lost, with LockLostError: end what is done under it. Aborts too when the call's own `signal` does,
   * with the reason of that: then the key is still held, until fn has ended.
   */
  readonly signal: AbortSignal
  /** The time, to be read in here. */
  readonly clock: SectionClock
  /** Whether this process may act on the key now. */
  isHeld(): boolean
}

/**
 * Keeps critical sections of one key apart. Keys are canonical, or refused (InvalidKeyError): non-empty NFC strings of at
 * most 512 bytes, without control characters and without `.` and `..` segments. Make them of what names the thing, the
 * same in every process, and of nothing that changes.
 */
export interface LockProvider {
  /**
   * Runs fn alone on the key, and settles as it does, once the key is released again: however fn ends, errors included.
   * Rejects without having run it: LockTimeoutError, LockCancelledError, InvalidKeyError, InvalidConfigError,
   * ReentrantLockError at once from inside a section on the same key (it would wait for itself), and what else the
   * provider's store gives (see `Lock.acquire`). Rejects with LockLostError at once when the lock is lost while fn runs; fn
   * goes on and is to obey its signal.
   */
  withLock<A>(key: string, fn: (section: Section) => A | Promise<A>, options?: ProviderOptions): Promise<A>
  /**
   * Settles with the key, for `await using`; rejects as `withLock` does before fn. It isn't known from where such a lock is
   * used: who acquires a key that it holds already waits, for no longer than its `timeout`.
   */
  acquire(key: string, options?: ProviderOptions): Promise<HeldLock>
  /**
   * Settles with all of these keys or none, within one budget. They are acquired in one order, whoever asks (that of their
   * UTF-16 code units), so that no two calls wait for each other; a key that is named twice is taken once. Rejects as
   * `acquire` does, with LockLostError where one was lost while the rest was waited for, and with InvalidConfigError where
   * there are no keys; what was held is released by then.
   */
  acquireAll(keys: readonly string[], options?: ProviderOptions): Promise<HeldLocks>
  /**
   * What happened so far: to this provider where it is in memory; over a store, to all locks of this incarnation on it, be
   * they another provider's, a manager's or a `StoreLock`.
   */
  stats(): LockCounts
}
