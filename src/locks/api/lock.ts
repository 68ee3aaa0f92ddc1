/**
 * A lock as its users see it: the interface and its contract. `store-lock.ts` implements it over any `LeaseStore`;
 * `leasehold/testing` has one on a simulated clock.
 *
 * Not promised: that nobody else acts after `isHeld()` was true. This process may stop between the check and its
 * effect, for longer than the rest of its lease. Only the fencing `token` helps there, checked by what receives the
 * effect.
 */
import type { Observable } from "rxjs"
import type { Duration } from "../../runtime/input/duration.ts"
import type {
  CheckpointVersionError,
  CorruptRecordError,
  FormatVersionError,
  InvalidConfigError,
  LockCancelledError,
  LockContentionError,
  LockError,
  LockTimeoutError,
  OwnedElsewhereError,
  Owner,
  StoreMisconfiguredError,
  StoreUnavailableError,
} from "./errors.ts"
import type { LockWaitObserver } from "./wait-observer.ts"

/**
 * How a key was acquired:
 *
 *     created      there was no record
 *     free         the record was released
 *     takeover     its owner's lease had ended
 *     granted      its owner handed it over
 *     reserved     its owner left, and let only this waiter claim it
 */
export type AcquiredHow = "created" | "free" | "takeover" | "granted" | "reserved"

/** How a release ended. After `unknown` the lease may stand until it expires. */
export type ReleaseResult = "released" | "alreadyLost" | "unknown"

/** Where a budget came from, and how to change it there. For the message of LockTimeoutError. */
export interface TimeoutSource {
  /** Its name, such as `LEASEHOLD_LOCK_TIMEOUT=30`: the error's `source`. */
  readonly name: string
  /** What to do for a longer wait, as a sentence without its full stop: the error's `next`. */
  readonly change: string
}

/** How to acquire. */
export interface AcquireOptions {
  /** The whole wait; `0` is one try without waiting. Without one: 30 s. */
  readonly timeout?: Duration | "infinite"
  /** Where the budget came from, if not from this call; a name alone is enough. `waitBudget` gives both. */
  readonly timeoutSource?: string | TimeoutSource
  /** Cancels the wait: LockCancelledError once no mark is left behind, or after 5 s. */
  readonly signal?: AbortSignal
  /**
   * Observes how the call waits, and how that ends: `logWaits`, `terminalWaits`, `LockWaitEvents`, or one of your own.
   */
  readonly observer?: LockWaitObserver
  /**
   * What to do where the key has an owner:
   *
   *     request     asks it to leave, and waits; the default
   *     wait        waits without asking
   *     report      fails at once with OwnedElsewhereError
   *
   * Those who ask come before all who only wait. The latter have their turns in order, or in none with `contention:
   * "fail"`.
   */
  readonly whenOwned?: "request" | "wait" | "report"
  /**
   * Where another waits already: `retry` takes a turn behind it, within the budget (default); `fail` is
   * LockContentionError at once.
   */
  readonly contention?: "fail" | "retry"
  /**
   * For how long as owner a waiter's request is not passed on. `infinite`: until `Lease.stay` says for how long.
   * Without one: 0.
   */
  readonly minTenure?: Duration | "infinite"
  /**
   * The version of this process's state, which is published. An owner with a greater one is CheckpointVersionError,
   * before any wait.
   */
  readonly stateVersion?: number
}

interface LockEventStamp {
  /** Unix milliseconds of this process's clock. */
  readonly at: number
  readonly key: string
  /** This process's incarnation. */
  readonly ownerId: string
}

/** An event of one key, seen from one incarnation. `deadline`s are Unix milliseconds of this process's clock. */
export type LockEvent = LockEventStamp &
  (
    | { readonly type: "Waiting"; readonly owner: Owner }
    | { readonly type: "Acquired"; readonly token: number; readonly deadline: number; readonly how: AcquiredHow }
    | { readonly type: "Renewed" | "Recovered"; readonly token: number; readonly deadline: number }
    | {
        readonly type: "Degraded" | "Suspect"
        readonly token: number
        readonly deadline: number
        readonly error?: LockError
      }
    | { readonly type: "ReleaseRequested"; readonly token: number; readonly waiterId: string }
    | { readonly type: "Granted"; readonly token: number; readonly waiterId: string; readonly how: "grant" | "reserve" }
    | { readonly type: "Lost"; readonly token: number; readonly error: LockError }
    | { readonly type: "Released"; readonly token: number; readonly result: ReleaseResult }
    | { readonly type: "GaveUp"; readonly error: LockError }
  )

/** How to renew. */
export interface RenewOptions {
  /** Also raises the fencing token above this number. */
  readonly tokenAbove?: number
}

/** How to release. */
export interface ReleaseOptions {
  /**
   * A note for the next owner (`Lease.note`), where the release hands the key over by a grant. At most 256 characters.
   */
  readonly note?: string | undefined
}

