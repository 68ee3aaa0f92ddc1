/**
 * HTTP on Deno: its own fetch. A body goes out as a stream, always: fetch silently sends a body that it holds whole once
 * more when a kept connection turns out to be reset, and then a write could be applied after its sender was told "lost".
 *
 * Not promised: requests without a body (reads, deletes) may still be sent twice. A read may; of a delete the second copy
 * finds nothing and is refused, which says nothing about the first.
 */
import type { Clock } from "../../../runtime/clock.ts"
import { BodyParts, type Http, type HttpAnswer, type HttpLost, type HttpRequest } from "./http.ts"
import { watch } from "./limits.ts"

/** The runtime keeps its connections itself; closing aborts what is in flight. */
export function fetchHttp(endpoint: URL, clock: Clock): Http {
  const closing = new AbortController()
  return {
    exchange: (request) => exchange(endpoint.origin, clock, request, closing.signal),
    close: () => Promise.resolve(closing.abort(new Error("the store was closed"))),
  }
}

async function exchange(
  origin: string,
  clock: Clock,
  request: HttpRequest,
  closing: AbortSignal,
): Promise<HttpAnswer | HttpLost> {
  const abort = new AbortController()
  const stop = watch(clock, request, (reason) => abort.abort(reason))
  const onClosing = (): void => abort.abort(closing.reason)
  closing.addEventListener("abort", onClosing)
  try {
    if (closing.aborted) onClosing()
    return await answer(await fetch(origin + request.path, fetchOptions(request, abort.signal)), request.limit, abort)
  } catch (error) {
    return { kind: "lost", error: error instanceof Error ? error : new Error(String(error)) }
  } finally {
    stop()
    closing.removeEventListener("abort", onClosing)
  }
}

function fetchOptions(request: HttpRequest, signal: AbortSignal): RequestInit & { duplex?: "half" } {
  const { method, headers, body } = request
  const options = { method, headers, signal, redirect: "manual" as const }
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
