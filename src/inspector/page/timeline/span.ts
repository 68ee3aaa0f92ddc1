/** Which part of the time is shown: a fixed one, or the last so many milliseconds of a fleet that goes on. Pure. */

/** In milliseconds: below this one sees the same moment many pixels wide. */
const SHORTEST = 50

/** From when to when. */
export interface SpanTimes {
  readonly from: number
  readonly to: number
}

/** A part of the time. */
export class Span {
  readonly #length: number
  /** Null: it ends at the present. */
  readonly #to: number | null

  private constructor(length: number, to: number | null) {
    this.#length = Math.max(SHORTEST, length)
    this.#to = to
  }

  /** The last so many milliseconds, whatever time it is. */
  static last(length: number): Span {
    return new Span(length, null)
  }

  /** All of it, with a little room at the end. */
  static whole(from: number, to: number): Span {
    return new Span((to - from) * 1.02, null)
  }

  /** Whether it goes on by itself. */
  get isFollowing(): boolean {
    return this.#to === null
  }

  /** Its times, where this is the present. */
  at(now: number): SpanTimes {
    const to = this.#to ?? now + this.#length * 0.01
    return { from: to - this.#length, to }
  }

  /** Shorter (below 1) or longer, with a moment staying where it is. */
  zoomed(factor: number, around: number | null, now: number, first: number): Span {
    const { from, to } = this.at(now)
    const length = Math.min(Math.max(SHORTEST, this.#length * factor), Math.max(SHORTEST, 1.04 * (now - first)))
    if (around === null)
      return this.#to === null ? new Span(length, null) : Span.#within(length, (from + to) / 2 + length / 2, now)
    return Span.#within(length, around + (to - around) * (length / this.#length), now)
  }

  /** Earlier (below 0) or later, by this part of its length. */
  moved(part: number, now: number, first: number): Span {
    const { to } = this.at(now)
    return Span.#within(this.#length, Math.max(first + this.#length * 0.5, to + part * this.#length), now)
  }

  /** At the present it follows. */
  static #within(length: number, to: number, now: number): Span {
    return new Span(length, to >= now ? null : to)
  }
}
