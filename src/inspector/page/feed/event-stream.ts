/**
 * Server-sent events out of the pieces in which they arrive. Pure. A message of more characters than `LONGEST` is an
 * error: the server keeps its messages small, so such a one is not of it.
 */

/** One message of a stream. */
export interface StreamMessage {
  readonly event: string
  readonly data: string
  readonly id: string | null
}

/** In characters: 64 MiB is far beyond any message of the server. */
const LONGEST = 2 ** 26

/** Takes pieces of text, gives whole messages. */
export class EventStreamParser {
  #pieces: string[] = []
  #length = 0
  #event = ""
  #data: string[] = []
  #id: string | null = null

  /** The messages that this piece completes. Throws RangeError for a line without end. */
  push(piece: string): StreamMessage[] {
    this.#pieces.push(piece)
    this.#length += piece.length
    if (this.#length > LONGEST) throw new RangeError("a message of the server has no end")
    if (!piece.includes("\n")) return []
    const lines = this.#pieces.join("").split(/\r?\n/)
    const rest = lines.pop() ?? ""
    this.#pieces = [rest]
    this.#length = rest.length
    return lines.flatMap((line) => this.#line(line))
  }

  #line(line: string): StreamMessage[] {
    if (line === "") return this.#message()
    const [, field = "", value = ""] = /^([^:]*)(?:: ?([\s\S]*))?$/.exec(line) ?? []
    if (field === "event") this.#event = value
    else if (field === "data") this.#data.push(value)
    else if (field === "id") this.#id = value
    return []
  }

  #message(): StreamMessage[] {
    const message = { event: this.#event || "message", data: this.#data.join("\n"), id: this.#id }
    const isEmpty = this.#data.length === 0
    this.#event = ""
    this.#data = []
    return isEmpty ? [] : [message]
  }
}
