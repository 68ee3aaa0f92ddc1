/**
 * An HTTP server for one handler, on `node:http`, which Deno has too. It passes requests and answers on, no faster than
 * they are taken, and bounds what a connection may cost.
 */
import { once } from "node:events"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Readable } from "node:stream"
import { liveClock } from "../runtime/time/clock.ts"

/** Answers a request. Never rejects. */
export type RequestHandler = (request: Request) => Promise<Response>

/** A server that listens. */
export interface Listening extends AsyncDisposable {
  readonly port: number
  /** Takes no connection any more. Settles once all answers in flight have ended. */
  shutdown(): Promise<void>
}

/** A request's head is there within this, and all of it within that. In milliseconds. */
const HEAD_WITHIN = 5000
const REQUEST_WITHIN = 10_000

/** Node looks for late requests only so often: every 30 s without this. In milliseconds. */
const CHECK_EVERY = 1000

/** In bytes: browsers send one or two thousand. */
const LONGEST_HEAD = 16_384

/** A page has six connections, a worker that looks on two. */
const MOST_CONNECTIONS = 256

/** How long answers that are on their way may take when the server is closed. In milliseconds. */
const LAST_WORDS = 500

/** Where a server listens, and how many may be connected. */
export interface ListenAt {
  readonly host: string
  readonly port: number
  readonly connections?: number
}

/** Listens. Rejects where that can't be done. */
export async function listen(
  handle: RequestHandler,
  { host, port, connections = MOST_CONNECTIONS }: ListenAt,
): Promise<Listening> {
  const server = createServer({
    headersTimeout: HEAD_WITHIN,
    requestTimeout: REQUEST_WITHIN,
    maxHeaderSize: LONGEST_HEAD,
    connectionsCheckingInterval: CHECK_EVERY,
    keepAliveTimeout: HEAD_WITHIN,
  })
  server.maxConnections = connections
  server.on("request", (request, response) => void serve(handle, request, response))
  server.listen(port, host)
  await once(server, "listening") // rejects with an error that comes before
  return {
    port: (server.address() as AddressInfo).port,
    shutdown: () => ended(server),
    [Symbol.asyncDispose]: () => closed(server),
  }
}

/** Each answer closes its connection from now on. */
async function ended(server: Server): Promise<void> {
  if (!server.listening) return
  const { promise, resolve } = Promise.withResolvers<void>()
  server.prependListener("request", (_request, response) => {
    response.shouldKeepAlive = false
  })
  server.close(() => resolve())
  server.closeIdleConnections()
  await promise
}

async function closed(server: Server): Promise<void> {
  const late = liveClock.after(LAST_WORDS, () => server.closeAllConnections())
  await ended(server)
  late.cancel()
}

/** Answers one request. Never rejects: a connection that breaks is nobody's fault. */
export async function serve(
  handle: RequestHandler,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  response.on("error", () => {}) // who asked has gone
  try {
    const gone = new AbortController()
    response.once("close", () => gone.abort())
    const request = requestOf(incoming, gone.signal)
    if (request === undefined) return void response.writeHead(400).end()
    await give(await handle(request), response)
  } catch {
    response.destroy()
  }
}

function requestOf(incoming: IncomingMessage, signal: AbortSignal): Request | undefined {
  const { method = "GET", url = "/", headers } = incoming
  const address = `http://${headers.host ?? "localhost"}${url}`
  if (!url.startsWith("/") || !URL.canParse(address)) return undefined
  const list = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((each): [string, string] => [name, each]),
  )
  if (method !== "POST")
    return new Request(address, { method: method === "GET" ? "GET" : "OPTIONS", headers: list, signal })
  const body = Readable.toWeb(incoming) as ReadableStream<Uint8Array>
  const init: RequestInit & { readonly duplex: "half" } = { method, headers: list, body, signal, duplex: "half" }
  return new Request(address, init)
}

async function give(answer: Response, response: ServerResponse): Promise<void> {
  // Who follows a stream needs its connection for nothing else, and a server that closes waits for none that is idle.
  if (answer.headers.get("content-type")?.startsWith("text/event-stream")) response.shouldKeepAlive = false
  // Of one who left before, as while a server of the user's looked at the request, nothing is heard any more.
  if (response.destroyed) return answer.body?.cancel()
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  if (answer.body === null) return void response.end()
  response.flushHeaders()
  const reader = answer.body.getReader()
  // A body that is given up, for a client that takes nothing, breaks the connection: nothing else ends that wait.
  reader.closed.catch(() => response.destroy())
  response.once("close", () => void reader.cancel().catch(() => {}))
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return void response.end()
    if (!response.write(value)) await drained(response)
  }
}

/** Settles when more can be written, or never will be. */
async function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed || response.closed) return
  const { promise, resolve } = Promise.withResolvers<void>()
  response.once("drain", resolve).once("close", resolve)
  await promise
  response.off("drain", resolve).off("close", resolve)
}
