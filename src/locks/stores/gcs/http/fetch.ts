/**
 * HTTP on Deno: its own fetch. A body goes out as a stream, always: fetch silently sends a body that it holds whole
 * once more when a kept connection turns out to be reset, and then a write could be applied after its sender was told
 * "lost".
 *
 * Not promised: requests without a body (reads, deletes) may still be sent twice. A read may; of a delete the second
 * copy finds nothing and is refused, which says nothing about the first. Nor that ALL_PROXY is left aside for https, as
 * fetch reads it.
 */
import type { Clock } from "../../../../runtime/time/clock.ts"
import { firstVariable } from "./environment.ts"
import { watch } from "./limits.ts"
import { BodyParts, type Http, type HttpAnswer, type HttpLost, type HttpRequest } from "./port.ts"

/** What Deno gives for connections that go another way than its own `fetch` would. */
interface DenoClient {
  close(): void
}

/** What is used of Deno. */
interface DenoRuntime {
  readonly createHttpClient: (options: { readonly proxy: object }) => DenoClient
}

/** Closing aborts what is in flight. */
export function fetchHttp(endpoint: URL, clock: Clock, proxy?: URL): Http {
  const closing = new AbortController()
  const client = clientFor(endpoint, proxy)
  return {
    exchange: (request) => exchange(endpoint.origin, clock, request, closing.signal, client),
    close: async () => {
      closing.abort(new Error("the store was closed"))
      client?.close()
    },
  }
}

/** Undefined where `fetch` by itself goes the right way: it reads HTTP_PROXY too, which is not for this (proxy.ts). */
function clientFor(endpoint: URL, proxy: URL | undefined): DenoClient | undefined {
  const { createHttpClient } = (globalThis as unknown as { readonly Deno: DenoRuntime }).Deno
  if (proxy !== undefined) return createHttpClient({ proxy: proxyOptions(proxy) })
  const misled = endpoint.protocol === "http:" && firstVariable("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")
  if (!misled) return undefined
  const hostname = endpoint.hostname.replace(/^\[(.*)\]$/, "$1")
  return createHttpClient({ proxy: { transport: "tcp", hostname, port: Number(endpoint.port || 80) } })
}

function proxyOptions({ origin, username, password }: URL): object {
  const named = { username: decodeURIComponent(username), password: decodeURIComponent(password) }
  return username === "" ? { url: origin } : { url: origin, basicAuth: named }
}

async function exchange(
  origin: string,
  clock: Clock,
  request: HttpRequest,
  closing: AbortSignal,
  client: DenoClient | undefined,
): Promise<HttpAnswer | HttpLost> {
  const abort = new AbortController()
  const stop = watch(clock, request, (reason) => abort.abort(reason))
  const onClosing = (): void => abort.abort(closing.reason)
  closing.addEventListener("abort", onClosing)
  try {
    if (closing.aborted) onClosing()
    return await answer(
      await fetch(origin + request.path, fetchOptions(request, abort.signal, client)),
      request.limit,
      abort,
    )
  } catch (error) {
    return { kind: "lost", error: error instanceof Error ? error : new Error(String(error)) }
  } finally {
    stop()
    closing.removeEventListener("abort", onClosing)
  }
}

function fetchOptions(
  request: HttpRequest,
  signal: AbortSignal,
  client: DenoClient | undefined,
): RequestInit & { duplex?: "half" } {
  const { method, headers, body } = request
  const options = { method, headers, signal, redirect: "manual" as const, ...(client && { client }) }
  return body === undefined ? options : { ...options, body: ReadableStream.from([body]), duplex: "half" }
}

async function answer(response: Response, limit: number, abort: AbortController): Promise<HttpAnswer> {
  const head = {
    kind: "answer" as const,
    status: response.status,
    header: (name: string) => response.headers.get(name) ?? undefined,
  }
  const body = new BodyParts(limit)
  const tooLong = Number(response.headers.get("content-length")) > limit || !(await take(response, body))
  if (!tooLong) return { ...head, body: body.join(), cut: false }
  abort.abort(new Error("the body is longer than its limit"))
  return { ...head, body: new Uint8Array(0), cut: true }
}

async function take(response: Response, body: BodyParts): Promise<boolean> {
  if (response.body === null) return true
  for await (const chunk of response.body) {
    if (!body.add(chunk)) return false
  }
  return true
}
