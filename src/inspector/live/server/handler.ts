/**
 * An inspector: answers requests for its page, its events, one sandbox and actions, under whatever path it is mounted.
 * Who may ask is `access.ts`'s to say, what is told `fleet-stream.ts`'s. Each answer but the events ends within a
 * bound.
 */
import { orAbort } from "../../../runtime/races.ts"
import { type OnError, reporter } from "../../../runtime/report.ts"
import type { Clock } from "../../../runtime/time/clock.ts"
import { addressOf } from "../../../web/addresses.ts"
import { shortText } from "../../../web/body.ts"
import type { ActionAnswer, ActionRequest } from "../model/wire.ts"
import { eventBody } from "../stream/event-body.ts"
import { FleetStream } from "../stream/fleet-stream.ts"
import type { LiveWorker } from "../workers/live-worker.ts"
import type { InspectorSettings } from "../workers/options.ts"
import { WholeFleet } from "../workers/peers.ts"
import { NONCE, PROOF, proofOf, Signatures } from "../workers/signature.ts"
import { Access, type Asker } from "./access.ts"
import { Details } from "./details.ts"
import { pageAnswer, SAFE_HEADERS } from "./page-answer.ts"
import { pageHtml } from "./page-html.ts"

/** Streams at once: people, and workers that ask for others. Each may hold some hundred kilobytes. */
export const MOST_STREAMS = 64

/** An action names a worker and a key. In bytes. */
export const LONGEST_BODY = 4096

/** A checkpoint waits for 30 s at most; what is asked of another worker comes back within 35 s. In milliseconds. */
const ANSWER_WITHIN = 40_000

/** The body of an action is there with its head, or soon after. In milliseconds. */
const BODY_WITHIN = 5000

/** Answers requests. */
export class InspectorHandler implements AsyncDisposable {
  readonly token: string
  readonly #worker: LiveWorker
  readonly #settings: InspectorSettings
  readonly #access: Access
  readonly #fleet: WholeFleet
  /** Of all workers, for people. */
  readonly #whole: FleetStream
  /** Of this worker alone, for others. */
  readonly #own: FleetStream
  readonly #details: Details
  readonly #report: OnError
  readonly #closing = new AbortController()
  #streams = 0

