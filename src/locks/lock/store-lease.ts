/**
 * One ownership as its holder sees it, over the runtime of its key. It is right by time: `isHeld()` and the signal read
 * the clocks before they answer. It ends before any observer is told. Afterwards it only says how it ended.
 */
import { defer, EMPTY, type Observable, takeWhile } from "rxjs"
import type { Duration } from "../../runtime/input/duration.ts"
import { millis, oneOf } from "../../runtime/input/options.ts"
import { type LatchedAbort, latchedAbort } from "../../runtime/latch-signal.ts"
import { guarded } from "../../runtime/observables.ts"
import type { OnError } from "../../runtime/report.ts"
import type { LockError } from "../api/errors.ts"
import type { AcquiredHow, Lease, LockEvent, ReleaseOptions, ReleaseResult, RenewOptions } from "../api/lock.ts"
import type { KeyRuntime } from "../engine/key-runtime.ts"
import { checkRelease, checkRenewal } from "../engine/options.ts"
import { notHeld } from "../engine/refusals.ts"
import type { Hold } from "../protocol/rules/state.ts"
import { sameGroups } from "../record.ts"

type LeaseEnding = Extract<LockEvent, { type: "Lost" | "Released" }>

const isEnding = (event: LockEvent): event is LeaseEnding => event.type === "Lost" || event.type === "Released"

export class StoreLease implements Lease {
  readonly key: string
  readonly how: AcquiredHow
  readonly nonce: string
  readonly past: readonly string[]
  readonly note: string | undefined
  readonly #runtime: KeyRuntime
  readonly #onError: OnError | undefined
  /** None until somebody asks for the signal. */
  #abort: LatchedAbort | undefined
  /** Calls that wait for an event of this lease. None while none does. */
  #waiting: Set<(event: LockEvent) => void> | undefined
  #token: number
  #deadline: number
  #ending: LeaseEnding | undefined
  #released: Promise<ReleaseResult> | undefined

