/**
 * `Lock` over any `LeaseStore`. Checks what its caller asks for, and passes it to the runtime of the key. What happens
 * to the lease is the protocol's.
 */
import { defer, type Observable } from "rxjs"
import { aFunction, type OptionChecks, refuseUnknown } from "../../runtime/input/options.ts"
import { guarded } from "../../runtime/observables.ts"
import { type OnError, reporter } from "../../runtime/report.ts"
import { liveClock } from "../../runtime/time/clock.ts"
import type { LockError, Owner } from "../api/errors.ts"
import { checkKey } from "../api/keys.ts"
import type { AcquireOptions, Lease, Lock, LockEvent, ReleaseResult, RenewOptions } from "../api/lock.ts"
import { thisProcess } from "../engine/incarnation.ts"
import type { KeyRuntime } from "../engine/key-runtime.ts"
import { type KeyRuntimes, keyRuntimesOf } from "../engine/key-runtimes.ts"
import {
  checkRenewal,
  configOf,
  LOCK_OPTIONS,
  type LockOptions,
  requestDeadline,
  type AcquireSettings,
  acquireSettings,
} from "../engine/options.ts"
import { cancelled, noStore, notHeld } from "../engine/refusals.ts"
import { ONE_TRY } from "../protocol/rules/budget.ts"
import type { LockConfig } from "../protocol/rules/state.ts"
import { corruptError, ownerOf, parseRecord } from "../record.ts"
import type { LeaseStore } from "../stores/port.ts"
import { hasStarted, isStore } from "../stores/start.ts"
import { watchOf } from "../waits/watch.ts"
import { attempt } from "./attempt.ts"

const OPTIONS: OptionChecks<StoreLockOptions> = { ...LOCK_OPTIONS, store: true }

/** How a lock on a store is made. */
interface StoreLockOptions extends LockOptions {
  /** Where the lease is. */
  readonly store: LeaseStore
}

/** One key of one incarnation on one store. */
export class StoreLock implements Lock {
  /** What is to be owned. */
  readonly key: string
  readonly #options: LockOptions
  readonly #id: string
  readonly #runtimes: KeyRuntimes
  #lease: Lease | undefined

  /**
   * Throws InvalidKeyError or InvalidConfigError. Nothing is sent before the first call.
   * @param key non-empty NFC of at most 512 bytes, without control characters and without `.` and `..` segments
   */
  constructor(key: string, options: LockOptions & { readonly store: LeaseStore }) {
    checkKey(key)
    if (!isStore(options?.store)) throw noStore(key)
    refuseUnknown("a lock", options, OPTIONS)
    const { store, clock = liveClock, incarnation = thisProcess(store) } = options
    this.key = key
    this.#options = options
    this.#id = incarnation.id
    this.#runtimes = keyRuntimesOf(store, this.#id, clock, key)
  }

