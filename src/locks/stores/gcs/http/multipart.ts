/**
 * The body of a multipart upload: the object's metadata and its content in one request, which is what lets a write set
 * `cacheControl: no-store` (a cached lease could be read for hours). The object's name travels in the URL.
 */
import { Buffer } from "node:buffer"

/** The content types that the store writes. */
export type ContentType = "application/json" | "application/octet-stream"

/** Wraps contents; made once per store, as the boundary has to be one that no content holds. */
export class Multipart {
  /** The request's own content type. */
  readonly contentType: string
  readonly #opening: Readonly<Record<ContentType, Buffer>>
  readonly #closing: Buffer

  /** `unique`: characters of `[A-Za-z0-9_-]` that nobody who writes contents can know. */
  constructor(unique: string) {
    const boundary = `leasehold-${unique}`
    const opening = (contentType: ContentType): Buffer =>
      Buffer.from(
        `--${boundary}\r\ncontent-type: application/json; charset=utf-8\r\n\r\n` +
          JSON.stringify({ contentType, cacheControl: "no-store" }) +
          `\r\n--${boundary}\r\ncontent-type: ${contentType}\r\n\r\n`,
      )
    this.contentType = `multipart/related; boundary=${boundary}`
    this.#opening = {
      "application/json": opening("application/json"),
      "application/octet-stream": opening("application/octet-stream"),
    }
    this.#closing = Buffer.from(`\r\n--${boundary}--`)
  }

  wrap(content: Uint8Array, contentType: ContentType): Uint8Array {
    return Buffer.concat([this.#opening[contentType], content, this.#closing])
  }
}
