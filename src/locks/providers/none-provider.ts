/**
 * A provider that keeps NOBODY out. Sections of one key run side by side, as if there were no lock. It is for tests
 * that are about something else, and for a program whose configuration says that it runs alone.
 *
 * Not for anything else. Where two of anything can happen at once, take `memoryLockProvider` (one process) or
 * `storeLockProvider` (several).
 */
import { aClock, aFunction, type OptionChecks, refuseUnknown } from "../../runtime/input/options.ts"
import type { OnError } from "../../runtime/report.ts"
import { type Clock, liveClock } from "../../runtime/time/clock.ts"
import { type LockCounts, noCounts } from "../api/counts.ts"
import { checkKey } from "../api/keys.ts"
import type { ReleaseResult } from "../api/lock.ts"
import type { HeldLock, HeldLocks, LockProvider, ProviderOptions, Section } from "../api/provider.ts"
import { cancelled } from "../engine/refusals.ts"
import { watchOf } from "../waits/watch.ts"
import { acquireAll } from "./all.ts"
import { callSettings, checkSection } from "./options.ts"
import { sectionClock } from "./sections.ts"

/** How a provider that keeps nobody out is made. */
export interface NoLockProviderOptions {
  /** Of sections. Without one: this process's. */
  readonly clock?: Clock
  /** Gets what observers throw. Without one: standard error. */
  readonly onError?: OnError
}

const OPTIONS: OptionChecks<NoLockProviderOptions> = { clock: aClock, onError: aFunction }

/**
 * KEEPS NOBODY OUT: every call gets its key at once, with the token 0, even where another has it. For tests that are
 * about something else, and for a program whose configuration says that it runs alone.
 *
 * NOT for production, nor for anything that two may do at once. Two sections of one key run side by side: what a lock
 * should keep whole (money, files, rows) is unprotected. Throws InvalidConfigError.
 */
export function noLockProvider(options: NoLockProviderOptions = {}): LockProvider {
  refuseUnknown("noLockProvider", options, OPTIONS)
  return new NoLockProvider(options)
}

class NoLockProvider implements LockProvider {
  readonly #clock: Clock
  readonly #counts = noCounts()
  readonly #onError: OnError | undefined

  constructor({ clock = liveClock, onError }: NoLockProviderOptions) {
    this.#clock = clock
    this.#onError = onError
  }

  async withLock<A>(key: string, fn: (section: Section) => A | Promise<A>, options: ProviderOptions = {}): Promise<A> {
    checkSection(fn)
    const lock = await this.acquire(key, options)
    const { signal = lock.signal } = options
    return fn({ key, token: 0, signal, clock: sectionClock(this.#clock), isHeld: () => true })
  }

  async acquire(key: string, options: ProviderOptions = {}): Promise<HeldLock> {
    checkKey(key)
    const call = { key, settings: callSettings(options), from: this.#clock.mono(), onError: this.#onError }
    const watch = watchOf(options.observer, this.#clock, call)
    if (options.signal?.aborted) {
      const error = cancelled(key)
      watch?.failed(error)
      throw error
    }
    watch?.acquired({ token: 0 })
    this.#counts.acquisitions++
    let held = true
    const release = async (): Promise<ReleaseResult> => {
      held = false
      return "released"
    }
    return {
      ...{ key, token: 0, signal: new AbortController().signal, release },
      isHeld: () => held,
      [Symbol.asyncDispose]: async () => void (await release()),
    }
  }

  acquireAll(keys: readonly string[], options: ProviderOptions = {}): Promise<HeldLocks> {
    return acquireAll((key) => this.acquire(key, options), this.#clock, keys, options)
  }

  stats(): LockCounts {
    return { ...this.#counts }
  }
}
