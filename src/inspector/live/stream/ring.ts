/**
 * The last messages of a stream, numbered, up to a number of bytes: what clients that are behind read, all from one
 * place.
 */

/** The last of what was said. */
export class EventRing {
  readonly #limit: number
  #texts: string[] = []
  /** How many of `#texts` are dropped already; they go in one step, as taking the first of a list moves all others. */
  #dropped = 0
  #size = 0
  #next = 1

  /** At most `limit` characters are kept, but always the last message. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** The number that the next message will have. */
  get next(): number {
    return this.#next
  }

  /** The number of the oldest message that is kept; `next` where none is. */
  get first(): number {
    return this.#next - (this.#texts.length - this.#dropped)
  }

  push(text: string): void {
    this.#texts.push(text)
    this.#next++
    this.#size += text.length
    while (this.#size > this.#limit && this.#dropped < this.#texts.length - 1) {
      this.#size -= this.#texts[this.#dropped]!.length
      this.#texts[this.#dropped++] = ""
    }
    if (this.#dropped > this.#texts.length / 2) {
      this.#texts = this.#texts.slice(this.#dropped)
      this.#dropped = 0
    }
  }

  /** The message of a number that is kept. */
  at(number: number): string | undefined {
    if (number < this.first || number >= this.#next) return undefined
    return this.#texts[this.#texts.length - (this.#next - number)]
  }
}
