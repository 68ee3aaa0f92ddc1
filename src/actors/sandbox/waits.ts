/**
 * The wait of one call: how long it may last, and whether its caller still wants it. The budget counts from the call,
 * over all that the call waits for. It doesn't bound what the call has begun by then. A budget of 0 is one try. It
 * never runs out by itself: it ends where the call would have to wait for something else (`mayWait`).
 */
import { LockCancelledError, LockTimeoutError, type Owner } from "../../locks/api/errors.ts"
import type { AcquireOptions, TimeoutSource } from "../../locks/api/lock.ts"
import type { LockWaitObserver } from "../../locks/api/wait-observer.ts"
import { sourceOf } from "../../locks/engine/options.ts"
import { named } from "../../locks/record.ts"
import { type AskHolder, WaitWatch } from "../../locks/waits/watch.ts"
import type { Duration } from "../../runtime/input/duration.ts"
import { millis } from "../../runtime/input/options.ts"
import { orAbort } from "../../runtime/races.ts"
import type { OnError } from "../../runtime/report.ts"
import type { Clock, Timer } from "../../runtime/time/clock.ts"

/** What a library call waits without a `timeout`, in milliseconds. */
export const defaultWait = 30_000

/** How a call waits. */
export interface WaitOptions {
  readonly timeout?: Duration | "infinite" | undefined
  readonly timeoutSource?: AcquireOptions["timeoutSource"] | undefined
  readonly signal?: AbortSignal | undefined
  readonly observer?: LockWaitObserver | undefined
}

/** What is waited for, for messages. */
export interface Awaited {
  readonly key: string
  /** Completes "waited for". */
  readonly what: string
  /** Gets what the call's observer throws. */
  readonly onError?: OnError
}

/** Why a wait takes so long, where that is known. */
export interface WaitDetail {
  readonly owner?: Owner | undefined
  readonly cause?: unknown
  /** What goes on where it is, as a clause. */
  readonly where?: string | undefined
}

/** The budget in milliseconds. InvalidConfigError for what isn't a duration. */
const limitOf = ({ timeout = defaultWait }: WaitOptions): number =>
  timeout === "infinite" ? Infinity : millis("timeout", timeout)

export class CallWait implements Disposable {
  /** Aborts when the budget is over or the caller gives up, with the error to reject with as its reason. */
  readonly signal: AbortSignal
  readonly limit: number
  /** The lock key of what is waited for. */
  readonly key: string
  readonly source: TimeoutSource
  /** Tells the call's observer how it waits, where there is one. */
  readonly watch: WaitWatch | undefined
  readonly #clock: Clock
  readonly #started: number
  readonly #controller = new AbortController()
  readonly #awaited: Awaited
  readonly #caller: AbortSignal | undefined
  #timer: Timer | undefined
  /** What is known of why it takes so long: for the error. */
  detail: () => WaitDetail = () => ({})

  constructor(clock: Clock, awaited: Awaited, options: WaitOptions) {
    this.limit = limitOf(options)
    this.source = sourceOf(options)
    const { key, onError } = awaited
    this.key = key
    this.#started = clock.mono()
    const watched = { key, limitMs: this.limit, source: this.source.name, from: this.#started }
    const { observer } = options
    this.watch = observer === undefined ? undefined : new WaitWatch(observer, clock, watched, onError)
    this.signal = this.#controller.signal
    this.#clock = clock
    this.#awaited = awaited
    this.#caller = options.signal
    this.#caller?.addEventListener("abort", this.#cancelled)
    if (this.limit > 0 && this.limit < Infinity) this.#timer = clock.after(this.limit, this.#overdue)
    if (this.#caller?.aborted) this.#cancelled()
  }

  /** For a trace: by when the wait has to be over, where that is said. One try takes what its requests take. */
  get budget(): { readonly budget?: number } {
    return this.limit === 0 || this.limit === Infinity ? {} : { budget: this.limit }
  }

  /** Milliseconds left. */
  get left(): number {
    return Math.max(0, this.limit - (this.#clock.mono() - this.#started))
  }

  /** Begins a wait for another process, or for another call of this one. Throws where the budget is 0, or over. */
  mayWait(): void {
    if (this.limit === 0) this.#overdue()
    this.signal.throwIfAborted()
    const ask: AskHolder = () => {
      const { owner: holder } = this.detail()
      return holder && { holder }
    }
    this.watch?.waits(ask() === undefined ? "process" : "holder", ask)
  }

  /** Settles as the promise does, or rejects when the wait is over first. The promise's own end is then ignored. */
  for<A>(promise: Promise<A>): Promise<A> {
    return orAbort(promise, this.signal)
  }

  /**
   * Tells the observer of the error that the call rejects with, unless the wait had ended before. Gives that error
   * back.
   */
  failed(error: unknown): Error {
    this.watch?.failed(error)
    return error as Error
  }

  /** Ends the wait without an error: what it was for has begun. */
  [Symbol.dispose](): void {
    this.#timer?.cancel()
    this.#caller?.removeEventListener("abort", this.#cancelled)
  }

  readonly #overdue = (): void => {
    const { key, what } = this.#awaited
    const { name: source, change } = this.source
    const { where, ...detail } = this.detail()
    const waited = this.limit === 0 ? "One try would have had to wait" : `Waited ${Math.round(this.limit)} ms`
    const held = detail.owner === undefined ? "" : `, held by ${named(detail.owner)}`
    this.#end(
      new LockTimeoutError({
        message: `${waited} (${source}) for ${what} of ${key}${held}${where === undefined ? "" : `, where ${where}`}`,
        next: `${change}, or find out what keeps it (manager.whereIs tells the owner)`,
        key,
        ...detail,
        waitedMs: this.limit,
        limitMs: this.limit,
        source,
      }),
    )
  }

  readonly #cancelled = (): void => {
    const { key, what } = this.#awaited
    this.#end(
      new LockCancelledError({
        message: `The wait for ${what} of ${key} was cancelled by its caller's signal`,
        next: "Nothing is to be done: whoever aborted the signal wanted this",
        key,
        cause: this.#caller?.reason,
      }),
    )
  }

  #end(error: unknown): void {
    this[Symbol.dispose]()
    this.#controller.abort(error)
  }
}
