/**
 * GCS's rule of one write a second for each object, which fake-gcs-server doesn't keep. A write counts from when it was
 * let through; one that the server then refused doesn't count.
 */
import type { Clock } from "../../../src/runtime/time/clock.ts"

const SPACING_MS = 1000

export class WriteLimiter {
  readonly #clock: Clock
  readonly #last = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Undefined: too early. Otherwise the write may go, and its status is to be told. */
  admit(object: string): ((status: number) => void) | undefined {
    const now = this.#clock.mono()
    const before = this.#last.get(object)
    if (before !== undefined && now - before < SPACING_MS) return undefined
    this.#last.set(object, now)
    return (status) => {
      if (status < 300 || this.#last.get(object) !== now) return
      if (before === undefined) this.#last.delete(object)
      else this.#last.set(object, before)
    }
  }
}
