/**
 * Sends calls to owners over HTTP. Their addresses come from records that others wrote: only those that are allowed are
 * ever contacted, no redirect is followed, and an answer counts only with the proof that its worker knows the secret.
 */
import { CallRouteError } from "../actors/api/call-errors.ts"
import type { CallRequest, CallResult, CallTransport } from "../actors/calls/transport.ts"
import { addressOf } from "../web/addresses.ts"
import { shortText } from "../web/body.ts"
import { CALL_PATH, requestBody, resultOf } from "./messages.ts"
import type { Signing } from "./signing.ts"

/** Of the answer. */
export const PROOF = "leasehold-proof"

/** What sends. */
export interface SenderParts {
  readonly signing: Signing
  readonly allow: (address: URL) => boolean
  /** The longest answer, in bytes. */
  readonly maxBody: number
}

/** Where a call goes, signed. */
export class Sender implements CallTransport {
  readonly #parts: SenderParts

  constructor(parts: SenderParts) {
    this.#parts = parts
  }

  async send(address: string, request: CallRequest, signal: AbortSignal): Promise<CallResult> {
    const url = addressOf(address)
    const refusal = url === undefined ? noAddress(address) : this.#refusal(url, request)
    if (refusal !== undefined) return { kind: "refused", error: refusal }
    try {
      return await this.#post(callUrl(url!), address, requestBody(request), signal)
    } catch (error) {
      return isUndelivered(error) ? { kind: "unreachable", error } : { kind: "unknown", error }
    }
  }

  async #post(url: URL, audience: string, body: string, signal: AbortSignal): Promise<CallResult> {
    const { signing, maxBody } = this.#parts
    const { token, id } = await signing.request({ audience, subject: `POST ${CALL_PATH}`, body })
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
    const answer = await fetch(url, { method: "POST", headers, body, signal, redirect: "manual" })
    const text = await shortText(answer.body, maxBody)
    if (text === undefined) return { kind: "unknown", error: new Error(`its answer has more than ${maxBody} bytes`) }
    if (!(await signing.isAnswer(answer.headers.get(PROOF) ?? "", id, text))) return unproven(answer.status, text)
    return resultOf(answer.status, text)
  }

  #refusal(url: URL, { definition, key }: CallRequest): CallRouteError | undefined {
    if (this.#parts.allow(url)) return undefined
    return new CallRouteError({
      message: `${definition}/${key} is owned at ${url.href}, which isn't allowed`,
      next: "Allow that address (allow) if it is one of your workers",
      key: `${definition}/${key}`,
    })
  }
}

/** An address may have a path of its own. */
const callUrl = (address: URL): URL => new URL(`${address.pathname.replace(/\/$/, "")}${CALL_PATH}`, address)

const noAddress = (address: string): CallRouteError =>
  new CallRouteError({
    message: `The owner's address is ${JSON.stringify(address.slice(0, 100))}`,
    next: "Give its manager an address as http://host:port",
  })

/** A worker that refuses a signature can't prove itself; of any other answer nobody knows what lies behind it. */
function unproven(status: number, text: string): CallResult {
  const error = new CallRouteError({
    message: `The owner's address answers with status ${status} and no proof that it is a worker of this fleet: ${text.slice(0, 200)}`,
    next: "Give all workers one secret (LEASEHOLD_SECRET) and clocks that are right",
  })
  return status === 401 ? { kind: "refused", error } : { kind: "unknown", error }
}

/** Nothing of the request was sent: nobody listens there, or there is no way there. */
export function isUndelivered(error: unknown): boolean {
  const { cause, message } = error instanceof Error ? error : new Error(String(error))
  const { code } = Object(cause) as { readonly code?: unknown }
  if (typeof code === "string") return UNDELIVERED.has(code)
  return /connection refused|dns error|no route to host|network unreachable/i.test(message)
}

const UNDELIVERED: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
])
