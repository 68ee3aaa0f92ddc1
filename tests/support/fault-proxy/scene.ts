/**
 * What the tests of the fault proxy share: a tiny server that counts, a proxy before it on virtual time, and
 * leasehold's own HTTP client of this runtime as the client.
 */
import { Buffer } from "node:buffer"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { fetchHttp } from "../../../src/locks/stores/gcs/http/fetch.ts"
import type { Http, HttpAnswer, HttpLost } from "../../../src/locks/stores/gcs/http/port.ts"
import { undiciHttp } from "../../../src/locks/stores/gcs/http/undici.ts"
import { liveClock } from "../../../src/runtime/time/clock.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"
import { type FaultProxy, type FaultProxyOptions, type LogLine, startFaultProxy } from "./proxy.ts"
import { bodyOf } from "./upstream.ts"

/** The server's clock stands still. */
export const serverTime = "Fri, 27 Nov 2026 12:00:00 GMT"

/** Answers each request with what it was, and remembers it: `POST /path body`. */
export class TinyServer implements AsyncDisposable {
  readonly got: string[] = []
  /** Of every answer. */
  status = 200
  readonly #waiting: { readonly nth: number; readonly settle: () => void }[] = []
  readonly #server: Server = createServer((incoming, response) => {
    void bodyOf(incoming).then((body) => {
      const text = `${incoming.method} ${incoming.url} ${body.toString()}`
      response.writeHead(this.status, { date: serverTime, "x-goog-generation": "7" }).end(text)
      this.got.push(text)
      for (const wait of this.#waiting) if (wait.nth === this.got.length) wait.settle()
    })
  })

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  listen(): Promise<void> {
    return new Promise((settle) => void this.#server.listen(0, "127.0.0.1", settle))
  }

  /** Settles when the n-th request is there. */
  nth(nth: number): Promise<void> {
    if (this.got.length >= nth) return Promise.resolve()
    return new Promise((settle) => void this.#waiting.push({ nth, settle }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((settle) => void this.#server.close(settle))
  }
}

/** An answer as a test compares it. */
export interface Told {
  readonly status?: number
  readonly type?: string | undefined
  readonly date?: string | undefined
  readonly body?: string
  /** No answer: the errno name, or the message. */
  readonly lost?: string
}

/** One test's server, proxy, clock of the proxy, and client. */
export class ProxyScene implements AsyncDisposable {
  readonly server: TinyServer = new TinyServer()
  readonly clock: VirtualTime = new VirtualTime()
  readonly log: LogLine[] = []
  proxy!: FaultProxy
  #http!: Http

  async start(options: Partial<FaultProxyOptions> = {}): Promise<this> {
    await this.server.listen()
    const log = (line: LogLine): void => void this.log.push(line)
    this.proxy = await startFaultProxy({ target: this.server.url, clock: this.clock, log, ...options })
    const url = new URL(this.proxy.url)
    this.#http = "Deno" in globalThis ? fetchHttp(url, liveClock) : await undiciHttp(url, liveClock)
    return this
  }

  get(path = "/a", signal?: AbortSignal): Promise<Told> {
    return this.#send({ method: "GET", path }, signal)
  }

  post(path = "/a", signal?: AbortSignal): Promise<Told> {
    return this.#send({ method: "POST", path, body: Buffer.from("body") }, signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#http.close()
    await this.proxy[Symbol.asyncDispose]()
    await this.server[Symbol.asyncDispose]()
  }

  async #send(request: { method: "GET" | "POST"; path: string; body?: Buffer }, signal?: AbortSignal): Promise<Told> {
    const within = { deadline: 30_000, limit: 65_536, ...(signal && { signal }) }
    return told(await this.#http.exchange({ headers: {}, ...request, ...within }))
  }
}

function told(result: HttpAnswer | HttpLost): Told {
  if (result.kind === "lost") {
    const { code = result.error.message } = result.error as Error & { code?: string }
    return { lost: code }
  }
  const body = Buffer.from(result.body).toString()
  return { status: result.status, type: result.header("content-type"), date: result.header("date"), body }
}