  constructor(worker: LiveWorker, settings: InspectorSettings) {
    const { secret, hosts, actions, token } = settings
    const { clock } = worker
    const address = worker.address === null ? undefined : addressOf(worker.address)
    this.token = token ?? `${clock.id()}${clock.id()}`
    this.#worker = worker
    this.#settings = settings
    this.#report = reporter(settings.onError)
    this.#access = new Access({
      token: this.token,
      hosts: address === undefined ? hosts : [...hosts, address.hostname],
      authority: address?.host,
      signatures: secret === undefined ? undefined : new Signatures(secret, clock),
    })
    this.#fleet = new WholeFleet({ worker, ...settings })
    this.#whole = new FleetStream(clock, [this.#fleet], { actions })
    this.#own = new FleetStream(clock, [worker], { actions })
    this.#details = new Details(worker, this.#fleet, () => this.#whole.fleet)
  }

  /** Answers one request. Never rejects. */
  async fetch(request: Request): Promise<Response> {
    try {
      return await this.#answer(request)
    } catch (error) {
      if (this.#closing.signal.aborted) return refusal(503, "This worker is closing.")
      this.#report(error)
      return refusal(500, "The inspector failed; the worker's log tells why.")
    }
  }

  /** Ends every stream, and listens to nothing any more. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error("The inspector is closed"))
    this.#whole.close()
    this.#own.close()
  }

  async #answer(request: Request): Promise<Response> {
    const url = new URL(request.url)
    const route = routeOf(url)
    const isPost = route === "action"
    if (request.method !== (isPost ? "POST" : "GET"))
      return refusal(405, `Only ${isPost ? "POST" : "GET"} is of use here.`)
    const body = isPost ? await this.#bodyOf(request) : ""
    if (body === undefined) return refusal(413, `Its body has more than ${LONGEST_BODY} bytes, or doesn't come.`)
    const asker = this.#access.judge(request, url, { isPage: route === "page", body })
    if (typeof asker === "object") return refusal(asker.status, asker.error)
    if (this.#closing.signal.aborted) return refusal(503, "This worker is closing.")
    return this.#proven(request, asker, await this.#routes[route](request, url, asker, body))
  }

  readonly #routes: Readonly<
    Record<ServerRoute, (request: Request, url: URL, asker: Asker, body: string) => Response | Promise<Response>>
  > = {
    page: (_request, url) => pageOf(url),
    events: (request, _url, asker) => this.#events(request, asker),
    sandbox: (_request, url, asker) => this.#sandbox(url, asker),
    action: (_request, _url, asker, body) => this.#action(body, asker),
  }

  #events(request: Request, asker: Asker): Response {
    if (this.#streams >= MOST_STREAMS) {
      return refusal(503, `There are ${MOST_STREAMS} who look already.`, { "retry-after": "10" })
    }
    this.#streams++
    const stream = asker === "peer" ? this.#own : this.#whole
    const body = eventBody(stream.read(request.headers.get("last-event-id")), this.#worker.clock, () => this.#streams--)
    return new Response(body, { headers: { ...SAFE_HEADERS, "content-type": "text/event-stream; charset=utf-8" } })
  }

  async #sandbox(url: URL, asker: Asker): Promise<Response> {
    const [worker, key] = [url.searchParams.get("worker"), url.searchParams.get("key")]
    if (key === null || key === "") return refusal(400, "Say which sandbox: ?worker=…&key=…")
    const detail = await this.#bounded(
      asker === "peer" ? this.#details.own(key) : this.#details.of(worker ?? this.#worker.worker, key),
    )
    return detail === undefined ? refusal(404, "There is no such sandbox, or no longer.") : jsonAnswer(200, detail)
  }

  async #action(body: string, asker: Asker): Promise<Response> {
    if (!this.#settings.actions)
      return refusal(403, "Actions are off: the worker's inspector was made without actions: true.")
    const request = actionOf(body)
    if (request === undefined)
      return refusal(400, "The body is no action: checkpoint, handoff or cordon, with worker and key.")
    const answer: ActionAnswer = await this.#bounded(
      asker === "peer" ? this.#worker.act(request) : this.#details.act(request),
    )
    return jsonAnswer(200, answer)
  }

  /** Another worker learns that this one knows the secret too. */
  #proven(request: Request, asker: Asker, answer: Response): Response {
    const { secret } = this.#settings
    if (asker === "peer" && secret !== undefined) {
      answer.headers.set(PROOF, proofOf(secret, request.headers.get(NONCE) ?? ""))
    }
    return answer
  }

  async #bodyOf(request: Request): Promise<string | undefined> {
    if (Number(request.headers.get("content-length") ?? 0) > LONGEST_BODY) return undefined
    return within(this.#worker.clock, BODY_WITHIN, this.#closing.signal, shortText(request.body, LONGEST_BODY)).catch(
      () => undefined,
    )
  }

  #bounded<A>(promise: Promise<A>): Promise<A> {
    return within(this.#worker.clock, ANSWER_WITHIN, this.#closing.signal, promise)
  }
}

type ServerRoute = "page" | "events" | "sandbox" | "action"

/** By the end of the path alone, so that it may be mounted anywhere. */
function routeOf({ pathname }: URL): ServerRoute {
  const last = pathname.slice(pathname.lastIndexOf("/") + 1)
  return last === "events" || last === "sandbox" || last === "action" ? last : "page"
}

/** The page asks for what stands beside it: its own address has to end in a slash. */
function pageOf({ pathname, search }: URL): Response {
  if (pathname.endsWith("/")) return pageAnswer(pageHtml)
  const last = pathname.slice(pathname.lastIndexOf("/") + 1)
  return new Response(null, { status: 308, headers: { ...SAFE_HEADERS, location: `./${last}/${search}` } })
}

function actionOf(body: string): ActionRequest | undefined {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return undefined
  }
  const { action, worker, key } = Object(value) as { readonly [K in keyof ActionRequest]: unknown }
  if (typeof worker !== "string") return undefined
  if (action === "cordon") return { action, worker }
  if ((action !== "checkpoint" && action !== "handoff") || typeof key !== "string") return undefined
  return { action, worker, key }
}

/** Settles as the promise does, or rejects when time is up, or the signal aborts. */
async function within<A>(clock: Clock, ms: number, signal: AbortSignal, promise: Promise<A>): Promise<A> {
  const late = new AbortController()
  const timer = clock.after(ms, () => late.abort(new Error(`There is no answer within ${ms} ms`)), { background: true })
  try {
    return await orAbort(promise, AbortSignal.any([late.signal, signal]))
  } finally {
    timer.cancel()
  }
}

const refusal = (status: number, error: string, headers: Record<string, string> = {}): Response =>
  jsonAnswer(status, { error }, headers)

function jsonAnswer(status: number, value: unknown, headers: Record<string, string> = {}): Response {
  const type = { "content-type": "application/json; charset=utf-8" }
  return new Response(`${JSON.stringify(value)}\n`, { status, headers: { ...SAFE_HEADERS, ...type, ...headers } })
}