  constructor(runtime: KeyRuntime, acquired: Extract<LockEvent, { type: "Acquired" }>, onError: OnError | undefined) {
    this.key = runtime.key
    this.how = acquired.how
    this.nonce = runtime.hold?.nonce ?? ""
    this.past = runtime.hold?.past ?? []
    this.note = runtime.hold?.note
    this.#runtime = runtime
    this.#onError = onError
    this.#token = acquired.token
    this.#deadline = acquired.deadline
    runtime.follow((event) => this.#hear(event))
  }

  /** The fencing token. */
  get token(): number {
    return this.#current?.token ?? this.#token
  }

  /** Unix milliseconds of this process's clock, informative. */
  get deadline(): number {
    return (this.#current && this.#runtime.deadline) ?? this.#deadline
  }

  /** Aborts on loss only. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = latchedAbort(() => this.#look())
      if (this.#ending?.type === "Lost") this.#abort.abort(this.#ending.error)
    }
    return this.#abort.signal
  }

  /** This key's events from now on; completes after Lost or Released. */
  get events$(): Observable<LockEvent> {
    const events$ = this.#runtime.events$.pipe(takeWhile((event) => !isEnding(event), true))
    return guarded(
      defer(() => (this.#ending === undefined ? events$ : EMPTY)),
      this.#onError,
    )
  }

  /** Whether this process may act now. */
  isHeld(): boolean {
    return this.#current !== undefined && this.#runtime.isHeld()
  }

  /** What a head says of it. */
  traced(trace: "possible" | "sure"): void {
    oneOf("trace", trace, ["possible", "sure"])
    if (this.#current !== undefined) this.#runtime.traced(trace)
  }

  /** Counts the tenure from now. */
  stay(minTenure: Duration): void {
    const ms = millis("minTenure", minTenure)
    if (this.#current !== undefined) this.#runtime.dispatch({ type: "stay", ms })
  }

  /** Forces one renewal now. */
  async renew(options: RenewOptions = {}): Promise<void> {
    checkRenewal(options)
    const { tokenAbove } = options
    if (this.#current === undefined) throw this.#gone()
    const renewed = this.#happens<void>((event, { resolve, reject }) => {
      if (event.type === "Renewed" || event.type === "Recovered") {
        const isNew = this.#current?.isAsked !== true
        if (isNew && (tokenAbove === undefined || event.token > tokenAbove)) resolve()
      } else if (event.type === "Degraded" && event.error !== undefined) reject(event.error)
      else if (isEnding(event)) reject(this.#gone())
    })
    this.#runtime.dispatch({ type: "renew", tokenAbove })
    await this.#runtime.callers.attend(renewed)
  }

  /**
   * Settles once the record names these process groups, and no others: from then on nobody takes the key over on this
   * machine while one of them lives. Rejects with LockLostError or LockNotHeldError.
   */
  async nameGroups(groups: readonly number[]): Promise<void> {
    if (this.#current === undefined) throw this.#gone()
    if (sameGroups(this.#current.named, groups) && sameGroups(this.#current.groups, groups)) return
    const named = this.#happens<void>((event, { resolve, reject }) => {
      if (event.type === "Renewed" || event.type === "Recovered") {
        if (sameGroups(this.#current?.named ?? [], groups)) resolve()
      } else if (isEnding(event)) reject(this.#gone())
    })
    this.#runtime.dispatch({ type: "nameGroups", groups })
    await this.#runtime.callers.attend(named)
  }

  /** Ends ownership; idempotent, but that a call after `unknown` tries again. */
  async release(options: ReleaseOptions = {}): Promise<ReleaseResult> {
    checkRelease(options)
    this.#released ??= this.#release(options)
    return this.#released
  }

  /** The end of a block doesn't repeat a release: its section knows the result. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#ending === undefined) await this.release()
  }

  async #release({ note }: ReleaseOptions): Promise<ReleaseResult> {
    if (this.#current === undefined && !this.#runtime.mayLeaveAgain(this.nonce)) return this.#endedAs
    const released = this.#happens<ReleaseResult>((event, { resolve }) => {
      if (event.type === "Released") resolve(event.result)
      else if (event.type === "Lost") resolve("alreadyLost")
    })
    this.#runtime.leave(note)
    const result = await released
    if (result === "unknown") this.#released = undefined
    return result
  }

  get #endedAs(): ReleaseResult {
    return this.#ending?.type === "Released" ? this.#ending.result : "alreadyLost"
  }

  /** Settles by an event of this lease. */
  async #happens<A>(settle: (event: LockEvent, call: PromiseWithResolvers<A>) => void): Promise<A> {
    const call = Promise.withResolvers<A>()
    const hear = (event: LockEvent): void => settle(event, call)
    this.#waiting ??= new Set()
    this.#waiting.add(hear)
    try {
      return await call.promise
    } finally {
      this.#waiting?.delete(hear)
      if (this.#waiting?.size === 0) this.#waiting = undefined
    }
  }

  get #current(): Hold | undefined {
    const { hold } = this.#runtime
    return hold?.nonce === this.nonce ? hold : undefined
  }

  /**
   * Past the deadline the next step of the protocol finds the loss. A lease that is only suspect isn't stepped for a
   * reading: Node and Deno read a signal by themselves, each in its own places, and that must change nothing.
   */
  #look(): void {
    if (this.#current !== undefined) this.#runtime.compareClocks()
  }

  #hear(event: LockEvent): void {
    if ("token" in event) this.#token = event.token
    if ("deadline" in event) this.#deadline = event.deadline
    if (isEnding(event)) this.#ending = event
    if (event.type === "Lost") this.#abort?.abort(event.error)
    if (this.#waiting !== undefined) for (const hear of [...this.#waiting]) hear(event)
  }

  /** The error of a call on a lease that has ended. */
  #gone(): LockError {
    return this.#ending?.type === "Lost" ? this.#ending.error : notHeld(this.key)
  }
}
