/**
 * HTTP on Node: a pool of undici's, spoken to by `dispatch`, the call beneath its `request`: no stream, no
 * AbortController and no AsyncResource is made for a request, which is most of what `request` itself costs.
 *
 * undici sends a request once and never again by itself: a reset is an error of that one request. HTTP/2 is off, since
 * there one lost connection takes all requests in flight with it. Idle sockets don't keep the process alive.
 */
import type { Dispatcher } from "undici"
import type { Clock } from "../../../../runtime/time/clock.ts"
import { watch } from "./limits.ts"
import { BodyParts, type Http, type HttpAnswer, type HttpLost, type HttpRequest } from "./port.ts"

/** What waits for a free connection waits within its own deadline. */
const CONNECTIONS = 256
/** Between the renewals of a lease (10 s by default) the connection should stay; GCS drops idle ones after minutes. */
const KEEP_ALIVE_MS = 60_000

const poolOptions = {
  connections: CONNECTIONS,
  keepAliveTimeout: KEEP_ALIVE_MS,
  allowH2: false,
  headersTimeout: 0,
  bodyTimeout: 0,
}

/** Loads undici and makes a pool, of connections to the proxy where there is one. */
export async function undiciHttp(endpoint: URL, clock: Clock, proxy?: URL): Promise<Http> {
  const { Pool, ProxyAgent } = await import("undici")
  const { origin } = endpoint
  const pool = proxy === undefined ? new Pool(origin, poolOptions) : new ProxyAgent({ ...poolOptions, uri: proxy.href })
  return {
    exchange: (request) =>
      new Promise((settle) => {
        const { path, method, headers, body = null } = request
        pool.dispatch({ origin, path, method, headers, body }, new Exchange(clock, request, settle))
      }),
    close: () => pool.destroy(),
  }
}

/** One request and its answer, as undici tells of it. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #settle: (result: HttpAnswer | HttpLost) => void
  readonly #limit: number
  readonly #body: BodyParts
  #controller: Dispatcher.DispatchController | undefined
  #status = 0
  #headers: Readonly<Record<string, string | string[] | undefined>> = {}
  #over: Error | undefined
  #stop: () => void = () => {}

  constructor(clock: Clock, request: HttpRequest, settle: (result: HttpAnswer | HttpLost) => void) {
    this.#settle = settle
    this.#limit = request.limit
    this.#body = new BodyParts(request.limit)
    this.#stop = watch(clock, request, (error) => this.#end({ kind: "lost", error }, error))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#over === undefined) this.#controller = controller
    else controller.abort(this.#over)
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    if (status < 200) return
    this.#status = status
    this.#headers = headers
    if (status !== 304 && Number(headers["content-length"]) > this.#limit) this.#cut()
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#over === undefined && !this.#body.add(chunk)) this.#cut()
  }

  onResponseEnd(): void {
    this.#end(this.#answer(this.#body.join(), false), ended)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end({ kind: "lost", error }, error)
  }

  #cut(): void {
    this.#end(this.#answer(new Uint8Array(0), true), tooLong)
  }

  #answer(body: Uint8Array, cut: boolean): HttpAnswer {
    const headers = this.#headers
    const header = (name: string): string | undefined => {
      const value = headers[name]
      return typeof value === "object" ? value[0] : value
    }
    return { kind: "answer", status: this.#status, header, body, cut }
  }

  #end(result: HttpAnswer | HttpLost, reason: Error): void {
    if (this.#over !== undefined) return
    this.#over = reason
    this.#stop()
    if (reason !== ended) this.#controller?.abort(reason)
    this.#settle(result)
  }
}

const ended = new Error("the answer is whole")
const tooLong = new Error("the body is longer than its limit")