/** The right to act on a key until a deadline. It renews itself until released or lost. */
export interface Lease extends AsyncDisposable {
  /** What is owned. */
  readonly key: string
  /** The fencing token: strictly greater than every earlier owner's of this key. */
  readonly token: number
  /** Unix milliseconds of this process's clock, informative: decide by `isHeld()`. */
  readonly deadline: number
  /** How the key came to this process. */
  readonly how: AcquiredHow
  /** Tells this ownership from all others, of every process. */
  readonly nonce: string
  /**
   * The nonces of ownerships that had ended when this one began, as far as the record proves it: at most 8, the last
   * one last. Nothing is known of any other owner. Its record may have been deleted by hand, and then it may be at work
   * for its ttl yet.
   */
  readonly past: readonly string[]
  /** The note that the former owner left with the grant of this lease. Nobody owned the key in between. */
  readonly note?: string | undefined
  /** Aborts on loss only, with the LockLostError as its reason. A running process sees it before the lease is over. */
  readonly signal: AbortSignal
  /** This key's events from now on; completes after Lost or Released. */
  readonly events$: Observable<LockEvent>
  /** Whether this process may act now. Synchronous and conservative: false while in doubt. */
  isHeld(): boolean
  /**
   * Says that state outside of the lease's record names this ownership: it may from now on (`possible`), or does, and
   * names no earlier one any more (`sure`). The `past` of later ownerships names only those that were traced.
   */
  traced(trace: "possible" | "sure"): void
  /**
   * Counts the tenure from now, in place of the acquire's `minTenure`: for an owner that had to prepare first. A
   * request that was passed on already stays so. Does nothing once the lease has ended. Throws InvalidConfigError for
   * what is no duration.
   */
  stay(minTenure: Duration): void
  /**
   * Forces one renewal now. Settles once a renewal that was sent after the call is known to be applied. Rejects with
   * LockLostError, LockNotHeldError, InvalidConfigError, or the reason why it failed; the lease goes on trying.
   */
  renew(options?: RenewOptions): Promise<void>
  /**
   * Ends the ownership, and hands the key over to a waiter if there is one. End the work under the lease first: this
   * waits for no work, and `signal` doesn't abort.
   *
   * Settles within 10 s of its first request. At a busy store that one may wait, as long as the lease lasts. Rejects
   * only with InvalidConfigError, before it does anything, for a note that isn't one.
   *
   * Idempotent, except after `unknown`: another call then looks what became of the release, and releases again where
   * the lease still stands. It doesn't where this process has asked for the key since, or for a thousand others. The
   * end of a block (`await using`) never does.
   */
  release(options?: ReleaseOptions): Promise<ReleaseResult>
}

/** What code that runs under a lease may do with it: everything but ending or moving it. */
export type LeaseView = Pick<Lease, "key" | "token" | "deadline" | "signal" | "events$" | "isHeld">

/**
 * A contender. By default each process has one for each store object; tests make several, which contend like processes.
 *
 * An id that is given belongs to one store object of one process. An incarnation that meets its own id at work
 * elsewhere fails with InvalidConfigError. A process that comes again under it waits for the lease that its former life
 * left, as any other would.
 */
export interface Incarnation {
  /** 1 to 100 characters of `[A-Za-z0-9._-]`, that no other process uses at the same time. */
  readonly id: string
}

/**
 * One key of one incarnation. A second `acquire` of the same key by one incarnation waits in a queue of this process.
 */
export interface Lock {
  /** What is to be owned. */
  readonly key: string
  /**
   * All events of this key in this incarnation, across attempts and locks, until the observer unsubscribes. One that
   * throws is dropped.
   */
  readonly events$: Observable<LockEvent>
  /**
   * Settles within its budget with a lease, or rejects: LockTimeoutError, LockContentionError, OwnedElsewhereError,
   * LockCancelledError, CheckpointVersionError, StoreUnavailableError, StoreMisconfiguredError, CorruptRecordError,
   * FormatVersionError, InvalidConfigError. What it may have left in the store is erased, if need be in the background.
   */
  acquire(options?: AcquireOptions): Promise<Lease>
  /** `renew` of the lease now held; LockNotHeldError where none is. */
  renew(options?: RenewOptions): Promise<void>
  /** `release` of the lease now held, or held last; `alreadyLost` where none was. */
  release(): Promise<ReleaseResult>
  /**
   * Reads who owns the key by its record; undefined where nobody does. The answer may be stale, and an owner whose
   * `expiresAt` is past may be gone. Settles within 36 s. Rejects with StoreUnavailableError, StoreMisconfiguredError,
   * CorruptRecordError or InvalidConfigError.
   */
  peek(): Promise<Owner | undefined>
  /**
   * Calls the handler once for each waiter that asks for the key; soon, if one has asked already. End the work that the
   * lease covers, then release: not the other way round. What the handler throws goes to `onError`. Dispose it when the
   * key is of no more interest: until then the key is remembered.
   */
  onReleaseRequested(handler: () => void | Promise<void>): Disposable
  /** Calls the handler for each failed renewal and for the loss, until disposed. What it throws goes to `onError`. */
  onRenewalError(handler: (error: LockError) => void | Promise<void>): Disposable
}

/** Everything that an acquire can reject with. */
export type AcquireError =
  | LockTimeoutError
  | LockContentionError
  | OwnedElsewhereError
  | LockCancelledError
  | CheckpointVersionError
  | StoreUnavailableError
  | StoreMisconfiguredError
  | CorruptRecordError
  | FormatVersionError
  | InvalidConfigError

/** Makes the lock of a key: how a manager is given its locks. */
export type LockFactory = (key: string) => Lock
