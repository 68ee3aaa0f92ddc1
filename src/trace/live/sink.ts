/** A user's function as the destination of a trace. What it throws is told once, until it takes a line again. */
import type { TraceLine } from "../trace.ts"
import type { TraceSink } from "./options.ts"
import type { Destination } from "./outlet.ts"

/** Gives lines to a function, one after the other. */
export class SinkDestination implements Destination {
  readonly name = "its sink"
  readonly #sink: TraceSink
  readonly #onFailure: (error: unknown) => void
  #failing = false
  #isClosed = false

  /** `onFailure` is told of the first line that the function didn't take, and of none that follows it directly. */
  constructor(sink: TraceSink, onFailure: (error: unknown) => void) {
    this.#sink = sink
    this.#onFailure = onFailure
  }

  async write(lines: readonly TraceLine[]): Promise<number> {
    for (const line of lines) {
      if (this.#isClosed) break
      try {
        await this.#sink(copyOf(line))
        this.#failing = false
      } catch (error) {
        if (!this.#failing) this.#onFailure(error)
        this.#failing = true
      }
    }
    return lines.length
  }

  async close(): Promise<void> {
    this.#isClosed = true
  }
}

/** The line is in the file and in memory too: what a sink adds to it, or takes off, is its own. */
function copyOf<A>(value: A): A {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, copyOf<unknown>(each)])) as A
}
