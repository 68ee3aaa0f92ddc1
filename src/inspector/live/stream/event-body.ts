/**
 * A reader's stream as the body of an answer. It gives as much as is taken, and holds nothing for one who takes
 * nothing: who takes nothing for a while, though there is more, is dropped.
 */
import type { Clock, Timer } from "../../../runtime/time/clock.ts"
import type { StreamReader } from "./fleet-stream.ts"
import { HEARTBEAT } from "./sse.ts"

/** Proxies close connections on which nothing is said for 30 or 60 s. In milliseconds. */
export const HEARTBEAT_EVERY = 10_000

/** A client that has taken nothing for so long, though there was more, is dropped. In milliseconds. */
export const STALLED_AFTER = 30_000

/** No answer lasts for ever: the client comes back, and goes on where it was. In milliseconds. */
export const STREAM_FOR: number = 30 * 60_000

/** What is waiting in the answer itself, beside what is in sockets. In characters; one message may be more. */
const HIGH_WATER = 64 * 1024

/** The body; `onEnd` is called once, when it is over for whatever reason. */
export function eventBody(reader: StreamReader, clock: Clock, onEnd: () => void): ReadableStream<Uint8Array> {
  return new EventBody(reader, clock, onEnd).stream
}

class EventBody {
  readonly stream: ReadableStream<Uint8Array>
  readonly #reader: StreamReader
  readonly #clock: Clock
  readonly #onEnd: () => void
  readonly #encoder = new TextEncoder()
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #beating: Timer | undefined
  #stalling: Timer | undefined
  readonly #ending: Timer
  #isOver = false

  constructor(reader: StreamReader, clock: Clock, onEnd: () => void) {
    this.#reader = reader
    this.#clock = clock
    this.#onEnd = onEnd
    this.#ending = clock.after(STREAM_FOR, () => this.#end(), { background: true })
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
        },
        pull: () => this.#fill(),
        cancel: () => void this.#leave(),
      },
      { highWaterMark: HIGH_WATER, size: (chunk) => chunk?.byteLength ?? 0 },
    )
  }

  /** Gives what there is, up to what is wanted; `pull` is called again only once it has given something. */
  readonly #fill = (): void => {
    if (this.#isOver) return
    const controller = this.#controller!
    this.#stalling?.cancel()
    this.#stalling = undefined
    while ((controller.desiredSize ?? 0) > 0) {
      const text = this.#reader.take()
      if (text === null) return this.#end()
      if (text === undefined) return this.#idle()
      this.#give(text)
    }
    this.#stalling = this.#clock.after(STALLED_AFTER, () => this.#drop(), { background: true })
  }

  #idle(): void {
    this.#reader.wait(this.#fill)
    this.#beating ??= this.#clock.after(HEARTBEAT_EVERY, this.#beat, { background: true })
  }

  readonly #beat = (): void => {
    this.#beating = undefined
    this.#give(HEARTBEAT)
    this.#fill()
  }

  #give(text: string): void {
    this.#beating?.cancel()
    this.#beating = undefined
    this.#controller!.enqueue(this.#encoder.encode(text))
  }

  /** What is in order ends in order: what is waiting may still be taken. */
  #end(): void {
    if (this.#leave()) this.#controller!.close()
  }

  /** What is waiting goes too. */
  #drop(): void {
    if (this.#leave()) this.#controller!.error(new Error("The client has taken nothing for 30 s"))
  }

  /** Whether it wasn't over before. */
  #leave(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    for (const timer of [this.#beating, this.#stalling, this.#ending]) timer?.cancel()
    this.#reader.leave(this.#fill)
    this.#onEnd()
    return true
  }
}
