/**
 * A proxy that fails on purpose, between real clients and a real server (fake-gcs-server): real HTTP, by script or by
 * chance.
 *
 *     await using proxy = await startFaultProxy({ target: server.endpoint })
 *     proxy.next({ on: "POST", of: /leases/, fault: { kind: "reset", when: "after" } })
 *     const lock = new GcsLock("key", { bucket, endpoint: proxy.url })
 *     const arrived = proxy.arrival({ on: "POST" })
 *     proxy.partition()
 *
 * A rule of the script goes before chance. The proxy stands at the server: what it holds back when a partition begins
 * (`delay`, `duplicate`) still reaches the server.
 *
 * Not promised: TLS, HTTP/2, bodies that don't fit into memory.
 */
import { Buffer } from "node:buffer"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { type Clock, liveClock, type Timer } from "../../../src/runtime/time/clock.ts"
import { Chaos, type ChaosOptions } from "./chaos.ts"
import { type Answer, type Fault, type Plan, planOf, refusal } from "./fault.ts"
import { WriteLimiter } from "./limiter.ts"
import { type Match, matches, type Rule, Script, type Seen, Waits } from "./script.ts"
import { bodyOf, type Outgoing, Upstream } from "./upstream.ts"
import { Wire } from "./wire.ts"

/** One line of the log: a request that something happened to. */
export interface LogLine {
  /** Unix milliseconds. */
  readonly at: number
  /** Which request, counted from 1. */
  readonly n: number
  readonly method: string
  readonly object: string
  /** `limited`: refused by the limit of writes. `unreachable`: the server itself failed. */
  readonly fault: Fault | { readonly kind: "limited" } | { readonly kind: "unreachable"; readonly error: string }
}

/** A request that the server has answered, whatever the client hears of it. */
export interface Delivered {
  /** Unix milliseconds: when it was sent to the server, so before it took effect. */
  readonly at: number
  readonly object: string
  readonly request: Outgoing
  /** The server's own. */
  readonly answer: Answer
}

/** How a proxy is made. */
export interface FaultProxyOptions {
  /** The server's address, http only. */
  readonly target: string
  /** Where it listens, on the loopback interface. Without one: a free port. */
  readonly port?: number
  /**
   * One write a second for each object; more are answered with 429. True, or one that several proxies share. Default:
   * none.
   */
  readonly limit?: boolean | WriteLimiter
  /** For its delays and the limit. Without one: this process's. */
  readonly clock?: Clock
  /** Told of each fault, when it begins. */
  readonly log?: (line: LogLine) => void
  /** Told of each request that reached the server, once that has answered. */
  readonly delivered?: (delivered: Delivered) => void
  /** False: requests aren't kept in `seen`. Default true. */
  readonly record?: boolean
}

/** Starts one. Rejects where the port is taken; throws where an option can't work. */
export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const upstream = new Upstream(options.target)
  const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 })
  await new Promise<void>((settle) => void server.listen(0, "127.0.0.1", settle))
  const wire = new Wire((server.address() as AddressInfo).port)
  const proxy = new FaultProxy(options, upstream, server, wire)
  try {
    await wire.listen(options.port ?? 0)
    return proxy
  } catch (error) {
    await proxy[Symbol.asyncDispose]()
    throw error
  }
}

export class FaultProxy implements AsyncDisposable {
  /** Every request that arrived whole, since the start or since `forget`. */
  seen: Seen[] = []
  readonly #options: FaultProxyOptions
  readonly #clock: Clock
  readonly #upstream: Upstream
  readonly #server: Server
  readonly #wire: Wire
  readonly #limiter: WriteLimiter | undefined
  readonly #script = new Script()
  readonly #arrivals = new Waits()
  readonly #deliveries = new Waits()
  readonly #timers = new Set<Timer>()
  #chaos: Chaos | undefined
  #count = 0

