/**
 * Counts what happens to one key. A caller's wait counts once, wherever it waits; contention counts once for each
 * attempt. What is counted with is shared by all keys of an incarnation.
 */
import { countEvent, type Counting } from "../../api/counts.ts"
import type { LockEvent } from "../../api/lock.ts"
import type { Input, LockState } from "../../protocol/rules/state.ts"

/** The counting of one key. */
export class KeyCounts {
  readonly #counts: Counting
  /** The present attempt was counted as one that met another waiter. */
  #contended = false
  /** The caller whose turn it is was counted as one that waits. */
  #waited = false

  constructor(counts: Counting) {
    this.#counts = counts
  }

  /** A caller waits for its turn in this process; `behind`: others do already. */
  queued(behind: boolean): void {
    this.#counts.waits++
    if (behind) this.#counts.contention++
  }

  /** A caller's turn begins; `queued`: it has waited for it, and was counted. */
  begin(queued: boolean): void {
    this.#waited = queued
  }

  /** What a step shows beside its events. */
  step(input: Input, { phase, view, config }: LockState): void {
    if (input.type === "acquire") this.#contended = false
    if (input.type === "wrote" && input.answer.kind === "unknown" && input.answer.throttled) this.#counts.throttled++
    const waiter = view?.record?.waitingOwnerId ?? config.id
    if (this.#contended || phase.name !== "seeking" || phase.waiting || waiter === config.id) return
    this.#contended = true
    this.#counts.contention++
    this.#wait()
  }

  /** An event of the key. */
  event(event: LockEvent): void {
    if (event.type === "Waiting") this.#wait()
    else countEvent(this.#counts, event)
  }

  #wait(): void {
    if (!this.#waited) this.#counts.waits++
    this.#waited = true
  }
}
