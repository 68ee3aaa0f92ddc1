/** Hashing, synchronous (`crypto.subtle` takes an unknown number of turns, so a run that uses it can't be replayed). */
import { createHash, type Hash } from "node:crypto"
import { refusal, shown } from "../input/options.ts"

/** The SHA-256 of the bytes (of a string: its UTF-8), in lower-case hexadecimal. */
export const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex")

/** In characters. */
const CHUNK = 65_536

/** The hash of a trace as it grows: two runs with the same entries in the same order have the same hash. */
export class TraceHash {
  readonly #hash: Hash = createHash("sha256")
  /** What is yet to be hashed: a call for each entry would cost more than the hashing. */
  #text = ""

  /** Adds an entry by its JSON, in the order of its properties. */
  add(entry: unknown): void {
    this.#text += `${JSON.stringify(entry)}\n`
    if (this.#text.length > CHUNK) this.#flush()
  }

  /** The hash of what was added so far; more may be added afterwards. */
  hex(): string {
    this.#flush()
    return this.#hash.copy().digest("hex")
  }

  #flush(): void {
    this.#hash.update(this.#text)
    this.#text = ""
  }
}

/** The hash of a whole trace. */
export const traceHash = (entries: Iterable<unknown>): string => {
  if (typeof (entries as Partial<Iterable<unknown>> | null | undefined)?.[Symbol.iterator] !== "function")
    throw refusal(`The entries of traceHash are ${shown(entries)}`, "Give an array, or another iterable")
  const hash = new TraceHash()
  for (const entry of entries) hash.add(entry)
  return hash.hex()
}
