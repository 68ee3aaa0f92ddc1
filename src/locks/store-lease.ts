/**
 * One ownership as its holder sees it, over the core of its key. It is right by time: `isHeld()` and the signal read the
 * clocks before they answer. After Lost or Released it only tells how it ended.
 */
import { filter, type Observable, takeWhile } from "rxjs"
import { latchedAbort, type LatchedAbort } from "../runtime/latch-signal.ts"
import type { KeyCore } from "./core.ts"
import { type LockError, LockLostError, LockNotHeldError } from "./errors.ts"
import type { AcquiredHow, Lease, LockEvent, ReleaseResult, RenewOptions } from "./lock.ts"
import type { Hold } from "./protocol/state.ts"

type Ending = Extract<LockEvent, { type: "Lost" | "Released" }>

const isEnding = (event: LockEvent): event is Ending => event.type === "Lost" || event.type === "Released"

export class StoreLease implements Lease {
  readonly key: string
  readonly how: AcquiredHow
  readonly events$: Observable<LockEvent>
  readonly #core: KeyCore
  readonly #nonce: string
  readonly #abort: LatchedAbort
  #token: number
  #deadline: number
  #ending: Ending | undefined
  #released: Promise<ReleaseResult> | undefined

  constructor(core: KeyCore, hold: Hold, acquired: Extract<LockEvent, { type: "Acquired" }>) {
    this.key = core.key
    this.how = acquired.how
    this.#core = core
    this.#nonce = hold.nonce
    this.#token = acquired.token
    this.#deadline = acquired.deadline
    this.#abort = latchedAbort(() => this.#look())
    this.events$ = core.events$.pipe(
      filter(() => !this.#over),
      takeWhile((event) => !isEnding(event), true),
    )
    core.events$.pipe(takeWhile((event) => !isEnding(event), true)).subscribe((event) => this.#follow(event))
  }

  /** The fencing token. */
  get token(): number {
    return this.#current?.token ?? this.#token
  }

  /** Unix milliseconds of this process's clock, informative. */
  get deadline(): number {
    return this.#deadline
  }

  /** Aborts on loss only. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** Whether this process may act now. */
  isHeld(): boolean {
    return this.#current !== undefined && this.#core.isHeld()
  }

  /** Forces one renewal now. */
  async renew(options: RenewOptions = {}): Promise<void> {
    if (this.#current === undefined) throw this.#notHeld()
    const { tokenAbove } = options
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const subscription = this.#core.events$.subscribe((event) => {
      if (event.type === "Renewed" || event.type === "Recovered") {
        if (tokenAbove === undefined || event.token > tokenAbove) resolve()
      } else if (event.type === "Degraded" && event.error !== undefined) reject(event.error)
      else if (event.type === "Lost") reject(event.error)
      else if (event.type === "Released") reject(this.#notHeld())
    })
    try {
      this.#core.dispatch({ type: "renew", tokenAbove })
      await promise
    } finally {
      subscription.unsubscribe()
    }
  }

  /** Ends ownership; idempotent. */
  release(): Promise<ReleaseResult> {
    this.#released ??= this.#release()
    return this.#released
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release()
  }

  async #release(): Promise<ReleaseResult> {
    if (this.#current === undefined) return this.#ending?.type === "Released" ? this.#ending.result : "alreadyLost"
    const { promise, resolve } = Promise.withResolvers<ReleaseResult>()
    const subscription = this.#core.events$.subscribe((event) => {
      if (event.type === "Released") resolve(event.result)
      else if (event.type === "Lost") resolve("alreadyLost")
    })
    this.#core.dispatch({ type: "release" })
    const result = await promise
    subscription.unsubscribe()
    return result
  }

  get #current(): Hold | undefined {
    const { hold } = this.#core
    return hold?.nonce === this.#nonce ? hold : undefined
  }

  get #over(): boolean {
    return this.#ending !== undefined
  }

  /** Past the deadline the next step of the protocol finds the loss; before it there is nothing to find. */
  #look(): void {
    if (this.#current !== undefined && !this.#core.isHeld()) this.#core.dispatch({ type: "tick" })
  }

  #follow(event: LockEvent): void {
    if ("deadline" in event) this.#deadline = event.deadline
    if ("token" in event) this.#token = event.token
    if (!isEnding(event)) return
    this.#ending = event
    if (event.type === "Lost") this.#abort.abort(event.error)
  }

  #notHeld(): LockError {
    if (this.#ending?.type === "Lost") return this.#ending.error
    return new LockNotHeldError({
      key: this.key,
      message: `The lease on ${JSON.stringify(this.key)} was released`,
      next: "Acquire the key again",
    })
  }
}

/** Whether an error is the loss of a lease. */
export const isLoss = (error: unknown): error is LockLostError => error instanceof LockLostError
