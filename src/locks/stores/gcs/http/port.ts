/**
 * The HTTP port of the GCS store, as narrow as its traffic: one request, sent once, answered whole or given up on. Node
 * speaks through undici (undici.ts), Deno through its own fetch (fetch.ts); neither loads the other's.
 *
 * Not promised: that a request given up on was not sent, or won't be applied later.
 */
import type { RequestOptions } from "../../port.ts"

/** One request. Its deadline covers everything: the connection, the answer and the answer's body. */
export interface HttpRequest extends RequestOptions {
  readonly method: "GET" | "POST" | "DELETE"
  /** Path and query, encoded. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  /** Of the answer's body, in bytes: once it is known to be longer, the rest is not waited for. */
  readonly limit: number
}

/** An answer whose body arrived, at least up to the limit. */
export interface HttpAnswer {
  readonly kind: "answer"
  readonly status: number
  /** By lower-case name. */
  header(name: string): string | undefined
  readonly body: Uint8Array
  /** The body is longer than the limit. */
  readonly cut: boolean
}

/** No whole answer came. `error` has the errno name as its `code`, where there is one. */
export interface HttpLost {
  readonly kind: "lost"
  readonly error: Error
}

/** A pool of connections to one server. */
export interface Http {
  /** Never rejects. */
  exchange(request: HttpRequest): Promise<HttpAnswer | HttpLost>
  /** Ends what is in flight, as lost. */
  close(): Promise<void>
}

/** The chunks of a body, as far as they were taken. */
export class BodyParts {
  readonly #limit: number
  readonly #chunks: Uint8Array[] = []
  #size = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** False: that was too much, and none of it is kept. */
  add(chunk: Uint8Array): boolean {
    this.#size += chunk.length
    if (this.#size > this.#limit) return false
    this.#chunks.push(chunk)
    return true
  }

  join(): Uint8Array {
    const [only] = this.#chunks
    if (only !== undefined && this.#chunks.length === 1) return only
    const whole = new Uint8Array(this.#chunks.reduce((size, { length }) => size + length, 0))
    let at = 0
    for (const chunk of this.#chunks) {
      whole.set(chunk, at)
      at += chunk.length
    }
    return whole
  }
}
