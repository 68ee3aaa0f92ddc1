/** Server-sent events as text: written, and read from chunks that may end anywhere. Pure; it runs in a browser too. */

/** One event. */
export interface ServerEvent {
  /** Undefined: it has none, and the id of the one before goes on. */
  readonly id: string | undefined
  readonly event: string
  readonly data: string
}

/** A comment: it says that the stream lives. */
export const HEARTBEAT = ":\n\n"

/** An event as text, without its id. JSON has no line ends in it, so that its data is one line. */
export const eventText = (event: string, data: unknown): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`

/**
 * The same with its id, which who reads comes back with. An empty one: from here on there is nothing to come back to.
 */
export const withId = (id: string, text: string): string => `id: ${id}\n${text}`

/** What a stream says, chunk by chunk. */
export class EventReader {
  /** Of an event that isn't complete. Joined once it is: joining it with each chunk takes the square of its length. */
  #pieces: string[] = []
  #length = 0
  readonly #limit: number

  /** An event of more than `limit` characters is refused. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** The events that this chunk completes. Throws for one that is too long. */
  push(chunk: string): ServerEvent[] {
    const text = chunk.replaceAll("\r\n", "\n")
    if (text === "") return []
    const isEnd = text.includes("\n\n") || (text.startsWith("\n") && this.#pieces.at(-1)?.endsWith("\n") === true)
    this.#pieces.push(text)
    this.#length += text.length
    if (!isEnd) {
      this.#check(this.#length)
      return []
    }
    const parts = this.#pieces.join("").split("\n\n")
    const rest = parts.pop() ?? ""
    this.#pieces = rest === "" ? [] : [rest]
    this.#length = rest.length
    for (const { length } of [...parts, rest]) this.#check(length)
    return parts.flatMap((part) => parsed(part) ?? [])
  }

  #check(length: number): void {
    if (length > this.#limit) throw new Error(`an event has more than ${this.#limit} characters`)
  }
}

function parsed(text: string): ServerEvent | undefined {
  const fields = new Map<string, string>()
  for (const line of text.split("\n")) {
    const colon = line.indexOf(":")
    if (colon <= 0) continue // a comment
    fields.set(line.slice(0, colon), line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1))
  }
  const data = fields.get("data")
  return data === undefined ? undefined : { id: fields.get("id"), event: fields.get("event") ?? "message", data }
}
