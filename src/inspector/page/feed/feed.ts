/** Where messages of a fleet come from: a worker, or a trace that was recorded. */
import type { WireMessages } from "../../live/model/wire.ts"
import type { FeedConnection } from "./connection.ts"

/** Takes what a feed gives. */
export interface FeedSink {
  /** A message, in the order of the stream. */
  message<K extends keyof WireMessages>(event: K, message: WireMessages[K]): void
  /** The connection is another. */
  connection(connection: FeedConnection): void
}

/** A source of messages. */
export interface Feed {
  /** Begins, and goes on until the page is closed. */
  start(sink: FeedSink): void
  /** Tries again at once where it has stopped. */
  retry(): void
}
