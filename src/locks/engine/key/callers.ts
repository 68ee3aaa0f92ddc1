/**
 * The callers of this process at one key: one has its turn, the others wait for theirs in the order of their calls.
 * Owns whose turn it is, and whether a caller waits for anything.
 *
 * Not promised: any order between processes. The record of the key has that.
 */

/** What the runtime of the key does when its callers change. */
export interface CallersParts {
  /** Called when a turn begins (true), and when it ends. */
  onBusy(busy: boolean): void
  /** Called when a caller has begun to wait, or waits no more. */
  onChange(): void
}

/** Those of one key. */
export class Callers {
  readonly #parts: CallersParts
  /** None while nobody waits: an idle key is to cost little. */
  #queue: (() => void)[] | undefined
  #hasTurn = false
  #attending = 0

  constructor(parts: CallersParts) {
    this.#parts = parts
  }

  /** Whether a turn is under way: an attempt, an ownership, or what is cleared behind them. */
  get busy(): boolean {
    return this.#hasTurn
  }

  /** How many wait for their turn. */
  get queued(): number {
    return this.#queue?.length ?? 0
  }

  /** Whether one waits, for a turn or for an answer: the process stays alive for it. */
  get waiting(): boolean {
    return this.#queue !== undefined || this.#attending > 0
  }

  /**
   * Calls `start` when its turn has come, at once where there is none before it. The result gives up a turn that hasn't
   * begun.
   */
  join(start: () => void): () => void {
    this.#queue ??= []
    this.#queue.push(start)
    if (!this.#hasTurn) this.#next()
    this.#parts.onChange()
    return () => this.#giveUp(start)
  }

  /** Begins a turn out of order: nobody has one, and what is done in it can't wait. */
  take(): void {
    this.#hasTurn = true
    this.#parts.onBusy(true)
  }

  /** The turn is over, and the next begins. */
  end(): void {
    this.#hasTurn = false
    this.#parts.onBusy(false)
    if (!this.#hasTurn) this.#next()
  }

  /** Settles as the promise does, for which a caller waits. */
  async attend<A>(promise: Promise<A>): Promise<A> {
    this.#attending++
    this.#parts.onChange()
    try {
      return await promise
    } finally {
      this.#attending--
      this.#parts.onChange()
    }
  }

  #giveUp(start: () => void): void {
    const index = this.#queue?.indexOf(start) ?? -1
    if (index < 0) return
    this.#queue?.splice(index, 1)
    this.#forgetEmpty()
    this.#parts.onChange()
  }

  #next(): void {
    const start = this.#queue?.shift()
    this.#forgetEmpty()
    if (start === undefined) return
    this.take()
    start()
  }

  #forgetEmpty(): void {
    if (this.#queue?.length === 0) this.#queue = undefined
  }
}