  /** All events of this key in this incarnation. */
  get events$(): Observable<LockEvent> {
    return guarded(
      defer(() => this.#runtime.events$),
      this.#report,
    )
  }

  /**
   * Settles within its budget (default 30 s) with a lease, or rejects: LockTimeoutError, LockContentionError,
   * OwnedElsewhereError, LockCancelledError, CheckpointVersionError, StoreUnavailableError, StoreMisconfiguredError,
   * CorruptRecordError, FormatVersionError, InvalidConfigError. What it may have left in the store is erased, if need
   * be in the background: within 30 s where the store answers.
   */
  acquire(options?: AcquireOptions): Promise<Lease> {
    return this.acquireSince(this.#runtimes.clock.mono(), options)
  }

  /**
   * @internal The same for a call that came at `from`, by the monotonic clock, and has waited for other keys since.
   * `groups`: process groups that will work under the lease, as `nameGroups` would name them.
   */
  async acquireSince(from: number, options: AcquireOptions = {}, groups: readonly number[] = []): Promise<Lease> {
    const settings = acquireSettings(options)
    const { signal, observer } = options
    const { onError } = this.#options
    const { clock } = this.#runtimes
    const watch = watchOf(observer, clock, { key: this.key, settings, from, onError })
    const ready = signal?.aborted
      ? Promise.reject(cancelled(this.key))
      : this.#ready(settings, signal, clock.mono() - from)
    if (watch !== undefined) ready.catch(watch.failed)
    const config = await ready
    const acquired = (lease: Lease): void => void (this.#lease = lease)
    return attempt(this.#runtime, config, { settings, from, signal, onError, groups, watch, acquired })
  }

  /** Forces one renewal of the lease now held; LockNotHeldError where none is. The lease also renews itself. */
  async renew(options: RenewOptions = {}): Promise<void> {
    checkRenewal(options)
    if (this.#lease === undefined) throw notHeld(this.key)
    return this.#lease.renew(options)
  }

  /** Releases the lease now held; `alreadyLost` where none is. End the work under it first. Never rejects. */
  async release(): Promise<ReleaseResult> {
    return this.#lease === undefined ? "alreadyLost" : this.#lease.release()
  }

  /**
   * Reads who owns the key by its record; undefined where nobody does. May be stale. Rejects with
   * StoreUnavailableError, StoreMisconfiguredError, CorruptRecordError or InvalidConfigError.
   */
  async peek(): Promise<Owner | undefined> {
    const { ttl } = await this.#ready(acquireSettings({}))
    const answer = await this.#runtime.requests.look(requestDeadline(ttl))
    switch (answer.kind) {
      case "found":
        return ownerOf(parseRecord(this.key, answer.text))
      case "failed":
        throw answer.error
      case "tooLarge":
        throw corruptError(this.key, "it is larger than 64 KiB")
      case "absent":
      case "unchanged":
        return undefined
    }
  }

  /**
   * Calls the handler once for each waiter that asks for the key; soon, if one has asked already. End the work that the
   * lease covers, then release.
   */
  onReleaseRequested(handler: () => void | Promise<void>): Disposable {
    aFunction("the handler of onReleaseRequested", handler)
    const runtime = this.#runtime
    const { releaseRequest } = runtime
    const subscription = runtime.events$.subscribe((event) => {
      if (event.type === "ReleaseRequested") this.#call(handler)
    })
    if (releaseRequest !== undefined) {
      runtime.clock.soon(() => {
        if (!subscription.closed && runtime.releaseRequest === releaseRequest) this.#call(handler)
      })
    }
    return { [Symbol.dispose]: () => subscription.unsubscribe() }
  }

  /** Calls the handler for each failed renewal and for the loss, until disposed. */
  onRenewalError(handler: (error: LockError) => void | Promise<void>): Disposable {
    aFunction("the handler of onRenewalError", handler)
    const subscription = this.#runtime.events$.subscribe((event) => {
      if (event.type !== "Lost" && event.type !== "Degraded") return
      const { error } = event
      if (error !== undefined) this.#call(() => handler(error))
    })
    return { [Symbol.dispose]: () => subscription.unsubscribe() }
  }

  get #report(): OnError {
    return reporter(this.#options.onError)
  }

  /** Asked for at each use, as it may have been forgotten since the last. */
  get #runtime(): KeyRuntime {
    return this.#runtimes.of(this.key, this.#options.onError)
  }

  /** A handler may be an async function all the same: what it rejects with is reported too. */
  #call(handler: () => unknown): void {
    const call = async (): Promise<unknown> => handler()
    call().catch(this.#report)
  }

  /** The protocol's configuration, once the store has started, within the budget. */
  async #ready({ budgetMs }: AcquireSettings, signal?: AbortSignal, waited = 0): Promise<LockConfig> {
    const limit = budgetMs === undefined ? Infinity : budgetMs === 0 ? ONE_TRY : Math.max(0, budgetMs - waited)
    // A store that answers at once is not waited for. Nor is one without time left: the wait would race with its own
    // end.
    const { store } = this.#runtimes
    const isReady = (store.prompt !== undefined || limit === 0) && hasStarted(store)
    if (!isReady) await this.#runtime.requests.ready(limit, budgetMs !== 0, signal)
    const { capabilities, oracle } = store
    const me = { id: this.#id, life: this.#runtimes.life }
    return configOf(this.key, me, this.#options, capabilities, oracle?.self)
  }
}
