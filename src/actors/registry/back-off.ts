/**
 * Which keys have failed lately, and how long their next attempt waits. Without the wait, all processes in turn would
 * take, fail and release a sandbox whose restore or run throws.
 */
import type { Clock } from "../../runtime/time/clock.ts"

const firstMs = 1000
const longestMs = 60_000
/** A key that hasn't failed for this long starts anew, in milliseconds: ten times the longest pause. */
const forgetMs = 10 * 60_000

interface Trouble {
  readonly failures: number
  /** Monotonic milliseconds. */
  readonly since: number
  readonly until: number
  readonly error: unknown
}

export class BackOff {
  readonly #clock: Clock
  /** In the order of the last failure. */
  readonly #troubles = new Map<string, Trouble>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How long the next attempt has to wait, in milliseconds, and what went wrong the last time. */
  of(key: string): { readonly ms: number; readonly error: unknown } {
    const trouble = this.#troubles.get(key)
    return { ms: Math.max(0, (trouble?.until ?? 0) - this.#now), error: trouble?.error }
  }

  failed(key: string, error: unknown): void {
    this.#forgetOld()
    const failures = (this.#troubles.get(key)?.failures ?? 0) + 1
    const longest = Math.min(longestMs, firstMs * 2 ** (failures - 1))
    const since = this.#now
    this.#troubles.delete(key)
    this.#troubles.set(key, { failures, since, until: since + longest * (0.5 + this.#clock.random() / 2), error })
  }

  succeeded(key: string): void {
    this.#troubles.delete(key)
  }

  get #now(): number {
    return this.#clock.mono()
  }

  #forgetOld(): void {
    for (const [key, { since }] of this.#troubles) {
      if (this.#now - since < forgetMs) return
      this.#troubles.delete(key)
    }
  }
}
