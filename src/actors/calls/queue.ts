/**
 * How many calls wait for each sandbox. Owns the refusal of one too many: memory that grows without end would take the
 * whole process along.
 */
import { overloaded } from "./problems.ts"

/** Of all sandboxes of a manager. */
export class CallQueue {
  readonly #waiting = new Map<string, number>()

  /** Takes a place in the queue of a lock key. Throws OverloadedError where `limit` places are taken. */
  enter(key: string, limit: number): QueuePlace {
    const waiting = this.#waiting.get(key) ?? 0
    if (waiting >= limit) throw overloaded(key, waiting)
    this.#waiting.set(key, waiting + 1)
    return new QueuePlace(() => this.#left(key))
  }

  #left(key: string): void {
    const waiting = this.#waiting.get(key)! - 1
    if (waiting === 0) this.#waiting.delete(key)
    else this.#waiting.set(key, waiting)
  }
}

/** One call's place. */
export class QueuePlace implements Disposable {
  #onLeave: (() => void) | undefined

  constructor(onLeave: () => void) {
    this.#onLeave = onLeave
  }

  /** Its turn has come, or it waits no longer. Idempotent. */
  leave(): void {
    this.#onLeave?.()
    this.#onLeave = undefined
  }

  [Symbol.dispose](): void {
    this.leave()
  }
}
