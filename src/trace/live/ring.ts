/**
 * The last lines of a trace, in memory: at most so many, and of at most so many bytes.
 *
 * Not promised: that a line's size is exact. It is the characters of its texts, with an allowance for the rest.
 */
import type { TraceLine } from "../trace.ts"

/** What a line takes beside its texts, in bytes: its numbers, and its object. */
const LINE_BYTES = 160

/** About how many bytes a line takes. */
export function sizeOf(line: TraceLine): number {
  return LINE_BYTES + textIn(line)
}

function textIn(value: object): number {
  let size = 0
  for (const each of Object.values(value) as unknown[]) {
    if (typeof each === "string") size += each.length
    else if (typeof each === "object" && each !== null) size += textIn(each)
  }
  return size
}

/** Keeps the last lines. */
export class LineRing {
  readonly #most: number
  readonly #mostBytes: number
  #lines: TraceLine[] = []
  /** Where the lines begin that are still kept: what is before it is cut off now and then, and not each time. */
  #from = 0
  #bytes = 0

  constructor(most: number, mostBytes: number) {
    this.#most = most
    this.#mostBytes = mostBytes
  }

  /** The lines that are kept, the oldest first. */
  get lines(): readonly TraceLine[] {
    return this.#lines.slice(this.#from)
  }

  /** Keeps this line too, and drops the oldest where there is no room. */
  push(line: TraceLine): void {
    this.#lines.push(line)
    this.#bytes += sizeOf(line)
    while (this.#lines.length - this.#from > this.#most || this.#bytes > this.#mostBytes) this.#drop()
    if (this.#from * 2 > this.#lines.length) {
      this.#lines = this.#lines.slice(this.#from)
      this.#from = 0
    }
  }

  /** Drops all of them. */
  clear(): void {
    this.#lines = []
    this.#from = 0
    this.#bytes = 0
  }

  #drop(): void {
    this.#bytes -= sizeOf(this.#lines[this.#from]!)
    this.#from++
  }
}
