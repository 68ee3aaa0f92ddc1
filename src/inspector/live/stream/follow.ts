/**
 * Follows a stream of server-sent events: connects, goes on where it was, and connects anew when it ends, at growing
 * intervals while that fails. Each try is bounded: until an answer comes, and from one word to the next.
 *
 * Not promised: that what is said is sound. Who gets it checks it.
 */
import type { Clock } from "../../../runtime/time/clock.ts"
import { sleep } from "../../../runtime/time/sleep.ts"
import { shortText } from "../../../web/body.ts"
import { EventReader } from "./sse.ts"

/** Until the head of the answer is there: a worker that is alive takes milliseconds. In milliseconds. */
export const ANSWER_WITHIN = 5000

/** A stream that has said nothing for so long is dead: there is a heartbeat every 10 s. In milliseconds. */
export const SILENT_AFTER = 30_000

/** The first wait before the next try, and the longest. In milliseconds. */
const FIRST_WAIT = 500
const LONGEST_WAIT = 30_000

/** The longest event: 400 rows with long texts. In characters. */
const LONGEST_EVENT = 16 * 1024 * 1024

/** What is followed, and who is told. */
export interface Follow {
  readonly url: URL
  readonly clock: Clock
  /** Ends it. */
  readonly signal: AbortSignal
  /** Those of one try. */
  readonly headers: () => Record<string, string>
  /** Why an answer isn't to be followed, in words. Its status is good already. */
  readonly check?: (answer: Response) => string | undefined
  /** One event, its data as JSON. What it throws ends this try. */
  readonly onEvent: (event: string, data: unknown) => void
  /** Why nothing is heard, in words, each time, with the status of a refusal. */
  readonly onProblem: (problem: string, status?: number) => void
}

/** Follows until the signal aborts. Never rejects. */
export async function follow(what: Follow): Promise<void> {
  const { clock, signal, onProblem } = what
  const follower = new Follower(what)
  let wait = FIRST_WAIT
  while (!signal.aborted) {
    try {
      await follower.once()
    } catch (error) {
      if (signal.aborted) return
      onProblem(wordsOf(error), error instanceof Problem ? error.status : undefined)
    }
    if (follower.hasHeard) wait = FIRST_WAIT
    await sleep(clock, wait * (0.5 + clock.random() / 2), signal, { background: true })
    wait = Math.min(wait * 2, LONGEST_WAIT)
  }
}

class Follower {
  readonly #what: Follow
  #lastId = ""
  /** The last try has heard something. */
  hasHeard = false

  constructor(what: Follow) {
    this.#what = what
  }

  /** One try. Rejects with why it ended, but for a stream that was ended in order. */
  async once(): Promise<void> {
    const { url, headers, signal, check, clock } = this.#what
    this.hasHeard = false
    using limit = new Limit(clock, signal)
    limit.within(ANSWER_WITHIN, "it doesn't answer")
    const resume: Record<string, string> = this.#lastId === "" ? {} : { "last-event-id": this.#lastId }
    const answer = await fetch(url, {
      headers: { accept: "text/event-stream", ...resume, ...headers() },
      redirect: "manual",
      signal: limit.signal,
    })
    const problem = answer.status === 200 ? check?.(answer) : await refusedBecause(answer, limit)
    if (problem !== undefined) {
      await answer.body?.cancel()
      throw new Problem(problem, answer.status === 200 ? undefined : answer.status)
    }
    if (answer.body !== null) await this.#read(answer.body, limit)
  }

  async #read(body: ReadableStream<Uint8Array>, limit: Limit): Promise<void> {
    const events = new EventReader(LONGEST_EVENT)
    const decoder = new TextDecoder()
    limit.within(SILENT_AFTER, "it says nothing")
    for await (const chunk of body) {
      limit.within(SILENT_AFTER, "it says nothing")
      for (const { id, event, data } of events.push(decoder.decode(chunk, { stream: true }))) {
        this.hasHeard = true
        this.#what.onEvent(event, JSON.parse(data))
        if (id !== undefined) this.#lastId = id
      }
    }
  }
}

/** Why nothing is heard, in words for people. */
class Problem extends Error {
  /** Of an answer that refuses. */
  readonly status: number | undefined

  constructor(message: string, status?: number) {
    super(message)
    this.status = status
  }
}

/** A signal that aborts when time is up, which can be put off. */
class Limit implements Disposable {
  readonly signal: AbortSignal
  readonly #clock: Clock
  readonly #end = new AbortController()
  #cancel: () => void = () => {}

  constructor(clock: Clock, outer: AbortSignal) {
    this.#clock = clock
    this.signal = AbortSignal.any([this.#end.signal, outer])
  }

  within(ms: number, otherwise: string): void {
    this.#cancel()
    const timer = this.#clock.after(ms, () => this.#end.abort(new Problem(otherwise)), { background: true })
    this.#cancel = () => timer.cancel()
  }

  [Symbol.dispose](): void {
    this.#cancel()
  }
}

/** What a refusal says of itself, as far as it is short. */
async function refusedBecause(answer: Response, limit: Limit): Promise<string> {
  limit.within(ANSWER_WITHIN, "it doesn't answer")
  const { status } = answer
  if (status === 0 || (status >= 300 && status < 400)) return "it redirects, which isn't followed"
  const told = await reasonIn(answer)
  return told === undefined ? `it answers with status ${status}` : `it answers with status ${status}: ${told}`
}

async function reasonIn(answer: Response): Promise<string | undefined> {
  if (answer.headers.get("content-type")?.startsWith("application/json") !== true) return undefined
  const text = await shortText(answer.body, LONGEST_REASON)
  const told: unknown = JSON.parse(text ?? "null")
  const { error } = Object(told) as { readonly error?: unknown }
  return typeof error === "string" ? error : undefined
}

/** In bytes. */
const LONGEST_REASON = 2000

/** What went wrong, in words; of connections that fail the runtimes say it in the cause. */
function wordsOf(error: unknown): string {
  if (error instanceof Problem) return error.message
  if (error instanceof SyntaxError) return "what it says is no JSON"
  const { cause, message } = error instanceof Error ? error : new Error(String(error))
  const { code } = Object(cause) as { readonly code?: unknown }
  if (code === "ECONNREFUSED" || /Connection refused|ECONNREFUSED/i.test(message)) return "nobody listens there"
  return typeof code === "string" ? `it can't be reached (${code})` : `it can't be reached (${message})`
}