  /** By `startFaultProxy`. */
  constructor(options: FaultProxyOptions, upstream: Upstream, server: Server, wire: Wire) {
    this.#options = options
    this.#clock = options.clock ?? liveClock
    this.#upstream = upstream
    this.#server = server
    this.#wire = wire
    const { limit = false } = options
    this.#limiter = limit === true ? new WriteLimiter(this.#clock) : limit || undefined
    server.on("request", (incoming, response) => void this.#serve(incoming, response))
  }

  /** Where clients send their requests. */
  get url(): string {
    return `http://127.0.0.1:${this.#wire.port}`
  }

  /** Each rule is used up by the first request that fits, in the order of calls. */
  next(...rules: readonly Rule[]): void {
    this.#script.next(...rules)
  }

  /** The rule holds until it is disposed of. */
  always(rule: Rule): Disposable {
    return this.#script.always(rule)
  }

  /**
   * Faults by chance from the next request on, instead of those of an earlier call. Throws where the rates are none.
   */
  chaos(options: ChaosOptions): void {
    this.#chaos = new Chaos(options)
  }

  /** No more faults by chance. */
  calm(): void {
    this.#chaos = undefined
  }

  /** From now on not a byte goes to or from a client; connections stay open. */
  partition(): void {
    this.#wire.cut()
  }

  /** Ends a partition. What was sent meanwhile arrives. */
  heal(): void {
    this.#wire.mend()
  }

  /** Settles when the next such request has arrived whole at the proxy. */
  arrival(match: Match = {}): Promise<Seen> {
    return this.#arrivals.next(match)
  }

  /** Settles when the server has next answered such a request, so that it took effect if it does. */
  delivery(match: Match = {}): Promise<Seen> {
    return this.#deliveries.next(match)
  }

  /** How many such requests arrived, since the start or since `forget`. */
  count(match: Match = {}): number {
    return this.seen.filter((seen) => matches(match, seen)).length
  }

  /** `seen` and `count` begin anew; the numbers of requests go on. */
  forget(): void {
    this.seen = []
  }

  /** Ends all connections, and drops what is held back. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const timer of this.#timers) timer.cancel()
    this.#upstream.close()
    await this.#wire.close()
    this.#server.closeAllConnections()
    await new Promise((settle) => void this.#server.close(settle))
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url = "/", headers } = incoming
    response.on("error", () => {}) // of a client that has gone
    const body = await bodyOf(incoming).catch(() => undefined)
    if (body === undefined) return
    const seen = this.#note(method, url)
    const chance = this.#chaos?.draw()
    const fault = this.#script.take(seen) ?? chance
    if (fault !== undefined) this.#log(seen, fault)
    const plan = planOf(fault)
    try {
      const answer = await this.#exchange(seen, { method, url, headers, body }, plan)
      if (plan.ending === "reset") this.#wire.reset(incoming.socket)
      else reply(response, answer, plan.ending)
    } catch (error) {
      this.#log(seen, { kind: "unreachable", error: String(error) })
      this.#wire.reset(incoming.socket)
    }
    this.#wire.served(incoming.socket)
  }

  /** The answer that is to be given. Rejects where the server gave none. */
  async #exchange(seen: Seen, request: Outgoing, plan: Plan): Promise<Answer> {
    await this.#pause(plan.deliverAfterMs)
    if (!plan.delivered) return plan.answer(this.#nothing())
    const given = await this.#deliver(seen, request)
    if (plan.againAfterMs !== undefined) this.#again(seen, request, plan.againAfterMs)
    await this.#pause(plan.answerAfterMs)
    return plan.answer(given)
  }

  async #deliver(seen: Seen, request: Outgoing): Promise<Answer> {
    const write = seen.method !== "GET" && this.#limiter !== undefined
    const admitted = write ? this.#limiter.admit(seen.object) : undefined
    if (write && admitted === undefined) {
      this.#log(seen, { kind: "limited" })
      return refusal(429, this.#nothing())
    }
    const at = this.#clock.read().wall
    const answer = await this.#upstream.deliver(request)
    this.#options.delivered?.({ at, object: seen.object, request, answer })
    admitted?.(answer.status)
    this.#deliveries.tell(seen)
    return answer
  }

  #again(seen: Seen, request: Outgoing, ms: number): void {
    const deliver = (): Promise<Answer> => this.#deliver(seen, request)
    void this.#pause(ms)
      .then(deliver)
      .catch((error: unknown) => this.#log(seen, { kind: "unreachable", error: String(error) }))
  }

  /** Of a proxy that is closed meanwhile it never settles. */
  #pause(ms: number): Promise<void> {
    if (ms === 0) return Promise.resolve()
    return new Promise((settle) => {
      const timer = this.#clock.after(ms, () => {
        this.#timers.delete(timer)
        settle()
      })
      this.#timers.add(timer)
    })
  }

  #nothing(): Answer {
    const date = new Date(this.#clock.read().wall).toUTCString()
    return { status: 200, headers: { date }, body: Buffer.alloc(0) }
  }

  #note(method: string, url: string): Seen {
    const seen = { n: ++this.#count, method, path: decoded(url), object: objectOf(url) }
    if (this.#options.record !== false) this.seen.push(seen)
    this.#arrivals.tell(seen)
    return seen
  }

  #log({ n, method, object }: Seen, fault: LogLine["fault"]): void {
    this.#options.log?.({ at: this.#clock.read().wall, n, method, object, fault })
  }
}

function reply(response: ServerResponse, answer: Answer, ending: "answer" | "half" | "silence"): void {
  const { status, headers, body } = answer
  if (ending === "silence" || (ending === "half" && body.length === 0)) return
  response.sendDate = false
  const length = status === 204 || status === 304 ? {} : { "content-length": String(body.length) }
  response.writeHead(status, { ...headers, ...length })
  if (ending === "half") response.write(body.subarray(0, Math.floor(body.length / 2)))
  else response.end(body)
}

/** The JSON API names an object in the query (upload) or after `/o/`. */
function objectOf(url: string): string {
  if (!URL.canParse(url, "http://proxy")) return url
  const { pathname, searchParams } = new URL(url, "http://proxy")
  const [, inPath] = /\/o\/([^/]+)$/.exec(pathname) ?? []
  return searchParams.get("name") ?? decoded(inPath ?? pathname)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
