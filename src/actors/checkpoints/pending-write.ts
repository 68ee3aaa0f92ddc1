/** A write that waits for its turn, and the callers that wait for it, each within a budget of its own. */
import type { LockError } from "../../locks/api/errors.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import type { RemovedCalls } from "./head/head.ts"

export type WriteKind = "commit" | "remove" | "settle"

export class PendingWrite {
  readonly kind: WriteKind
  /** What to store; the latest that was asked for. */
  bytes: Uint8Array
  /** How many of them, at the end, are of calls. */
  calls = 0
  /** What a tombstone says of calls. */
  removed: RemovedCalls = {}
  /** When the last of its callers gives up, in monotonic ms. */
  until: number = Number.NEGATIVE_INFINITY
  /** From then on nobody can join. */
  isStarted = false
  readonly #clock: Clock
  readonly #over: (write: PendingWrite) => LockError
  readonly #settled: PromiseWithResolvers<void> = Promise.withResolvers<void>()

  /** `over` says why a caller's budget ended before the write did. */
  constructor(clock: Clock, kind: WriteKind, over: (write: PendingWrite) => LockError) {
    this.#clock = clock
    this.kind = kind
    this.bytes = new Uint8Array()
    this.#over = over
    this.#settled.promise.catch(() => {}) // all who joined may have given up
  }

  /** Settles when the write has ended, however. */
  get ended(): Promise<void> {
    return this.#settled.promise.catch(() => {})
  }

  /** Settles as the write does, or rejects when `budget` ms are over. */
  join(budget: number): Promise<void> {
    this.until = Math.max(this.until, this.#clock.read().mono + budget)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const timer =
      budget === Number.POSITIVE_INFINITY ? undefined : this.#clock.after(budget, () => reject(this.#over(this)))
    this.#settled.promise.then(resolve, reject)
    return promise.finally(() => timer?.cancel())
  }

  /** Runs it, and tells those who wait. Never rejects. */
  async run(write: () => Promise<void>): Promise<void> {
    this.isStarted = true
    try {
      await write()
      this.#settled.resolve()
    } catch (error) {
      this.#settled.reject(error)
    }
  }
}
