/**
 * One caller's acquire, from its place in this process's queue to its lease or error: budget and cancellation while it
 * queues. Once its turn has come both are the protocol's.
 */
import type { Clock, Reading } from "../runtime/clock.ts"
import type { KeyCore } from "./core.ts"
import { LockCancelledError, type LockError, LockTimeoutError, type Owner, OwnedElsewhereError } from "./errors.ts"
import type { Attempt, LockConfig } from "./protocol/state.ts"
import { StoreLease } from "./store-lease.ts"

/** What a caller wants, checked. */
export type Wish = Omit<Attempt, "nonce" | "startedAt">

/** When a caller began, and what ends its patience. */
export interface Caller {
  readonly wish: Wish
  readonly from: Reading
  readonly signal: AbortSignal | undefined
}

/** Settles with the lease of the key, within the caller's budget. */
export function attempt(core: KeyCore, config: LockConfig, caller: Caller): Promise<StoreLease> {
  const { wish, signal } = caller
  if (signal?.aborted) return Promise.reject(cancelled(core.key))
  const refusal = core.busy ? refusedHere(core, config, wish) : undefined
  if (refusal !== undefined) return Promise.reject(refusal)
  const { promise, resolve, reject } = Promise.withResolvers<StoreLease>()
  const waited = (): number => core.clock.read().mono - caller.from.mono
  const queue = new Queued(core.clock, signal, {
    cancel: () => core.dispatch({ type: "cancel" }),
    giveUp: (why) => {
      leave()
      settle()
      reject(why === "cancelled" ? cancelled(core.key) : timedOut(core, config, wish, waited()))
    },
  })
  const subscription = core.events$.subscribe((event) => {
    if (!queue.begun || (event.type !== "Acquired" && event.type !== "GaveUp")) return
    settle()
    if (event.type === "Acquired") resolve(new StoreLease(core, core.hold!, event))
    else reject(event.error)
  })
  const settle = (): void => {
    queue.end()
    subscription.unsubscribe()
  }
  if (wish.budgetMs !== undefined) queue.limit(wish.budgetMs - waited())
  const leave = core.join(() => {
    queue.begin()
    core.begin(config, { type: "acquire", ...wish, waitedMs: waited() })
  })
  return promise
}

/** What the end of a caller's patience leads to. */
interface Endings {
  cancel(): void
  giveUp(why: "cancelled" | "timedOut"): void
}

/** The patience of a caller: what ends it in the queue ends it here, later it is passed on. */
class Queued {
  begun = false
  readonly #clock: Clock
  readonly #signal: AbortSignal | undefined
  readonly #then: Endings
  #timer: { cancel(): void } | undefined

  constructor(clock: Clock, signal: AbortSignal | undefined, then: Endings) {
    this.#clock = clock
    this.#signal = signal
    this.#then = then
    signal?.addEventListener("abort", this.#aborted, { once: true })
  }

  limit(ms: number): void {
    if (!this.begun) this.#timer = this.#clock.after(ms, () => this.#then.giveUp("timedOut"))
  }

  begin(): void {
    this.begun = true
    this.#timer?.cancel()
  }

  end(): void {
    this.#timer?.cancel()
    this.#signal?.removeEventListener("abort", this.#aborted)
  }

  readonly #aborted = (): void => {
    if (this.begun) this.#then.cancel()
    else this.#then.giveUp("cancelled")
  }
}

/** The caller's signal ended the wait before anything was sent. */
export function cancelled(key: string): LockCancelledError {
  return new LockCancelledError({
    key,
    message: `The wait for ${JSON.stringify(key)} was cancelled by its signal`,
    next: "Nothing is held; acquire again when it is wanted",
  })
}

/** The key is this process's own already, and the caller won't wait. */
function refusedHere(core: KeyCore, config: LockConfig, wish: Wish): LockError | undefined {
  if (wish.budgetMs === 0) return timedOut(core, config, wish, 0)
  if (wish.whenOwned !== "report" || core.hold === undefined) return undefined
  return new OwnedElsewhereError({
    key: core.key,
    owner: ownerHere(core, config),
    message: `${JSON.stringify(core.key)} is held by this very process`,
    next: "Use the lease that is held, or release it first",
  })
}

function timedOut(core: KeyCore, config: LockConfig, wish: Wish, waited: number): LockTimeoutError {
  const waitedMs = Math.round(waited)
  return new LockTimeoutError({
    key: core.key,
    owner: ownerHere(core, config),
    waitedMs,
    limitMs: wish.budgetMs ?? Infinity,
    source: wish.budgetSource,
    message: `${JSON.stringify(core.key)} is in use by this very process; waited ${waitedMs} ms (${wish.budgetSource})`,
    next: "Release it where it is held, or wait longer",
  })
}

function ownerHere(core: KeyCore, config: LockConfig): Owner | undefined {
  const { hold } = core
  return hold && { ownerId: config.id, token: hold.token, expiresAt: core.expiresAt }
}
