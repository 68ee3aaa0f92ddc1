/** Hashing, synchronous (`crypto.subtle` takes an unknown number of turns, so a run that uses it can't be replayed). */
import { createHash, type Hash } from "node:crypto"

/** The SHA-256 of the bytes (of a string: its UTF-8), in lower-case hexadecimal. */
export const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex")

/** The hash of a trace as it grows: two runs with the same entries in the same order have the same hash. */
export class TraceHash {
  readonly #hash: Hash = createHash("sha256")

  /** Adds an entry by its JSON, in the order of its properties. */
  add(entry: unknown): void {
    this.#hash.update(`${JSON.stringify(entry)}\n`)
  }

  /** The hash of what was added so far; more may be added afterwards. */
  hex(): string {
    return this.#hash.copy().digest("hex")
  }
}

/** The hash of a whole trace. */
export const traceHash = (entries: Iterable<unknown>): string => {
  const hash = new TraceHash()
  for (const entry of entries) hash.add(entry)
  return hash.hex()
}
