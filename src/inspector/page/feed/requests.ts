/**
 * All that the page asks the worker that served it: nothing else is ever asked. The token goes in a header, so that it
 * is in no address that somebody logs.
 */
import type { ActionAnswer, ActionRequest, SandboxDetail } from "../../live/model/wire.ts"
import { after } from "../look/clock.ts"

/** In milliseconds: the worker itself gives up within 40 s. */
const PATIENCE = 45_000

/** In characters: a key that is longer is none. */
const LONGEST_KEY = 512

/** An action that was not done is an answer too. */
const NOT_DONE = 409

/** Requests with one token. */
export class PageRequests {
  readonly #token: string

  /** The token of the page's address. */
  constructor(token: string) {
    this.#token = token
  }

  /** The stream of messages, after the one with this id. */
  events(lastId: string | null, signal: AbortSignal): Promise<Response> {
    const headers = { ...this.#headers(), accept: "text/event-stream" }
    return fetch("events", {
      headers: lastId === null ? headers : { ...headers, "last-event-id": lastId },
      signal,
    })
  }

  /** What the store says of a sandbox beside what its worker believes. Rejects with the reason in words. */
  async detail(worker: string, key: string): Promise<SandboxDetail> {
    if (!key.isWellFormed() || key.length > LONGEST_KEY)
      throw new Error("No store can have this key: nobody is asked about it")
    const query = new URLSearchParams({ worker, key })
    return (await this.#ask(`sandbox?${query}`, {})) as SandboxDetail
  }

  /** Asks for an action. Rejects with the reason in words. */
  async act(request: ActionRequest): Promise<ActionAnswer> {
    const body = JSON.stringify(request)
    return (await this.#ask("action", { method: "POST", body })) as ActionAnswer
  }

  async #ask(path: string, init: RequestInit): Promise<unknown> {
    const stop = new AbortController()
    const cancel = after(PATIENCE, () => stop.abort())
    try {
      const headers = { ...this.#headers(), "content-type": "application/json" }
      const answer = await fetch(path, { ...init, headers, signal: stop.signal })
      if (!answer.ok && answer.status !== NOT_DONE) throw new Error(await reasonOf(answer))
      return await answer.json()
    } catch (error) {
      throw error instanceof TypeError || stop.signal.aborted
        ? new Error("the worker doesn't answer", { cause: error })
        : error
    } finally {
      cancel()
    }
  }

  #headers(): Record<string, string> {
    return { authorization: `Bearer ${this.#token}` }
  }
}

/** What the worker says, or the status where it says nothing that can be read. */
export async function reasonOf(answer: Response): Promise<string> {
  const body: unknown = await answer.json().catch(() => null)
  const isTold = typeof body === "object" && body !== null && "error" in body && typeof body.error === "string"
  return isTold ? String(body.error) : `status ${answer.status}.`
}
