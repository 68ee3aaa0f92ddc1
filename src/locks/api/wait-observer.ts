/**
 * The events of an acquire's wait, the observer that is called with them one by one, and the same as an Observable.
 * When each event comes is decided in waits/watch.ts.
 *
 * A call that never had to wait has no `waitStarted`: its ending is its only event.
 */
import type { Observable } from "rxjs"
import type { Duration } from "../../runtime/input/duration.ts"
import { aDuration, aFunction, type OptionChecks, refuseUnknown } from "../../runtime/input/options.ts"
import { Hub } from "../../runtime/observables.ts"
import type { OnError } from "../../runtime/report.ts"
import type { LockCancelledError, LockTimeoutError, Owner } from "./errors.ts"

/**
 * What a call waits for:
 *
 *     holder      another process that has the key, or is to get it first
 *     process     an earlier call of this process
 *     store       the store, which is starting, slow or failing
 */
export type WaitingFor = "holder" | "process" | "store"

interface WaitStamp {
  /** Unix milliseconds of this process's clock. */
  readonly at: number
  /** Names the call: all its events carry the same. */
  readonly wait: string
  /** What is waited for. */
  readonly key: string
  /** Milliseconds since the call; at its end, the whole wait. */
  readonly elapsedMs: number
  /** Milliseconds left of the budget; Infinity without a limit. */
  readonly remainingMs: number
  /** The budget in milliseconds; Infinity without a limit. */
  readonly limitMs: number
  /** Where the budget came from. */
  readonly source: string
}

interface WaitState {
  readonly waitingFor: WaitingFor
  /** Who owns the key, where that is known. */
  readonly holder?: Owner
  /**
   * For how long it has owned the key, in milliseconds: by its record, or else at least since this call saw it first.
   */
  readonly heldMs?: number
  /** How often this call has looked again so far. */
  readonly retries: number
}

interface WaitEnding {
  /** Whether `waitStarted` was told before. */
  readonly waited: boolean
  readonly retries: number
}

/**
 * An event of one call that waits. `acquired`, `timedOut`, `cancelled` and `failed` are endings: each call has exactly
 * one.
 */
export type LockWaitEvent = WaitStamp &
  (
    | ({ readonly type: "waitStarted" } & WaitState)
    | ({ readonly type: "retry" } & WaitState)
    | ({ readonly type: "progress" } & WaitState)
    | ({ readonly type: "acquired"; readonly token?: number } & WaitEnding)
    | ({ readonly type: "timedOut"; readonly error: LockTimeoutError } & WaitEnding)
    | ({ readonly type: "cancelled"; readonly error: LockCancelledError } & WaitEnding)
    | ({ readonly type: "failed"; readonly error: unknown } & WaitEnding)
  )

/** One kind of event of a wait. */
export type LockWaitEventOf<Type extends LockWaitEvent["type"]> = Extract<LockWaitEvent, { readonly type: Type }>

/**
 * Observes how calls wait. Each method is called after the step that it is about, in the order of events. Nothing that
 * it does changes the call: what it throws, or rejects with, goes to `onError`. One observer may watch many calls:
 * `wait` tells them apart.
 */
export interface LockWaitObserver {
  /** How often `progress` is told while the call waits: 10 ms or more. Without one: 1 s. */
  readonly progressEvery?: Duration
  /** The call can't have the key at once. Called once, and never for a call that needn't wait. */
  waitStarted?(event: LockWaitEventOf<"waitStarted">): void | Promise<void>
  /** The call looks at the key again. */
  retry?(event: LockWaitEventOf<"retry">): void | Promise<void>
  /** The call still waits. */
  progress?(event: LockWaitEventOf<"progress">): void | Promise<void>
  /** An ending: it has the key. `elapsedMs` is the whole wait. */
  acquired?(event: LockWaitEventOf<"acquired">): void | Promise<void>
  /** An ending: its budget is over. */
  timedOut?(event: LockWaitEventOf<"timedOut">): void | Promise<void>
  /** An ending: its signal aborted. */
  cancelled?(event: LockWaitEventOf<"cancelled">): void | Promise<void>
  /** An ending: any other error, the store's or one that says that it won't wait. */
  failed?(event: LockWaitEventOf<"failed">): void | Promise<void>
}

/** How waits are made an Observable. */
export interface LockWaitEventsOptions {
  /** As an observer's. */
  readonly progressEvery?: Duration
  /** Gets what subscribers throw. Without one: standard error. */
  readonly onError?: OnError
}

const OPTIONS: OptionChecks<LockWaitEventsOptions> = { progressEvery: aDuration, onError: aFunction }

/** An observer that passes all events on: `lock.acquire({ observer: waits })`, `waits.events$.subscribe(…)`. */
export class LockWaitEvents implements LockWaitObserver {
  /** How often `progress` is told. */
  readonly progressEvery: Duration
  /** The events of all calls that it observes, from the subscription on. Never completes. */
  readonly events$: Observable<LockWaitEvent>
  readonly #hub: Hub<LockWaitEvent>

  /** Nobody has subscribed yet. Throws InvalidConfigError. */
  constructor(options: LockWaitEventsOptions = {}) {
    refuseUnknown("LockWaitEvents", options, OPTIONS)
    this.progressEvery = options.progressEvery ?? "1 s"
    this.#hub = new Hub(options.onError)
    this.events$ = this.#hub.observable
  }

  /** Passes it on. */
  waitStarted(event: LockWaitEventOf<"waitStarted">): void {
    this.#hub.emit(event)
  }

  /** Passes it on. */
  retry(event: LockWaitEventOf<"retry">): void {
    this.#hub.emit(event)
  }

  /** Passes it on. */
  progress(event: LockWaitEventOf<"progress">): void {
    this.#hub.emit(event)
  }

  /** Passes it on. */
  acquired(event: LockWaitEventOf<"acquired">): void {
    this.#hub.emit(event)
  }

  /** Passes it on. */
  timedOut(event: LockWaitEventOf<"timedOut">): void {
    this.#hub.emit(event)
  }

  /** Passes it on. */
  cancelled(event: LockWaitEventOf<"cancelled">): void {
    this.#hub.emit(event)
  }

  /** Passes it on. */
  failed(event: LockWaitEventOf<"failed">): void {
    this.#hub.emit(event)
  }
}
