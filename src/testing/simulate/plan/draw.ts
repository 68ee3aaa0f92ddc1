/**
 * Chance with a taste for corners: numbers of a seed, of which many are those at which something changes. One `Draw` is
 * one stream; `fork` makes another that no draw of this one disturbs, so that a plan keeps its shape when a part of it
 * grows.
 */
import { sha256 } from "../../../runtime/time/hash.ts"
import { SeededRandom } from "../../../runtime/time/random.ts"

/** A stream of chance. The same seed and name give the same stream, on every runtime. */
export class Draw {
  readonly #seed: number
  readonly #name: string
  readonly #random: SeededRandom

  constructor(seed: number, name = "") {
    this.#seed = seed
    this.#name = name
    this.#random = new SeededRandom(Number.parseInt(sha256(`${seed}/${name}`).slice(0, 13), 16))
  }

  /** A stream of its own. */
  fork(name: string): Draw {
    return new Draw(this.#seed, `${this.#name}/${name}`)
  }

  /** A number in [0, 1). */
  next(): number {
    return this.#random.next()
  }

  /** True with this probability. */
  chance(probability: number): boolean {
    return this.next() < probability
  }

  /** A whole number from `least` to `most`, both included. */
  int(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }

  /** One of them. */
  pick<A>(items: readonly A[]): A {
    if (items.length === 0) throw new RangeError("there is nothing to pick from")
    return items[this.int(0, items.length - 1)]!
  }

  /** Those that came up, each with this probability, in their order. */
  some<A>(items: readonly A[], probability: number): A[] {
    return items.filter(() => this.chance(probability))
  }

  /** Whole milliseconds from `least` to `most`, small ones as likely as great ones. */
  millis(least: number, most: number): number {
    const low = Math.log(least + 1)
    return Math.min(
      most,
      Math.floor(Math.exp(low + this.next() * (Math.log(most + 1) - low))) - 1 + (least > 0 ? 1 : 0),
    )
  }

  /** A time near one of the corners in two of three draws, else any up to `most`. Whole milliseconds, at least 1. */
  near(corners: readonly number[], most: number): number {
    if (!this.chance(2 / 3)) return Math.max(1, this.millis(1, most))
    return Math.max(1, Math.round(this.pick(corners) + this.pick(offsets)))
  }
}

/** On a corner, and just before and behind it. */
const offsets = [-1000, -50, -1, 0, 0, 1, 50, 1000]
