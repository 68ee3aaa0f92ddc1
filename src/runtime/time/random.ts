/**
 * Seeded randomness for virtual time and simulations: the same seed gives the same numbers on every runtime.
 * Owns no secrets: what it makes can be predicted, so it never stands behind the live clock.
 */
import { Buffer } from "node:buffer"

/** Marsaglia's xorwow: five words of xorshift and a Weyl sequence, period 2^192 - 2^32. */
export class SeededRandom {
  readonly #words: Uint32Array
  #weyl = 0

  constructor(seed: number) {
    this.#words = Uint32Array.of(seed, Math.floor(seed / 2 ** 32), 0x9e3779b9, 0x243f6a88, 0xb7e15162)
    for (let warmUp = 0; warmUp < 16; warmUp++) this.uint32()
  }

  /** An integer in [0, 2^32). */
  uint32(): number {
    const words = this.#words
    const oldest = words[0]! ^ (words[0]! >>> 2)
    const newest = words[4]!
    words.copyWithin(0, 1)
    words[4] = newest ^ (newest << 4) ^ oldest ^ (oldest << 1)
    this.#weyl = (this.#weyl + 362_437) | 0
    return (words[4] + this.#weyl) >>> 0
  }

  /** A number in [0, 1), with 53 random bits. */
  next(): number {
    return ((this.uint32() >>> 5) * 2 ** 26 + (this.uint32() >>> 6)) / 2 ** 53
  }

  /** 16 characters of `[A-Za-z0-9_-]`. */
  id(): string {
    const bytes = Buffer.alloc(12)
    for (let word = 0; word < 3; word++) bytes.writeUInt32LE(this.uint32(), word * 4)
    return bytes.toString("base64url")
  }
}
