/**
 * Which of n places are taken, and which place is the k-th taken one: a Fenwick tree. A change and a question cost
 * log n, so that a list of 100,000 rows is filtered without ever being walked. Pure.
 */
export class RankedSet {
  #size: number
  #sums: Int32Array
  #taken: Uint8Array
  #count = 0

  /** Nothing is taken at first. */
  constructor(size: number) {
    this.#size = size
    this.#sums = new Int32Array(size + 1)
    this.#taken = new Uint8Array(size)
  }

  /** How many are taken. */
  get count(): number {
    return this.#count
  }

  /** Whether this one is. */
  has(place: number): boolean {
    return this.#taken[place] === 1
  }

  /** Takes it or gives it back. True where that changed something; false for a place that there isn't. */
  set(place: number, isTaken: boolean): boolean {
    if (place < 0 || place >= this.#size || this.has(place) === isTaken) return false
    const step = isTaken ? 1 : -1
    this.#taken[place] = isTaken ? 1 : 0
    this.#count += step
    for (let at = place + 1; at <= this.#size; at += at & -at) this.#sums[at]! += step
    return true
  }

  /** The place of the k-th that is taken, from 0; -1 where there are fewer. */
  select(k: number): number {
    if (k < 0 || k >= this.#count) return -1
    let [place, left] = [0, k]
    for (let step = highestBit(this.#size); step > 0; step >>= 1) {
      const next = place + step
      const sum = next <= this.#size ? this.#sums[next]! : Number.POSITIVE_INFINITY
      if (sum <= left) {
        place = next
        left -= sum
      }
    }
    return place
  }

  /** How many before this place are taken. */
  rank(place: number): number {
    let sum = 0
    for (let at = Math.min(place, this.#size); at > 0; at -= at & -at) sum += this.#sums[at]!
    return sum
  }

  /** All at once, in time n: `isTaken` says which. */
  fill(size: number, isTaken: (place: number) => boolean): void {
    this.#size = size
    this.#sums = new Int32Array(size + 1)
    this.#taken = new Uint8Array(size)
    this.#count = 0
    for (let place = 0; place < size; place++) {
      if (!isTaken(place)) continue
      this.#taken[place] = 1
      this.#count++
      this.#sums[place + 1]! += 1
    }
    for (let at = 1; at <= size; at++) {
      const parent = at + (at & -at)
      if (parent <= size) this.#sums[parent]! += this.#sums[at]!
    }
  }
}

const highestBit = (size: number): number => (size === 0 ? 0 : 1 << (31 - Math.clz32(size)))
