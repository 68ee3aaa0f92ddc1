/**
 * A worker's side of calls over HTTP: takes those that are signed, and tells of its health. It answers every request,
 * and never rejects.
 */
import type { ManagerInside } from "../actors/inside/inside.ts"
import { InvalidConfigError } from "../locks/api/errors.ts"
import { reporter } from "../runtime/report.ts"
import { shortText } from "../web/body.ts"
import { answerOf, CALL_PATH, parseRequest, type PlainAnswer, refused } from "./messages.ts"
import type { WorkerSettings } from "./options.ts"
import { PROOF } from "./send.ts"
import { BadToken, type Signing } from "./signing.ts"

/** Answers the requests of one manager's worker. */
export class WorkerHandler {
  readonly #inside: ManagerInside
  readonly #settings: WorkerSettings
  readonly #signing: Signing
  readonly #report: (error: unknown) => void

  constructor(inside: ManagerInside, settings: WorkerSettings, signing: Signing) {
    this.#inside = inside
    this.#settings = settings
    this.#signing = signing
    this.#report = reporter(settings.onError)
  }

  async fetch(request: Request): Promise<Response> {
    try {
      return await this.#route(request)
    } catch (error) {
      if (!request.signal.aborted) this.#report(error)
      return told(500, { error: "This worker failed; its log tells why." })
    }
  }

  #route(request: Request): Response | Promise<Response> {
    const { pathname } = new URL(request.url)
    if (pathname.endsWith(CALL_PATH))
      return request.method === "POST" ? this.#call(request) : told(405, { error: "Only POST is of use here." })
    if (pathname.endsWith("/healthz")) return told(200, { alive: true })
    if (pathname.endsWith("/readyz")) return this.#readiness()
    return told(404, { error: `There are ${CALL_PATH}, /healthz and /readyz.` })
  }

  #readiness(): Response {
    const ready = !this.#inside.closed
    return told(ready ? 200 : 503, { ready })
  }

  async #call(request: Request): Promise<Response> {
    const { maxBody } = this.#settings
    const body = await shortText(request.body, maxBody)
    if (body === undefined) return told(413, { error: `Its body has more than ${maxBody} bytes.` })
    const [, token = ""] = /^Bearer (.+)$/.exec(request.headers.get("authorization") ?? "") ?? []
    const audience = this.#inside.address ?? new URL(request.url).origin
    try {
      const id = await this.#signing.accept(token, { audience, subject: `POST ${CALL_PATH}`, body })
      return await this.#proven(id, await this.#answer(body, request.signal))
    } catch (error) {
      if (error instanceof BadToken) return told(401, { error: `${error.message}.` })
      throw error
    }
  }

  async #answer(body: string, signal: AbortSignal): Promise<PlainAnswer> {
    const asked = parseRequest(body)
    if (typeof asked !== "string") return answerOf(await this.#inside.calls.receive(asked, signal))
    const next = "Send it as a worker of this release does"
    return refused(new InvalidConfigError({ message: `The request can't be taken: ${asked}`, next }))
  }

  async #proven(id: string, { status, body, headers }: PlainAnswer): Promise<Response> {
    const proof = await this.#signing.answer(id, body)
    const own = { ...HEADERS, ...headers, [PROOF]: proof }
    return new Response(body, { status, headers: own })
  }
}

const HEADERS = { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" }

const told = (status: number, value: object): Response =>
  new Response(`${JSON.stringify(value)}\n`, { status, headers: HEADERS })
