/**
 * How many requests may be under way at one store: as many as it answers within a time that is wanted, on average. By Little's
 * law that is the rate of answers times that time: where they take longer, fewer are under way, and more where they take less.
 * In the manner of the gradient limiters of Netflix's concurrency-limits, one decision for each window of answers.
 *
 * Owns the number alone; who may send within it is admission.ts's. Not promised: a fair share between processes.
 */

/** Before anything is known of the store, and after a rest: what most stores answer at once. */
const INITIAL = 32
/** Connections of a pool (stores/gcs/http/undici.ts), beyond which requests would queue out of our sight. */
const MOST = 256
/** In an outage, and at a store of one request a second, this many are still under way to see the end of it. */
const LEAST = 4
/** The least answers that an average is made of. */
const LEAST_SAMPLES = 4
/** A store that is far away isn't busy: an average isn't too long that is less than so many times the shortest of late. */
const SLOW_FACTOR = 2
/** For how long the shortest time is remembered, in milliseconds: one window, and the one before. */
const REMEMBER_MS = 30_000
/** How often the rate of answers is counted, in milliseconds. */
const RATE_MS = 1000
/** How far the limit may be above what the last rate calls for: what is asked may double from one count to the next. */
const AHEAD = 2
/** One decrease is no more, and one increase that much or one. */
const LEAST_FACTOR = 0.5
const GROWTH = 0.1

/** What a limit goes by. Times are milliseconds. */
export interface LimitOptions {
  /** What answers may take on average. */
  readonly wantedMs: number
  /**
   * The same where none of late came in half of that: never more than this. What is busy all the time is slow even at its
   * best, and a limit that followed that would rise without end.
   */
  readonly mostMs: number
  /** So many may be under way however few answers came of late. */
  readonly atRest: number
}

/** The number for one store. */
export class ConcurrencyLimit {
  readonly #options: LimitOptions
  #limit = INITIAL
  /** Until the first decrease it grows by every answer. */
  #probing = true
  /** What was sent before tells nothing of the present limit. */
  #changedAt = -Infinity
  #samples = 0
  #sum = 0
  /** Whether any of them came while at least half of the limit was in use: what isn't used needn't grow. */
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

  /** What answers took on average of late, as far as is known and is wanted, in milliseconds. */
  get usualMs(): number {
    return Math.min(this.#average, this.#options.mostMs)
  }

  /** The limit at this time. A store that suddenly answers less gets no more than fits to that, before its answers tell. */
  at(now: number): number {
    this.#count(now)
    return Math.floor(this.#limit)
  }

  /**
   * A request was answered, or given up on. Times are monotonic milliseconds; `underWay` requests were when it came, itself
   * included; `overloaded`: the store said so instead of an answer.
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
