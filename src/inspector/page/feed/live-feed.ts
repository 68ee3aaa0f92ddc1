/**
 * The messages of a worker, over one request that stays open. After a loss it connects again by itself, with the id of
 * the last message. So no message is missed that the worker still has. Each try is bounded: until an answer comes, and
 * from one message to the next.
 *
 * Not promised: that it tries again if a worker refuses the token, or speaks another version. A person has to act then.
 */
import { WIRE_VERSION, type WireMessages } from "../../live/model/wire.ts"
import { after } from "../look/clock.ts"
import { EventStreamParser, type StreamMessage } from "./event-stream.ts"
import type { Feed, FeedSink } from "./feed.ts"
import { type PageRequests, reasonOf } from "./requests.ts"

/** The first wait before another try, in milliseconds; each next one is twice as long. */
const FIRST_WAIT = 250
/** The longest, in milliseconds: a restarted worker is seen within this time. */
const LONGEST_WAIT = 5000
/**
 * Until an answer begins, in milliseconds: a worker that serves takes some. One that is just starting may accept a
 * connection, and never answer what was asked before it serves.
 */
const ANSWER_WITHIN = 5000
/** In milliseconds: the worker sends something every 10 s, so that three are missing then. */
const SILENCE = 30_000

const EVENTS: ReadonlySet<string> = new Set(["hello", "rows", "ready", "lines", "workers", "forget"])
const isEvent = (event: string): event is keyof WireMessages => EVENTS.has(event)

/** One worker's stream. */
export class LiveFeed implements Feed {
  readonly #requests: PageRequests
  #sink: FeedSink | undefined
  #lastId: string | null = null
  #wait = FIRST_WAIT
  #cancelWait: (() => void) | undefined
  #isTrying = false
  #expected = 0
  #arrived = 0

  /** Sends nothing before `start`. */
  constructor(requests: PageRequests) {
    this.#requests = requests
  }

  start(sink: FeedSink): void {
    this.#sink = sink
    sink.connection({ kind: "connecting" })
    void this.#run()
  }

  retry(): void {
    if (this.#isTrying) return
    this.#cancelWait?.()
    this.#cancelWait = undefined
    void this.#run()
  }

  async #run(): Promise<void> {
    const stop = new AbortController()
    this.#isTrying = true
    try {
      const cancel = after(ANSWER_WITHIN, () => stop.abort())
      const answer = await this.#requests.events(this.#lastId, stop.signal).finally(cancel)
      if (!answer.ok) return await this.#refused(answer)
      await this.#read(answer, stop)
      this.#tryLater("the worker ended the connection.")
    } catch (error) {
      if (error instanceof OtherVersion) this.#sink?.connection({ kind: "version", version: error.version })
      else this.#tryLater(stop.signal.aborted ? "it says nothing." : "it doesn't answer.")
    } finally {
      this.#isTrying = false
      stop.abort()
    }
  }

  async #refused(answer: Response): Promise<void> {
    const reason = await reasonOf(answer)
    if (answer.status >= 500 || answer.status === 429) this.#tryLater(reason)
    else this.#sink?.connection({ kind: "refused", status: answer.status, reason })
  }

  async #read(answer: Response, stop: AbortController): Promise<void> {
    const parser = new EventStreamParser()
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
    if (this.#lastId !== null) this.#sink?.connection({ kind: "live" })
    while (reader !== undefined) {
      const cancel = after(SILENCE, () => stop.abort())
      const { done, value } = await reader.read().finally(cancel)
      if (done) return
      for (const message of parser.push(value)) this.#take(message)
    }
  }

  #take({ event, data, id }: StreamMessage): void {
    if (!isEvent(event)) return
    // The worker is trusted to keep to its types: it is the one that the reader asked, and it checks what others tell
    // it.
    const message = JSON.parse(data) as WireMessages[typeof event]
    if (event === "hello") this.#hello(message as WireMessages["hello"])
    this.#wait = FIRST_WAIT
    this.#sink?.message(event, message)
    this.#progress(event, message)
    this.#lastId = id
  }

  #hello({ version, rows }: WireMessages["hello"]): void {
    if (version !== WIRE_VERSION) throw new OtherVersion(version)
    this.#expected = rows
    this.#arrived = 0
  }

  #progress(event: keyof WireMessages, message: WireMessages[keyof WireMessages]): void {
    if (event === "ready") return this.#sink?.connection({ kind: "live" })
    if (event !== "hello" && event !== "rows") return
    if (this.#arrived >= this.#expected && event === "rows") return
    if (Array.isArray(message)) this.#arrived += message.length
    this.#sink?.connection({ kind: "loading", rows: this.#arrived, of: this.#expected })
  }

  #tryLater(reason: string): void {
    this.#sink?.connection({ kind: "lost", reason })
    this.#cancelWait?.()
    this.#cancelWait = after(this.#wait, () => this.retry())
    this.#wait = Math.min(LONGEST_WAIT, 2 * this.#wait)
  }
}

class OtherVersion extends Error {
  readonly version: unknown
  constructor(version: unknown) {
    super("another version")
    this.version = version
  }
}
