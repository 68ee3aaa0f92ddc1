/**
 * How many sandboxes of one manager save and leave at once: as many as the store answers (admission.ts). Each limit of
 * a departure (`checkpointWithin`, that of a release) counts from its turn, so that none runs out in a queue. A sandbox
 * that another process asked for goes before those that leave of this process's own will.
 *
 * Not promised: any limit to the wait. Each departure in front has its own.
 */
import type { Admission } from "../../locks/admission/admission.ts"
import type { Clock, Timer } from "../../runtime/time/clock.ts"

/**
 * How many at a time, at stores in memory or on this machine, where nobody counts requests. Each may hold a large state
 * in memory.
 */
const AT_HAND = 64
/**
 * How long a departure may wait for hooks, in milliseconds, before the next one begins beside it. A longer one isn't
 * slow because of the store.
 */
const HOOKS_MS = 1000

/** One sandbox's leave, from when its work has ended. */
export interface Departure {
  /** Settles when its turn has come. Its end settles it too. */
  readonly turn: Promise<void>
  /** From now on it is hooks that it waits for. */
  hooks(): void
  /** From now on it is the store that it waits for. */
  stores(): void
  /** It has left, or no longer does. Idempotent. */
  end(): void
}

/** The departures of one manager. */
export class Departures {
  readonly #clock: Clock
  readonly #door: () => Admission | undefined
  readonly #urgent = new Set<QueuedDeparture>()
  readonly #waiting = new Set<QueuedDeparture>()
  readonly #leaving = new Set<QueuedDeparture>()

  /** `door`: that of the store where states are saved. */
  constructor(clock: Clock, door: () => Admission | undefined) {
    this.#clock = clock
    this.#door = door
  }

  /** Whether one that leaves now has its turn at once. */
  get hasRoom(): boolean {
    return this.#leaving.size < (this.#door()?.limit ?? AT_HAND)
  }

  /** It wants to leave; `urgent`: for somebody who waits for it. */
  begin(urgent: boolean): Departure {
    const turn = new QueuedDeparture(this.#clock, (ended) => this.#end(ended))
    ;(urgent ? this.#urgent : this.#waiting).add(turn)
    this.#next()
    return turn
  }

  #end(turn: QueuedDeparture): void {
    for (const turns of [this.#urgent, this.#waiting, this.#leaving]) turns.delete(turn)
    this.#next()
  }

  #next(): void {
    while (this.hasRoom) {
      const from = this.#urgent.size > 0 ? this.#urgent : this.#waiting
      const [first] = from
      if (first === undefined) return
      from.delete(first)
      this.#leaving.add(first)
      first.begin()
    }
  }
}

class QueuedDeparture implements Departure {
  readonly turn: Promise<void>
  readonly #begun = Promise.withResolvers<void>()
  readonly #clock: Clock
  readonly #onEnd: (turn: QueuedDeparture) => void
  #timer: Timer | undefined
  #isOver = false

  constructor(clock: Clock, onEnd: (turn: QueuedDeparture) => void) {
    this.#clock = clock
    this.#onEnd = onEnd
    this.turn = this.#begun.promise
  }

  begin(): void {
    this.#begun.resolve()
  }

  hooks(): void {
    if (!this.#isOver) this.#timer ??= this.#clock.after(HOOKS_MS, () => this.end(), { background: true })
  }

  stores(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.stores()
    this.#begun.resolve()
    this.#onEnd(this)
  }
}
