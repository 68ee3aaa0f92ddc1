/**
 * What an acquire tells of its wait, and to whom: the events, the observer that hears them one by one, and the same as an
 * Observable. When each of them comes is waits/watch.ts's to decide.
 *
 * A call that never had to wait tells no `waitStarted`: its ending is all that is heard of it.
 */
import type { Observable } from "rxjs"
import type { Duration } from "../../runtime/input/duration.ts"
import { aDuration, aFunction, type OptionChecks, refuseUnknown } from "../../runtime/input/options.ts"
import { Hub } from "../../runtime/observables.ts"
import type { OnError } from "../../runtime/report.ts"
import type { LockCancelledError, LockTimeoutError, Owner } from "./errors.ts"

/**
 * What a call waits for: `holder`, another process that has the key or is to get it first; `process`, an earlier call of this
 * process; `store`, which is starting, slow or failing.
 */
export type WaitingFor = "holder" | "process" | "store"

interface WaitStamp {
  /** Unix milliseconds of this process's clock. */
  readonly at: number
  /** Names the call: all that it tells carries the same. */
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
  /** For how long it has: by its record, or, where that doesn't tell, at least since this call saw it first. Milliseconds. */
  readonly heldMs?: number
  /** How often this call has looked again so far. */
  readonly retries: number
}

interface WaitEnding {
  /** Whether `waitStarted` was told before. */
  readonly waited: boolean
  readonly retries: number
}

/** What happens to one call that waits. The last three and `acquired` are endings: each call has exactly one. */
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
 * Hears how a call waits. Whatever it does changes nothing of the call: what it throws, or rejects with, goes to onError. It is
 * called after the step that it is told of, in the order of events. One observer may watch many calls: `wait` tells them apart.
 */
export interface LockWaitObserver {
  /** How often `progress` is told while the call waits: 10 ms or more. Without one: 1 s. */
  readonly progressEvery?: Duration
  /** The call can't have the key at once. Told once, and never where it needn't wait. */
  waitStarted?(event: LockWaitEventOf<"waitStarted">): void | Promise<void>
  /** It looks at the key again. */
  retry?(event: LockWaitEventOf<"retry">): void | Promise<void>
  /** Time goes by. */
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

/** An observer that passes on all that it hears: `lock.acquire({ observer: waits })`, `waits.events$.subscribe(…)`. */
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
