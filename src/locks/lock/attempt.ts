/**
 * One caller's acquire once the store has started, from its place in this process's queue to its lease or error. While
 * it queues, its budget and its cancellation are kept here. Once its turn has come both are the protocol's.
 */
import type { Subscription } from "rxjs"
import type { OnError } from "../../runtime/report.ts"
import type { Timer } from "../../runtime/time/clock.ts"
import type { LockError } from "../api/errors.ts"
import type { LockEvent } from "../api/lock.ts"
import type { KeyRuntime } from "../engine/key-runtime.ts"
import type { AcquireSettings } from "../engine/options.ts"
import { type Ahead, cancelled, heldHere, inUseHere } from "../engine/refusals.ts"
import type { LockConfig, LockState } from "../protocol/rules/state.ts"
import type { WaitWatch } from "../waits/watch.ts"
import { StoreLease } from "./store-lease.ts"

/** A call of `acquire`, checked. */
export interface Caller {
  readonly settings: AcquireSettings
  /** When the call came, by the monotonic clock. */
  readonly from: number
  readonly signal: AbortSignal | undefined
  readonly onError: OnError | undefined
  /** Process groups that the lease is for, where they are known already. */
  readonly groups: readonly number[]
  /** Watches how the call waits, where somebody observes it. */
  readonly watch: WaitWatch | undefined
  /** Called with the lease in the step that acquires it; the promise settles later. */
  acquired(lease: StoreLease): void
}

/** Settles with the lease of the key, within the caller's budget. */
export function attempt(runtime: KeyRuntime, config: LockConfig, caller: Caller): Promise<StoreLease> {
  const { promise, resolve, reject } = Promise.withResolvers<StoreLease>()
  const turn = new CallerTurn(runtime, config, caller, { resolve, reject })
  if (caller.signal?.aborted) turn.refuse(cancelled(runtime.key))
  else turn.join()
  return promise
}

/** A caller's turn at the key. */
class CallerTurn {
  readonly #runtime: KeyRuntime
  readonly #config: LockConfig
  readonly #caller: Caller
  readonly #settle: Omit<PromiseWithResolvers<StoreLease>, "promise">
  #begun = false
  /** Whether it waited in this process, and was counted for it. */
  #hasQueued = false
  /** When it asked for its turn, by the monotonic clock. */
  #joinedAt = 0
  #leave: () => void = () => {}
  #timer: Timer | undefined
  #others: Subscription | undefined
  /** The id of the last look that the watch was told of. */
  #looked: number | undefined

  constructor(
    runtime: KeyRuntime,
    config: LockConfig,
    caller: Caller,
    settle: Omit<PromiseWithResolvers<StoreLease>, "promise">,
  ) {
    this.#runtime = runtime
    this.#config = config
    this.#caller = caller
    this.#settle = settle
  }

  join(): void {
    const refusal = this.#runtime.callers.busy ? this.#refusal() : undefined
    if (refusal !== undefined) return this.refuse(refusal)
    this.#caller.signal?.addEventListener("abort", this.#aborted, { once: true })
    this.#joinedAt = this.#runtime.clock.mono()
    this.#leave = this.#runtime.callers.join(() => this.#begin())
    if (this.#begun) return
    this.#hasQueued = true
    this.#runtime.countQueued()
    this.#queue()
  }

  /** Ends the call without the key. */
  refuse(error: LockError): void {
    this.#caller.watch?.failed(error)
    this.#settle.reject(error)
  }

  /** In the queue: a limited wait has a timer, and a call that won't wait for a holder watches for one. */
  #queue(): void {
    const { budgetMs, whenOwned } = this.#caller.settings
    this.#caller.watch?.waits("process", () => this.#runtime.holder)
    if (budgetMs !== undefined) {
      this.#timer = this.#runtime.clock.after(budgetMs - this.#waited, () => this.#giveUp(this.#inUse()))
    }
    if (whenOwned === "report") {
      this.#others = this.#runtime.events$.subscribe(() => {
        const refusal = this.#refusal()
        if (refusal !== undefined) this.#giveUp(refusal)
      })
    }
  }

  #begin(): void {
    this.#begun = true
    this.#endQueue()
    const { settings, groups } = this.#caller
    const queuedMs = this.#hasQueued ? this.#runtime.clock.mono() - this.#joinedAt : 0
    const input = { type: "acquire", ...settings, groups, spentMs: this.#waited, queuedMs } as const
    const { watch } = this.#caller
    const onStep = watch && ((state: LockState) => this.#look(watch, state))
    this.#runtime.begin(this.#config, input, {
      listener: (event) => this.#hear(event),
      onStep,
      queued: this.#hasQueued,
    })
  }

  #hear(event: LockEvent): void {
    if (event.type === "Acquired") {
      this.#end()
      const lease = new StoreLease(this.#runtime, event, this.#caller.onError)
      this.#caller.acquired(lease)
      this.#caller.watch?.acquired(lease)
      this.#settle.resolve(lease)
    } else if (event.type === "GaveUp") {
      this.#end()
      this.refuse(event.error)
    }
  }

  /** Ends a turn that has not begun. */
  #giveUp(error: LockError): void {
    this.#leave()
    this.#endQueue()
    this.#end()
    this.refuse(error)
  }

  /** Tells the watch that the call waits, once a look has shown that the key can't be had now, or has failed. */
  #look(watch: WaitWatch, { phase, flight }: LockState): void {
    if (phase.name !== "seeking") return
    const { waiting, polls, failures, next } = phase
    if (!waiting && polls === 0 && failures === 0 && next.act !== "mark") return
    watch.waits(phase.lastError === undefined ? "holder" : "store", () => this.#runtime.holder)
    if (flight?.act !== "read" || flight.id === this.#looked) return
    this.#looked = flight.id
    watch.looks()
  }

  #endQueue(): void {
    this.#timer?.cancel()
    this.#others?.unsubscribe()
  }

  #end(): void {
    this.#caller.signal?.removeEventListener("abort", this.#aborted)
  }

  readonly #aborted = (): void => {
    if (this.#begun) this.#runtime.dispatch({ type: "cancel" })
    else this.#giveUp(cancelled(this.#runtime.key))
  }

  /** Why the call doesn't wait for this process itself. */
  #refusal(): LockError | undefined {
    const { budgetMs, whenOwned } = this.#caller.settings
    if (budgetMs === 0) return this.#inUse()
    return whenOwned === "report" && this.#runtime.hold !== undefined
      ? heldHere(this.#runtime.key, this.#runtime.owner)
      : undefined
  }

  #inUse(): LockError {
    return inUseHere(this.#runtime.key, this.#ahead, this.#caller.settings, this.#waited)
  }

  get #waited(): number {
    return this.#runtime.clock.mono() - this.#caller.from
  }

  /** The owner for which it queues. */
  get #ahead(): Ahead {
    const { owner } = this.#runtime
    return { owner, isHere: owner?.ownerId === this.#config.id }
  }
}
