/**
 * A provider that keeps NOBODY out. Sections of one key run side by side as if there were no lock at all: for tests that
 * are about something else, and for a program that is told by its configuration that it runs alone.
 *
 * Not for anything else. Where two of anything can happen at once, take `memoryLockProvider` (one process) or
 * `storeLockProvider` (several).
 */
import { type Clock, liveClock } from "../../runtime/clock.ts"
import { type LockCounts, noCounts } from "../counts.ts"
import { checkKey } from "../keys.ts"
import type { ReleaseResult } from "../lock.ts"
import { wishOf } from "../options.ts"
import type { HeldLock, HeldLocks, LockProvider, ProviderOptions, Section } from "../provider.ts"
import { cancelled } from "../refusals.ts"
import { acquireAll } from "./all.ts"
import { sectionClock } from "./sections.ts"

/** How a provider that keeps nobody out is made. */
export interface NoLockProviderOptions {
  /** Of sections. Without one: this process's. */
  readonly clock?: Clock
}

/** KEEPS NOBODY OUT: every call is given its key at once, with the token 0, whoever else has it. See above what it is for. */
export function noLockProvider(options: NoLockProviderOptions = {}): LockProvider {
  return new NoLockProvider(options.clock ?? liveClock)
}

class NoLockProvider implements LockProvider {
  readonly #clock: Clock
  readonly #counts = noCounts()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async withLock<A>(key: string, fn: (section: Section) => A | Promise<A>, options: ProviderOptions = {}): Promise<A> {
    const lock = await this.acquire(key, options)
    return fn({ key, token: 0, signal: lock.signal, clock: sectionClock(this.#clock), isHeld: () => true })
  }

  async acquire(key: string, options: ProviderOptions = {}): Promise<HeldLock> {
    checkKey(key)
    wishOf(options)
    if (options.signal?.aborted) throw cancelled(key)
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
    return acquireAll((key, own) => this.acquire(key, own), this.#clock, keys, options)
  }

  stats(): LockCounts {
    return { ...this.#counts }
  }
}
