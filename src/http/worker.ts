/**
 * A worker's side of calls over HTTP: takes those that are signed, and tells of its health. It answers every request,
 * and never rejects. Nothing of a body is read before its sender is known.
 */
import { CallInputError, CallRouteError } from "../actors/api/call-errors.ts"
import type { ManagerInside } from "../actors/inside/inside.ts"
import { InvalidConfigError } from "../locks/api/errors.ts"
import { orAbort } from "../runtime/races.ts"
import { reporter } from "../runtime/report.ts"
import { sha256 } from "../runtime/time/hash.ts"
import { shortText } from "../web/body.ts"
import { answerOf, CALL_PATH, OWNER, parseRequest, type PlainAnswer, refused, TIME } from "./messages.ts"
import type { WorkerSettings } from "./options.ts"
import { BadToken, PROOF, type Signing } from "./signing.ts"

/** The body of a call is there with its head, or soon after. In milliseconds. */
const BODY_WITHIN = 10_000

/** Who asks. `id`: of a signed request, whose answer is signed too. */
interface Asker {
  readonly id: string | undefined
  /** The hash of the body that was signed. */
  readonly digest?: string
}

/** Answers the requests of one manager's worker. */
export class WorkerHandler {
  readonly #inside: ManagerInside
  readonly #settings: WorkerSettings
  readonly #signing: Signing
  readonly #report: (error: unknown) => void
  readonly #address: string
  /** Of the paths here: the address may have one of its own. */
  readonly #base: string

  constructor(inside: ManagerInside, settings: WorkerSettings, signing: Signing) {
    this.#inside = inside
    this.#settings = settings
    this.#signing = signing
    this.#report = reporter(settings.onError)
    this.#address = settings.address
    this.#base = new URL(settings.address).pathname.replace(/\/+$/, "")
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
    const isCall = pathname === `${this.#base}${CALL_PATH}`
    const method = isCall ? "POST" : "GET"
    if (!isCall && pathname !== `${this.#base}/healthz` && pathname !== `${this.#base}/readyz`)
      return told(404, { error: `There are ${this.#base}${CALL_PATH}, /healthz and /readyz.` })
    if (request.method !== method) return told(405, { error: `Only ${method} is of use here.` })
    if (isCall) return this.#call(request)
    return pathname.endsWith("/healthz") ? told(200, { alive: true }) : this.#readiness()
  }

  #readiness(): Response {
    const ready = !this.#inside.closed
    return told(ready ? 200 : 503, { ready })
  }

  async #call(request: Request): Promise<Response> {
    try {
      const asker = await this.#askerOf(request)
      return await this.#signed(asker.id, await this.#answer(request, asker))
    } catch (error) {
      if (!(error instanceof BadToken)) throw error
      const { id, message, fault } = error
      if (id === undefined) return told(401, { error: `${message}.` })
      if (fault === "used") return this.#signed(id, answerOf({ kind: "unknown", error }))
      return this.#signed(id, fault === "elsewhere" ? answerOf({ kind: "notHere" }) : refused(notTaken(message)))
    }
  }

  /** One that signs, or one that the user's own `auth` knows. Rejects with BadToken. */
  async #askerOf({ method, url, headers }: Request): Promise<Asker> {
    const { auth } = this.#settings
    if (auth !== undefined && (await auth(new Request(url, { method, headers }))) === true) return { id: undefined }
    const [, token = ""] = /^Bearer (.+)$/.exec(headers.get("authorization") ?? "") ?? []
    const of = { address: this.#address, subject: `POST ${CALL_PATH}`, to: this.#inside.ownerId }
    const { id, body: digest } = await this.#signing.accept(token, of)
    return { id, digest }
  }

  async #answer(request: Request, { id, digest }: Asker): Promise<PlainAnswer> {
    const { maxBody } = this.#settings
    const body = await this.#bodyOf(request)
    if (body === undefined) return refused(tooLarge(maxBody))
    if (digest !== undefined && digest !== sha256(body))
      return refused(notTaken("its body is not the one that was signed"))
    const asked = parseRequest(body)
    if (typeof asked === "string") return refused(notARequest(asked))
    const { calls } = this.#inside
    // Who has no secret is no worker, whatever it says.
    const forwarded = asked.forwarded && id !== undefined
    const answer = answerOf(await calls.receive({ ...asked, forwarded }, request.signal))
    const owner = calls.ownerOf(`${asked.definition}/${asked.key}`)
    const headers = {
      ...answer.headers,
      [TIME]: String(calls.storeTime),
      ...(owner !== undefined && { [OWNER]: owner }),
    }
    return answer.body.length > maxBody
      ? { ...answerOf(overCap(answer.body.length, maxBody)), headers }
      : { ...answer, headers }
  }

  /** Undefined where it is too long. Rejects where it doesn't come in time. */
  async #bodyOf({ headers, body }: Request): Promise<string | undefined> {
    const { maxBody } = this.#settings
    if (Number(headers.get("content-length") ?? 0) > maxBody) return undefined
    const late = new AbortController()
    const timer = this.#inside.clock.after(BODY_WITHIN, () => late.abort(new BadToken("the body doesn't come")))
    try {
      return await orAbort(shortText(body, maxBody), late.signal)
    } finally {
      timer.cancel()
    }
  }

  async #signed(id: string | undefined, { status, body, headers }: PlainAnswer): Promise<Response> {
    const proof = id === undefined ? {} : { [PROOF]: await this.#signing.answer(id, status, body) }
    return new Response(body, { status, headers: { ...HEADERS, ...headers, ...proof } })
  }
}

const HEADERS = { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" }

const told = (status: number, value: object): Response =>
  new Response(`${JSON.stringify(value)}\n`, { status, headers: HEADERS })

const notTaken = (why: string): CallRouteError =>
  new CallRouteError({
    message: `The worker doesn't take the request: ${why}`,
    next: "Call again; where that doesn't help, see that the clocks of both are right",
  })

const tooLarge = (most: number): CallInputError =>
  new CallInputError({
    message: `The call has more bytes than the worker takes, which is ${most} (maxBody)`,
    next: "Send less at once, or raise maxBody at the workers",
  })

const notARequest = (why: string): InvalidConfigError =>
  new InvalidConfigError({
    message: `The request can't be taken: ${why}`,
    next: "Send it as a worker of this release does",
  })

/** The call had its effect, and has an answer that can't be sent. */
const overCap = (length: number, most: number) =>
  ({
    kind: "answer",
    answer: {
      kind: "error",
      name: "RangeError",
      message: `its answer has ${length} characters, and may have ${most} bytes (maxBody)`,
    },
  }) as const
