/** A recorded trace that is part of the page itself: such a page opens from a disk, without a server. */
import { WIRE_VERSION } from "../../live/model/wire.ts"
import { RECORDING_ID, type Recording } from "../../live/recording.ts"
import type { Feed, FeedSink } from "./feed.ts"

/** The recording of this page; null where it is a live one. */
export function recordingOf(page: Document): Recording | null {
  const text = page.getElementById(RECORDING_ID)?.textContent
  return text == null ? null : (JSON.parse(text) as Recording)
}

/** Lines at a time: a message of a live worker has about as many. */
const BATCH = 500

/** Gives a recording as a worker would. */
export class RecordedFeed implements Feed {
  readonly #recording: Recording

  /** Gives nothing before `start`. */
  constructor(recording: Recording) {
    this.#recording = recording
  }

  start(sink: FeedSink): void {
    const { lines, title } = this.#recording
    const now = lines.at(-1)?.at ?? 0
    sink.message("hello", { version: WIRE_VERSION, source: "recorded", now, actions: false, rows: 0, title })
    sink.message("ready", {})
    for (let from = 0; from < lines.length; from += BATCH)
      sink.message("lines", { lines: lines.slice(from, from + BATCH), left: 0 })
    sink.connection({ kind: "recorded" })
  }

  retry(): void {}
}
