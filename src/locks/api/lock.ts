/**
 * What a lock is, as seen by those who use one: the interface and its contract. `store-lock.ts` implements it over any
 * `LeaseStore`; `leasehold/testing` has one on a simulated clock.
 *
 * Not promised: that nobody else acts while `isHeld()` is true and this process then stops for longer than the rest of
 * its lease. Between a check and its effect only the fencing `token`, checked by what receives the effect, helps.
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

/** How an acquired key came: no record was there, a released one, one whose owner let it run out, or handed over. */
export type AcquiredHow = "created" | "free" | "takeover" | "granted" | "reserved"

/** How a release ended. `unknown` is not clean: the lease may stand until it runs out. */
export type ReleaseResult = "released" | "alreadyLost" | "unknown"

/** Where a budget came from and how it is changed there, for the message of LockTimeoutError. */
export interface TimeoutSource {
  /** What it is called, such as `LEASEHOLD_LOCK_TIMEOUT=30`: the error's `source`. */
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
  /** Hears how the call waits, and how that ends: `logWaits`, `terminalWaits`, `LockWaitEvents`, or one of your own. */
  readonly observer?: LockWaitObserver
  /**
   * The key has an owner: ask it to leave and wait (default), wait without asking, or fail at once with OwnedElsewhereError.
   * Who asks comes before all who only wait; these have their turn in order, and with `contention: "fail"` in none.
   */
  readonly whenOwned?: "request" | "wait" | "report"
  /**
   * Another waits already: have one's turn behind it, within the budget (`retry`, the default of every call), or fail at once
   * with LockContentionError.
   */
  readonly contention?: "fail" | "retry"
  /**
   * A waiter's request is passed on only after this time as owner; `infinite`: never before `Lease.stay` says after which.
   * Without one: 0.
   */
  readonly minTenure?: Duration | "infinite"
  /** Refuse, before waiting, an owner whose state has a greater version (CheckpointVersionError); published as ours. */
  readonly stateVersion?: number
}

interface At {
  /** Unix milliseconds of this process's clock. */
  readonly at: number
  readonly key: string
  /** This process's incarnation. */
  readonly ownerId: string
}

/** What happens to one key, seen from one incarnation. `deadline`s are Unix milliseconds of this process's clock. */
export type LockEvent = At &
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
  /** What the next owner is told (`Lease.note`) where the release hands the key over by a grant. At most 256 characters. */
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
   * The nonces of ownerships that had ended when this one began, as far as the record proves it: at most 8, the last one last.
   * Of any other owner nothing is known: its record may have been deleted by hand, and it may be at work for its ttl yet.
   */
  readonly past: readonly string[]
  /** What the former owner left with the grant that made this lease. Nobody owned the key between the two. */
  readonly note?: string | undefined
  /** Aborts on loss only, with the LockLostError as its reason: before the lease is over, while this process runs. */
  readonly signal: AbortSignal
  /** This key's events from now on; completes after Lost or Released. */
  readonly events$: Observable<LockEvent>
  /** Whether this process may act now. Synchronous and conservative: false while in doubt. */
  isHeld(): boolean
  /**
   * For whoever keeps state outside of the lease's record: that state may name this ownership from now on (`possible`), or
   * does so and no earlier one any more (`sure`). Only an ownership that was traced is named by the `past` of later ones.
   */
  traced(trace: "possible" | "sure"): void
  /**
   * Counts the tenure from now, in place of the `minTenure` of the acquire: for an owner that had to prepare what the key is for.
   * What was passed on already stays so. Nothing once the lease has ended; throws InvalidConfigError for what is no duration.
   */
  stay(minTenure: Duration): void
  /**
   * Forces one renewal now, and settles once one that was sent after the call is known to be applied. Rejects with
   * LockLostError, LockNotHeldError, InvalidConfigError, or why it failed (the lease tries on).
   */
  renew(options?: RenewOptions): Promise<void>
  /**
   * Ends ownership; hands over to a waiter if there is one. Settles within 10 s of its first request, which may have to wait
   * at a busy store, as long as the lease lasts. Idempotent: only a call after `unknown` looks again what became of it, and
   * leaves again where the lease still stands, unless this process has asked for the key since, or for a thousand others. The
   * end of a block (`await using`) doesn't. Rejects only with InvalidConfigError, before it does anything, for a note that isn't
   * one. It waits for no work and `signal` doesn't abort: end first what is done under the lease.
   */
  release(options?: ReleaseOptions): Promise<ReleaseResult>
}

/** What code that runs under a lease may do with it: everything but ending or moving it. */
export type LeaseView = Pick<Lease, "key" | "token" | "deadline" | "signal" | "events$" | "isHeld">

/**
 * Who contends. One for each process and store object by default; tests make several, which contend like processes. One
 * that is given belongs to one store object of one process: who meets its own id at work elsewhere fails with
 * InvalidConfigError. A process that comes again under it waits for the lease that its former life left, as anybody would.
 */
export interface Incarnation {
  /** 1 to 100 characters of `[A-Za-z0-9._-]`, that no other process uses at the same time. */
  readonly id: string
}

/** One key of one incarnation. A second `acquire` of the same key by one incarnation waits in a queue of this process. */
export interface Lock {
  /** What is to be owned. */
  readonly key: string
  /**
   * All events of this key in this incarnation, across attempts and locks, until the observer unsubscribes. An observer that
   * throws is dropped, not obeyed.
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
   * One read: who owns the key by its record, or undefined. May be stale on arrival, and an owner whose `expiresAt` is
   * past may be gone. Settles within 36 s; rejects with StoreUnavailableError, StoreMisconfiguredError,
   * CorruptRecordError or InvalidConfigError.
   */
  peek(): Promise<Owner | undefined>
  /**
   * Called once for each waiter that asks for the key; soon if one has asked already. End the work that the lease covers,
   * then release: not the other way round. What it throws goes to onError. Dispose it when the key is of no more interest:
   * until then the key is remembered.
   */
  onReleaseRequested(handler: () => void | Promise<void>): Disposable
  /** Called for each failed renewal and for the loss, until disposed. What it throws goes to onError. */
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
