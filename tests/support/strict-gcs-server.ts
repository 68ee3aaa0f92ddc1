/**
 * A small strict GCS for tests: the JSON routes that the store uses, over real HTTP, with GCS's rules kept
 * (strict-gcs-bucket.ts), what went over the wire counted and recorded, and faults scripted request by request.
 *
 *     await using server = await startStrictGcs()
 *     server.script({ on: "POST", instead: "reset" })                // applied, then the connection is reset
 *     server.script({ on: "GET", instead: "silence" })
 *     const arrived = server.arrival("GET")                          // settles when that request is at the server
 *
 * Not promised: anything of GCS that leasehold doesn't use.
 */
import { Buffer } from "node:buffer"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { liveClock } from "../../src/runtime/time/clock.ts"
import { json, type StrictAnswer, StrictBuckets, type StrictRequest } from "./strict-gcs-bucket.ts"

/** What happens to one request. */
export interface Fault {
  /** Only a request of this method takes it. */
  readonly on?: "GET" | "POST" | "DELETE"
  /** False: the request does nothing. */
  readonly applied?: false
  /** Instead of an answer, or (`half`) of the second half of its body. */
  readonly instead?: "reset" | "silence" | "half"
  /** Replaces parts of the answer. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Doesn't tell the length of the body beforehand. */
  readonly chunked?: true
}

/** A request as the server saw it. */
export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: IncomingMessage["headers"]
  readonly body: Buffer
}

export interface StrictGcsOptions {
  /** Default: one, named `bucket`. */
  readonly buckets?: readonly string[]
  /** What `Date` says, in Unix milliseconds. Default: the time. */
  readonly now?: () => number
  /** False: requests are counted, but not kept. Default true. */
  readonly record?: boolean
}

/** Starts one on a free port of the loopback interface. */
export async function startStrictGcs(options: StrictGcsOptions = {}): Promise<StrictGcsServer> {
  const server = new StrictGcsServer(options)
  await server.listen()
  return server
}

export class StrictGcsServer implements AsyncDisposable {
  readonly buckets: StrictBuckets = new StrictBuckets()
  /** Since the start, or since `forget`. */
  counts: Record<string, number> = {}
  requests: SeenRequest[] = []
  /** Requests whose URL has one of these in it are taken, do nothing and are never answered. */
  readonly silenced: Set<string> = new Set()
  /** How often it answered 429 to a write that came within the spacing. */
  tooEarly = 0
  /** What the token exchange of an external account hands out, and for how many seconds. */
  token: { value: string; expiresIn: number; answers: "given" | "refused" | "silent" } = {
    value: "token-1",
    expiresIn: 3600,
    answers: "given",
  }
  now: () => number
  readonly #record: boolean
  readonly #faults: Fault[] = []
  readonly #waiting: { readonly method: string; readonly arrived: () => void }[] = []
  readonly #server: Server

  constructor({ buckets = ["bucket"], now = () => liveClock.read().wall, record = true }: StrictGcsOptions) {
    for (const bucket of buckets) this.buckets.create(bucket)
    this.now = now
    this.#record = record
    this.#server = createServer((incoming, response) => void this.#serve(incoming, response))
    this.#server.keepAliveTimeout = 0
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  listen(): Promise<void> {
    return new Promise((settle) => void this.#server.listen(0, "127.0.0.1", settle))
  }

  /** Each fault is taken by the first request that fits, in the order of calls. */
  script(...faults: readonly Fault[]): void {
    this.#faults.push(...faults)
  }

  /**
   * Settles when the next request of this method (or for a "token") has arrived whole, and, if it takes effect, has.
   */
  arrival(method: string): Promise<void> {
    return new Promise((arrived) => void this.#waiting.push({ method, arrived }))
  }

  /** Counts and records from here on. */
  forget(): void {
    this.counts = {}
    this.requests = []
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((settle) => void this.#server.close(settle))
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(incoming)
    if (body === undefined) return
    const url = new URL(incoming.url ?? "/", this.url)
    const request = { method: incoming.method ?? "", url, headers: incoming.headers, body }
    if (url.pathname.startsWith("/sts/")) return this.#exchange(url, response)
    this.#note(request)
    if ([...this.silenced].some((part) => url.href.includes(part))) return
    const fault = this.#take(request.method)
    const answer = fault.applied === false ? json(200, {}) : this.buckets.answer(request, this.now())
    if (answer.status === 429) this.tooEarly++
    this.#arrived(request.method)
    if (fault.instead === "reset") return void incoming.socket.resetAndDestroy()
    if (fault.instead === "silence") return
    const headers = { ...answer.headers, ...fault.headers }
    const changed = fault.body === undefined ? answer.body : Buffer.from(fault.body)
    send(response, { status: fault.status ?? answer.status, headers, body: changed }, this.now(), fault)
  }

  /** What an external account (workload identity) asks: its own token, and Google's for it. */
  #exchange(url: URL, response: ServerResponse): void {
    const answer = (status: number, value: unknown): void => send(response, json(status, value), this.now())
    if (url.pathname === "/sts/subject") return answer(200, "subject")
    this.counts["token"] = (this.counts["token"] ?? 0) + 1
    this.#arrived("token")
    const { value, expiresIn, answers } = this.token
    if (answers === "refused") answer(400, { error: "invalid_grant", error_description: "no such account" })
    if (answers === "given") answer(200, { access_token: value, token_type: "Bearer", expires_in: expiresIn })
  }

  #note({ method, url, headers, body }: StrictRequest): void {
    this.counts[method] = (this.counts[method] ?? 0) + 1
    if (!this.#record) return
    const query = Object.fromEntries(url.searchParams)
    this.requests.push({ method, path: url.pathname, query, headers, body })
  }

  #take(method: string): Fault {
    const index = this.#faults.findIndex(({ on = method }) => on === method)
    return index < 0 ? {} : (this.#faults.splice(index, 1)[0] ?? {})
  }

  #arrived(method: string): void {
    const index = this.#waiting.findIndex((waiting) => waiting.method === method)
    if (index >= 0) this.#waiting.splice(index, 1)[0]?.arrived()
  }
}

function send(response: ServerResponse, answer: StrictAnswer, now: number, fault: Fault = {}): void {
  const { status, headers, body } = answer
  const told = status !== 204 && status !== 304 && fault.chunked === undefined
  response.sendDate = false
  const length = told ? { "content-length": String(body.length) } : {}
  response.writeHead(status, { date: new Date(now).toUTCString(), ...length, ...headers })
  if (fault.instead === "half") response.write(body.subarray(0, Math.floor(body.length / 2)))
  else response.end(body)
}

/** Undefined where the client went away before the end. */
async function bodyOf(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    return Buffer.concat(chunks)
  } catch {
    return undefined
  }
}
