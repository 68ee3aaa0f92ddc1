/**
 * `Lock` over any `LeaseStore`: budgets, cancellation and turns of callers in front of the core of the key. What happens
 * to the lease is the protocol's.
 */
import * as Effect from "effect/Effect"
import type { Observable } from "rxjs"
import { type Clock, liveClock } from "../runtime/clock.ts"
import { Fibers } from "../runtime/fibers.ts"
import { type OnError, reporter } from "../runtime/report.ts"
import { attempt, cancelled, type Wish } from "./attempt.ts"
import type { KeyCore } from "./core.ts"
import { InvalidConfigError, type LockError, LockNotHeldError, type Owner, StoreUnavailableError } from "./errors.ts"
import { checkIncarnation, thisProcess } from "./incarnation.ts"
import { checkKey, encodeName } from "./keys.ts"
import type { AcquireOptions, Lease, Lock, LockEvent, ReleaseResult, RenewOptions } from "./lock.ts"
import { checkLockOptions, configOf, type LockOptions, requestDeadline, wishOf } from "./options.ts"
import type { LockConfig } from "./protocol/state.ts"
import { corrupt, ownerOf, parseRecord, RECORD_LIMIT } from "./record.ts"
import { coreOf } from "./registry.ts"
import { isStore, started } from "./start-store.ts"
import type { StoreLease } from "./store-lease.ts"
import type { LeaseStore } from "./store.ts"

/** One key of one incarnation on one store. */
export class StoreLock implements Lock {
  readonly key: string
  readonly #store: LeaseStore
  readonly #options: LockOptions
  readonly #id: string
  readonly #clock: Clock
  readonly #report: OnError
  readonly #fibers: Fibers
  readonly #core: KeyCore
  #lease: StoreLease | undefined

  /**
   * Throws InvalidKeyError or InvalidConfigError. Nothing is sent before the first call.
   * @param key see docs/protocol.md: non-empty NFC, at most 512 bytes
   */
  constructor(key: string, options: LockOptions & { readonly store: LeaseStore }) {
    checkKey(key)
    if (!isStore(options.store)) throw noStore()
    checkLockOptions(options)
    this.key = key
    this.#store = options.store
    this.#options = options
    this.#id = checkIncarnation(options.incarnation ?? thisProcess()).id
    this.#clock = options.clock ?? liveClock
    this.#report = reporter(options.onError)
    this.#fibers = new Fibers(this.#clock, options.onError)
    this.#core = coreOf({ key, id: this.#id, store: options.store }, this.#clock, options.onError)
  }

  /** All events of this key in this incarnation. */
  get events$(): Observable<LockEvent> {
    return this.#core.events$
  }

  /** Acquires the key within its budget. */
  async acquire(options: AcquireOptions = {}): Promise<Lease> {
    const wish = wishOf(options)
    const from = this.#clock.read()
    if (options.signal?.aborted) throw cancelled(this.key)
    const config = await this.#ready(wish, options.signal)
    this.#lease = await attempt(this.#core, config, { wish, from, signal: options.signal })
    return this.#lease
  }

  /** Forces one renewal of the lease now held. */
  async renew(options?: RenewOptions): Promise<void> {
    if (this.#lease !== undefined) return this.#lease.renew(options)
    throw new LockNotHeldError({
      key: this.key,
      message: `No lease on ${JSON.stringify(this.key)} is held by this lock`,
      next: "Acquire it first",
    })
  }

  /** Releases the lease now held. */
  async release(): Promise<ReleaseResult> {
    return this.#lease === undefined ? "alreadyLost" : this.#lease.release()
  }

  /** One read: who owns the key. */
  async peek(): Promise<Owner | undefined> {
    const config = await this.#ready(wishOf({}), undefined)
    const ref = { area: "leases", name: encodeName(this.key) } as const
    const answer = await this.#store.read(ref, { limit: RECORD_LIMIT, deadline: requestDeadline(config.ttl) })
    switch (answer.kind) {
      case "found":
        return ownerOf(parseRecord(this.key, new TextDecoder().decode(answer.body)))
      case "failed":
        throw answer.error
      case "tooLarge":
        return corrupt(this.key, "it is larger than 64 KiB")
      case "absent":
      case "unchanged":
        return undefined
    }
  }

  /** Called once for each waiter that asks for the key, soon if one has asked already. */
  onReleaseRequested(handler: () => void): Disposable {
    const call = (): void => this.#call(handler)
    let live = true
    if ((this.#core.hold?.signalled.length ?? 0) > 0) this.#clock.soon(() => live && call())
    const subscription = this.#core.events$.subscribe((event) => event.type === "ReleaseRequested" && call())
    return {
      [Symbol.dispose]: () => {
        live = false
        subscription.unsubscribe()
      },
    }
  }

  /** Called for each failed renewal and for the loss. */
  onRenewalError(handler: (error: LockError) => void): Disposable {
    const subscription = this.#core.events$.subscribe((event) => {
      if (event.type === "Lost") this.#call(() => handler(event.error))
      else if (event.type === "Degraded" && event.error !== undefined) {
        const { error } = event
        this.#call(() => handler(error))
      }
    })
    return { [Symbol.dispose]: () => subscription.unsubscribe() }
  }

  #call(handler: () => void): void {
    try {
      handler()
    } catch (error) {
      this.#report(error)
    }
  }

  /** The protocol's configuration, once the store has started, within the budget. */
  async #ready(wish: Wish, signal: AbortSignal | undefined): Promise<LockConfig> {
    const start = Effect.tryPromise({ try: () => started(this.#store), catch: (error) => error as LockError })
    const limit = wish.budgetMs === undefined ? Infinity : Math.max(wish.budgetMs, ONE_TRY)
    const orElse = (): Effect.Effect<never, LockError> => Effect.fail(this.#noStart(limit))
    await this.#fibers.run(
      Effect.raceFirst(Effect.timeoutOrElse(start, { duration: limit, orElse }), this.#abort(signal)),
    )
    return configOf(this.key, this.#id, this.#options, this.#store.capabilities)
  }

  /** Fails once the signal aborts; never ends without one. */
  #abort(signal: AbortSignal | undefined): Effect.Effect<never, LockError> {
    return Effect.callback<never, LockError>((resume) => {
      const aborted = (): void => resume(Effect.fail(cancelled(this.key)))
      if (signal?.aborted) return aborted()
      signal?.addEventListener("abort", aborted, { once: true })
      return Effect.sync(() => signal?.removeEventListener("abort", aborted))
    })
  }

  #noStart(limit: number): StoreUnavailableError {
    return new StoreUnavailableError({
      key: this.key,
      message: `The store ${this.#store.name} did not get ready within ${limit} ms`,
      next: "Check the store and the way to it",
    })
  }
}

/** What the start of a store may take of one try without waiting, in milliseconds. */
const ONE_TRY = 10_000

const noStore = (): InvalidConfigError =>
  new InvalidConfigError({
    message: "The lock was given no store",
    next: "Pass store: gcsStore({ bucket }), fileStore({ directory }) or memoryStore()",
  })
