/**
 * How many requests may be under way at one store: as many as it answers, on average, within a wanted time. By Little's
 * law that is the rate of answers times that time. Where answers take longer, the limit falls; where they take less, it
 * rises. There is one decision for each window of answers, as in the gradient limiters of Netflix's concurrency-limits.
 *
 * Owns the number alone; admission.ts decides which request is sent within it.
 *
 * Not promised: a fair share between processes.
 */

/** The limit before anything is known of the store, and after a rest: what most stores answer at once. */
const INITIAL = 32
/** The connections of a pool (stores/gcs/http/undici.ts). Further requests would queue there, out of sight. */
const MOST = 256
/** The least limit, in an outage and at a store of one request a second: these show when that is over. */
const LEAST = 4
/** The fewest answers that make an average. */
const LEAST_SAMPLES = 4
/**
 * A far store isn't busy: an average is not too long while it is less than so many times the shortest answer of late.
 */
const SLOW_FACTOR = 2
/** For how long the shortest time is remembered, in milliseconds: one window, and the one before. */
const REMEMBER_MS = 30_000
/** How often the rate of answers is counted, in milliseconds. */
const RATE_MS = 1000
/** How far the limit may exceed what the last rate calls for: requests may double from one count to the next. */
const AHEAD = 2
/** The most that one decision may decrease the limit, as a factor. */
const LEAST_FACTOR = 0.5
/** By how much one decision increases it, as a part of it; by one at least. */
const GROWTH = 0.1

/** What a limit goes by. Times are milliseconds. */
export interface LimitOptions {
  /** What answers may take on average. */
  readonly wantedMs: number
  /**
   * The most that they may take where the store is far away. A store that is always busy is slow even at its best: a
   * limit that followed that would rise without end.
   */
  readonly mostMs: number
  /** How many may be under way even where few answers came of late. */
  readonly atRest: number
}

/** The number for one store. */
export class ConcurrencyLimit {
  readonly #options: LimitOptions
  #limit = INITIAL
  /** Until the first decrease it grows by every answer. */
  #probing = true
  /** When the limit last fell. Requests sent before tell nothing of the present one. */
  #changedAt = -Infinity
  #samples = 0
  #sum = 0
  /** Whether at least half of the limit was in use at one of them. A limit that isn't used needn't grow. */
  #used = false
  #average = 0
  #answers = 0
  #countedAt = -Infinity
  #rememberedAt = -Infinity
  #shortest = Infinity
  #shortestBefore = Infinity

  constructor(options: LimitOptions) {
    this.#options = options
  }

  /** How long answers took on average of late, in milliseconds; at most `mostMs`. */
  get usualMs(): number {
    return Math.min(this.#average, this.#options.mostMs)
  }

  /** The limit at this time. Where fewer answers came of late, it falls at once, before they say how long they took. */
  at(now: number): number {
    this.#count(now)
    return Math.floor(this.#limit)
  }

  /**
   * A request was answered, or given up on. Times are monotonic milliseconds. `underWay`: how many requests were,
   * itself included. `overloaded`: the store said so instead of an answer.
   */
  answered(sentAt: number, now: number, underWay: number, overloaded: boolean): void {
    const took = now - sentAt
    this.#count(now)
    this.#answers++
    this.#remember(took, now)
    if (sentAt < this.#changedAt) return
    this.#samples++
    this.#sum += overloaded ? Math.max(took, this.#wanted / LEAST_FACTOR) : took
    this.#used ||= underWay * 2 >= this.#limit
    if (this.#samples >= Math.max(LEAST_SAMPLES, this.#limit / 2)) this.#decide(now)
  }

  get #wanted(): number {
    const usual = SLOW_FACTOR * Math.min(this.#shortest, this.#shortestBefore)
    return Math.min(this.#options.mostMs, Math.max(this.#options.wantedMs, usual))
  }

  #decide(now: number): void {
    this.#average = this.#sum / this.#samples
    const factor = this.#wanted / this.#average
    if (factor < 1) {
      this.#limit = Math.max(LEAST, this.#limit * Math.max(LEAST_FACTOR, factor))
      this.#probing = false
      this.#changedAt = now
    } else if (this.#used) {
      const more = this.#probing ? this.#samples : Math.max(1, this.#limit * GROWTH)
      this.#limit = Math.min(MOST, this.#limit + more)
    }
    this.#samples = this.#sum = 0
    this.#used = false
  }

  #count(now: number): void {
    const since = now - this.#countedAt
    if (since < RATE_MS) return
    const called = (this.#answers / since) * this.#wanted * AHEAD
    this.#limit = Math.min(this.#limit, Math.max(this.#options.atRest, LEAST, called))
    this.#answers = 0
    this.#countedAt = now
  }

  #remember(took: number, now: number): void {
    if (now - this.#rememberedAt > REMEMBER_MS) {
      this.#rememberedAt = now
      this.#shortestBefore = this.#shortest
      this.#shortest = Infinity
    }
    this.#shortest = Math.min(this.#shortest, took)
  }
}
