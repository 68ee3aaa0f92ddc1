/**
 * Locks within one process. Callers of one key take their turns in the order of their calls; keys know nothing of each
 * other. A key takes room only while it is held or waited for. A lock here is never lost: its signal never aborts.
 *
 * Not promised: anything between processes.
 */
import { aClock, aFunction, type OptionChecks, refuseUnknown } from "../../runtime/input/options.ts"
import type { OnError } from "../../runtime/report.ts"
import { type Clock, liveClock } from "../../runtime/time/clock.ts"
import { type LockCounts, noCounts } from "../api/counts.ts"
import { checkKey } from "../api/keys.ts"
import type { ReleaseResult } from "../api/lock.ts"
import type { HeldLock, HeldLocks, LockProvider, ProviderOptions, Section, SectionClock } from "../api/provider.ts"
import { cancelled, here, inUseHere } from "../engine/refusals.ts"
import { type WaitWatch, watchOf } from "../waits/watch.ts"
import { acquireAll } from "./all.ts"
import { callSettings, checkSection } from "./options.ts"
import { Queue } from "./queue.ts"
import { RunningSection, sectionClock } from "./sections.ts"

/** How a provider in memory is made. */
export interface MemoryLockProviderOptions {
  /** Of budgets and sections. Without one: this process's. */
  readonly clock?: Clock
  /** Gets what observers throw. Without one: standard error. */
  readonly onError?: OnError
}

const OPTIONS: OptionChecks<MemoryLockProviderOptions> = { clock: aClock, onError: aFunction }

/** A new provider, which shares nothing with others. Throws InvalidConfigError. */
export function memoryLockProvider(options: MemoryLockProviderOptions = {}): LockProvider {
  refuseUnknown("memoryLockProvider", options, OPTIONS)
  return new MemoryLockProvider(options)
}

const standard = callSettings({})

class MemoryLockProvider implements LockProvider {
  readonly #clock: Clock
  readonly #sectionClock: SectionClock
  /** The locks that are held now, by key. */
  readonly #held = new Map<string, MemoryLock>()
  readonly #counts = noCounts()
  readonly #onError: OnError | undefined

  constructor({ clock = liveClock, onError }: MemoryLockProviderOptions) {
    this.#clock = clock
    this.#onError = onError
    this.#sectionClock = sectionClock(clock)
  }

  async withLock<A>(key: string, fn: (section: Section) => A | Promise<A>, options?: ProviderOptions): Promise<A> {
    checkKey(key)
    checkSection(fn)
    const refusal = RunningSection.refusalInside(this, key)
    if (refusal !== undefined) throw this.#told(refusal, key, options)
    const lock = await this.#ask(key, options)
    const section = RunningSection.enter(this, lock, { clock: this.#sectionClock, caller: options?.signal })
    try {
      return await fn(section)
    } finally {
      section.leave()
      lock.end()
    }
  }

  async acquire(key: string, options?: ProviderOptions): Promise<HeldLock> {
    checkKey(key)
    return this.#ask(key, options)
  }

  acquireAll(keys: readonly string[], options: ProviderOptions = {}): Promise<HeldLocks> {
    return acquireAll(async (key, from) => this.#ask(key, options, from), this.#clock, keys, options)
  }

  stats(): LockCounts {
    return { ...this.#counts }
  }

  /** `from`: when the call came, by the monotonic clock, where that isn't now. */
  #ask(key: string, options: ProviderOptions | undefined, from?: number): MemoryLock | Promise<MemoryLock> {
    if (options?.observer !== undefined) return this.#observed(key, options, from ?? this.#clock.mono())
    return this.#take(key, options) ?? this.#wait(key, options, from ?? this.#clock.mono())
  }

  async #observed(key: string, options: ProviderOptions, from: number): Promise<MemoryLock> {
    const watch = this.#watch(key, options, from)
    try {
      const lock = this.#take(key, options) ?? (await this.#wait(key, options, from, watch))
      watch?.acquired(lock)
      return lock
    } catch (error) {
      watch?.failed(error)
      throw error
    }
  }

  /** Tells the call's observer of a refusal, and returns it. */
  #told<E>(refusal: E, key: string, options: ProviderOptions = {}): E {
    this.#watch(key, options, this.#clock.mono())?.failed(refusal)
    return refusal
  }

  #watch(key: string, options: ProviderOptions, from: number): WaitWatch | undefined {
    const call = { key, settings: callSettings(options), from, onError: this.#onError }
    return watchOf(options.observer, this.#clock, call)
  }

  /** The key, if nobody has it. */
  #take(key: string, options: ProviderOptions | undefined): MemoryLock | undefined {
    if (options !== undefined) {
      callSettings(options)
      if (options.signal?.aborted) throw cancelled(key)
    }
    return this.#held.has(key) ? undefined : this.#give(key, undefined)
  }

  #give(key: string, queue: Queue<MemoryLock> | undefined): MemoryLock {
    const lock = new MemoryLock(key, ++this.#counts.acquisitions, queue, this)
    this.#held.set(key, lock)
    return lock
  }

  #wait(key: string, options: ProviderOptions | undefined, from: number, watch?: WaitWatch): Promise<MemoryLock> {
    const settings = options === undefined ? standard : callSettings(options)
    if (settings.budgetMs === 0) throw inUseHere(key, here, settings, 0)
    const queue = this.#held.get(key)!.queued(this.#clock)
    this.#counts.waits++
    if (queue.size > 0) this.#counts.contention++
    watch?.waits("process", () => undefined)
    return queue.join(settings, from, options?.signal)
  }

  /** @internal The key goes to the caller that has waited longest. Where none waits it is forgotten. */
  passOn(key: string, queue: Queue<MemoryLock> | undefined): void {
    if (queue === undefined || !queue.give(() => this.#give(key, queue))) this.#held.delete(key)
  }
}

/** A key that is held. */
class MemoryLock implements HeldLock {
  readonly key: string
  readonly token: number
  #queue: Queue<MemoryLock> | undefined
  #signal: AbortSignal | undefined
  #provider: MemoryLockProvider | undefined

  constructor(key: string, token: number, queue: Queue<MemoryLock> | undefined, provider: MemoryLockProvider) {
    this.key = key
    this.token = token
    this.#queue = queue
    this.#provider = provider
  }

  /** One for each lock: listeners would pile up on a shared one that never aborts. */
  get signal(): AbortSignal {
    return (this.#signal ??= new AbortController().signal)
  }

  isHeld(): boolean {
    return this.#provider !== undefined
  }

  /** The callers that wait for it. */
  queued(clock: Clock): Queue<MemoryLock> {
    return (this.#queue ??= new Queue(this.key, clock))
  }

  end(): void {
    const provider = this.#provider
    this.#provider = undefined
    provider?.passOn(this.key, this.#queue)
  }

  async release(): Promise<ReleaseResult> {
    this.end()
    return "released"
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.end()
  }
}
