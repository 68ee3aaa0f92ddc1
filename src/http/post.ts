/**
 * One call sent to one address: the request, its credentials, and what its answer says. Owns what a failure means for
 * the call. Which addresses may be asked is the sender's business.
 *
 * An answer without proof says nothing of the call: whoever gave it may stand between here and a worker that ran it.
 */
import { CallInputError, CallRouteError } from "../actors/api/call-errors.ts"
import type { CallRequest, CallResult } from "../actors/calls/transport.ts"
import { shortText } from "../web/body.ts"
import type { CallAuth } from "./auth.ts"
import { CALL_PATH, requestBody, resultOf } from "./messages.ts"

/** Where, and how. */
export interface Post {
  readonly address: string
  /** The incarnation that is asked, where that is known. */
  readonly to?: string | undefined
  readonly auth: CallAuth
  /** The longest request or answer, in bytes. */
  readonly maxBody: number
  readonly signal: AbortSignal
  /** Gets the headers of an answer that is a worker's. */
  readonly onAnswer?: (headers: Headers) => void
}

/** Settles with what came of it. Never rejects. */
export async function post(request: CallRequest, how: Post): Promise<CallResult> {
  const body = requestBody(request)
  const bytes = new TextEncoder().encode(body)
  if (bytes.byteLength > how.maxBody)
    return { kind: "refused", error: tooLarge(request, bytes.byteLength, how.maxBody) }
  try {
    return await posted(body, bytes, how)
  } catch (error) {
    return isUndelivered(error) ? { kind: "unreachable", error } : { kind: "unknown", error }
  }
}

async function posted(body: string, bytes: Uint8Array<ArrayBuffer>, how: Post): Promise<CallResult> {
  const { address, to, auth, maxBody, signal, onAnswer } = how
  const { headers: own, isAnswer } = await auth({ address, to, subject: `POST ${CALL_PATH}`, body })
  const headers = { ...own, "content-type": "application/json" }
  const init = { method: "POST", headers, signal, redirect: "manual", ...once(bytes) } as const
  const answer = await fetch(callUrl(address), init)
  const text = await shortText(answer.body, maxBody)
  if (text === undefined) return { kind: "unknown", error: new Error(`its answer has more than ${maxBody} bytes`) }
  if (isAnswer !== undefined && !(await isAnswer(answer.status, answer.headers, text)))
    return { kind: "unknown", error: unproven(answer.status, text) }
  onAnswer?.(answer.headers)
  return resultOf(answer.status, text)
}

/**
 * A body that can be read once. Deno sends a whole body again where its connection ends without an answer, and so does
 * Node for some statuses. A browser has no streams over HTTP/1.1, and doesn't repeat a POST.
 */
function once(bytes: Uint8Array<ArrayBuffer>): Pick<RequestInit, "body"> & { readonly duplex?: "half" } {
  return "document" in globalThis ? { body: bytes } : { body: new Blob([bytes]).stream(), duplex: "half" }
}

/** An address may have a path of its own. The path is set apart: joined as a text it could name another host. */
function callUrl(address: string): URL {
  const url = new URL(address)
  url.pathname = `${url.pathname.replace(/\/+$/, "")}${CALL_PATH}`
  return url
}

const tooLarge = ({ definition, key, call }: CallRequest, bytes: number, most: number): CallInputError =>
  new CallInputError({
    message: `The call ${call} of ${definition}/${key} has ${bytes} bytes, and may have ${most} (maxBody)`,
    next: "Send less at once, or raise maxBody here and at the workers",
    key: `${definition}/${key}`,
  })

/** What it says may be anybody's words. */
const unproven = (status: number, text: string): CallRouteError =>
  new CallRouteError({
    message: `The address answers with status ${status} and no proof that it is a worker of this fleet: ${JSON.stringify(text.slice(0, 200))}`,
    next: "Give all workers one secret (LEASEHOLD_SECRET), and see what listens there",
  })

/** Nothing of the request was sent: nobody listens there, or there is no way there. */
function isUndelivered(error: unknown): boolean {
  const { code, syscall, message = "" } = Object((error as Error).cause) as Partial<Record<string, unknown>>
  if (code === "UND_ERR_CONNECT_TIMEOUT") return true
  // The same codes come of reads, when much was sent.
  if (typeof code === "string") return syscall === "connect" || syscall === "getaddrinfo"
  return /client error \(Connect\)/.test(String(message)) // of Deno
}
