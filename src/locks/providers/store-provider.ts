/**
 * Locks between processes: each section has a lease on its key in any `LeaseStore`, with all that a `Lock` promises.
 * Callers of one process take turns among themselves first.
 *
 * Not promised: that a section which outlives its lease is alone; see `provider.ts`.
 */
import { type OptionChecks, refuseUnknown } from "../../runtime/input/options.ts"
import { orAbort } from "../../runtime/races.ts"
import { liveClock } from "../../runtime/time/clock.ts"
import type { LockCounts } from "../api/counts.ts"
import { checkKey } from "../api/keys.ts"
import type { AcquireOptions, Lease } from "../api/lock.ts"
import type { HeldLocks, LockProvider, ProviderOptions, Section } from "../api/provider.ts"
import { thisProcess } from "../engine/incarnation.ts"
import { keyRuntimesOf } from "../engine/key-runtimes.ts"
import { LOCK_OPTIONS, type LockOptions } from "../engine/options.ts"
import { noStore } from "../engine/refusals.ts"
import { standing } from "../lock/lease-standing.ts"
import { StoreLock } from "../lock/store-lock.ts"
import type { LeaseStore } from "../stores/port.ts"
import { isStore } from "../stores/start.ts"
import { watchOf } from "../waits/watch.ts"
import { acquireAll } from "./all.ts"
import { callSettings, checkSection } from "./options.ts"
import { RunningSection, sectionClock } from "./sections.ts"

/** How a provider over a store is made: the store, and how its locks behave. */
export interface StoreLockProviderOptions extends LockOptions {
  /** Where the leases are. */
  readonly store: LeaseStore
}

const OPTIONS: OptionChecks<StoreLockProviderOptions> = { ...LOCK_OPTIONS, store: true }

/**
 * A provider over a store. Throws InvalidConfigError. Keys are those of `StoreLock`: a provider, a lock and the command
 * that name one key on one store contend for it.
 */
export function storeLockProvider(options: StoreLockProviderOptions): LockProvider {
  return new StoreLockProvider(options)
}

class StoreLockProvider implements LockProvider {
  readonly #options: StoreLockProviderOptions
  readonly #id: string

  constructor(options: StoreLockProviderOptions) {
    if (!isStore(options?.store)) throw noStore("")
    refuseUnknown("storeLockProvider", options, OPTIONS)
    this.#options = options
    this.#id = (options.incarnation ?? thisProcess(options.store)).id
  }

  async withLock<A>(key: string, fn: (section: Section) => A | Promise<A>, options?: ProviderOptions): Promise<A> {
    checkKey(key)
    checkSection(fn)
    const refusal = RunningSection.refusalInside(this.#options.store, key)
    if (refusal !== undefined) throw this.#told(refusal, key, options)
    const lease = await this.acquire(key, options)
    return orAbort(this.#run(lease, fn, options?.signal), lease.signal)
  }

  /** Tells the call's observer of a refusal, and returns it. */
  #told<E>(refusal: E, key: string, options: ProviderOptions = {}): E {
    const { clock = liveClock, onError } = this.#options
    const settings = callSettings(options)
    watchOf(options.observer, clock, { key, settings, from: clock.mono(), onError })?.failed(refusal)
    return refusal
  }

  async #run<A>(lease: Lease, fn: (section: Section) => A | Promise<A>, caller: AbortSignal | undefined): Promise<A> {
    const { store, clock = liveClock } = this.#options
    const section = RunningSection.enter(store, lease, { clock: sectionClock(clock), caller })
    try {
      return await answered(lease, fn, section)
    } finally {
      section.leave()
      await lease.release()
    }
  }

  async acquire(key: string, options: ProviderOptions = {}): Promise<Lease> {
    return this.#lock(key).acquire(queueing(options))
  }

  acquireAll(keys: readonly string[], options: ProviderOptions = {}): Promise<HeldLocks> {
    const { clock = liveClock } = this.#options
    const one = (key: string, from: number): Promise<Lease> => this.#lock(key).acquireSince(from, queueing(options))
    return acquireAll(one, clock, keys, options)
  }

  #lock(key: string): StoreLock {
    return new StoreLock(key, this.#options)
  }

  /** Those of this incarnation on this store, other locks of it included. */
  stats(): LockCounts {
    const { store, clock = liveClock } = this.#options
    return { ...keyRuntimesOf(store, this.#id, clock, "").counts }
  }
}

/** A call that meets another waiter takes a turn behind it. */
const queueing = (options: ProviderOptions): AcquireOptions => {
  callSettings(options)
  return { ...options, contention: "retry" }
}

/** Runs a section. Settles only once its lease is known to stand. */
async function answered<A>(lease: Lease, fn: (section: Section) => A | Promise<A>, section: Section): Promise<A> {
  lease.signal.throwIfAborted() // by time: the process may have been stopped since the lease came
  try {
    return await fn(section)
  } finally {
    await standing(lease)
  }
}
