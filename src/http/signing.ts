/**
 * How workers that share a secret know each other: a request carries a token, which is good for one life of one worker,
 * one path, one body, a short time, and once. The answer carries one for just that request. Tokens are JSON Web Tokens
 * (RFC 7519) with HMAC-SHA256; the library jose makes and verifies them.
 *
 * Not promised: that what is said stays unread. That takes TLS, or a network of one's own.
 */
import { errors, jwtVerify, SignJWT } from "jose"
import type { Clock } from "../runtime/time/clock.ts"
import { sha256 } from "../runtime/time/hash.ts"
import type { CallAuth } from "./auth.ts"

/** Of the answer. */
export const PROOF = "leasehold-proof"

/** By how much the times of two workers may differ, with the way of a request. In milliseconds. */
export const SIGNED_FOR = 60_000

/** So many requests may come within twice that time: 4,000 a second. They take 36 MB then. */
const MOST_TOKENS = 500_000

/** What a token has to be for. */
export interface TokenFor {
  /** The address that is asked, as its worker publishes it. */
  readonly address: string
  /** Method and path. */
  readonly subject: string
  /** The incarnation that is asked. */
  readonly to: string
}

/** A token that counts. */
export interface AcceptedToken {
  readonly id: string
  /** The hash of the body that belongs to it. */
  readonly body: string
}

/**
 * What follows for the call of a token that doesn't count. `used`: what came of it before isn't known here.
 * `elsewhere`: it is for another life.
 */
export type TokenFault = "refused" | "used" | "elsewhere"

/** What a token is refused for. `id`: of one that was made with the secret, so that its answer can be proven. */
export class BadToken extends Error {
  readonly id: string | undefined
  readonly fault: TokenFault

  constructor(
    message: string,
    { id, fault = "refused", cause }: { id?: string; fault?: TokenFault; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.id = id
    this.fault = fault
  }
}

/** Makes and judges tokens of one secret. */
export class Signing {
  readonly #key: Uint8Array
  readonly #clock: Clock
  readonly #now: () => number
  readonly #since: number
  /** Tokens that were used, with when that was by the monotonic clock, the oldest first. */
  readonly #used = new Map<string, number>()

  /** `now`: the time that all workers have in common, in Unix milliseconds. */
  constructor(secret: string, clock: Clock, now: () => number) {
    this.#key = new TextEncoder().encode(secret)
    this.#clock = clock
    this.#now = now
    this.#since = now()
  }

  /** The credentials of a request that is sent now. */
  readonly sign: CallAuth = async ({ address, subject, body, to }) => {
    const id = this.#clock.id()
    const token = await this.#token({ body: sha256(body), at: this.#now(), ...(to !== undefined && { to }) })
      .setAudience(address)
      .setSubject(subject)
      .setJti(id)
      .sign(this.#key)
    return {
      headers: { authorization: `Bearer ${token}` },
      isAnswer: (status, headers, answer) => this.#isAnswer(headers.get(PROOF) ?? "", id, `${status}\n${answer}`),
    }
  }

  /** The token of the answer to a request. */
  answer(id: string, status: number, body: string): Promise<string> {
    return this.#token({ answer: id, body: sha256(`${status}\n${body}`) }).sign(this.#key)
  }

  /** Takes a request's token, which counts from now on no more. Rejects with BadToken. */
  async accept(token: string, { address, subject, to }: TokenFor): Promise<AcceptedToken> {
    const { sub, jti: id, body, at, to: meant } = await this.#verified(token, address)
    if (sub !== subject) throw new BadToken("the signature is for another path")
    if (typeof id !== "string" || typeof at !== "number" || typeof body !== "string")
      throw new BadToken("the signature lacks an id, a time or a body")
    const seconds = Math.round((this.#now() - at) / 1000)
    if (Math.abs(this.#now() - at) > SIGNED_FOR)
      throw new BadToken(`the signature is ${seconds} s old by the time here: set both clocks right`, { id })
    // A life before may have taken it, and what was remembered of that went with it.
    if (meant === undefined ? at < this.#since : meant !== to)
      throw new BadToken("the signature is for an earlier life of this worker", { id, fault: "elsewhere" })
    this.#use(id)
    return { id, body }
  }

  #use(id: string): void {
    const now = this.#clock.mono()
    for (const [used, at] of this.#used) {
      if (now - at <= 2 * SIGNED_FOR) break
      this.#used.delete(used)
    }
    if (this.#used.has(id)) throw new BadToken("the signature was used before", { id, fault: "used" })
    if (this.#used.size >= MOST_TOKENS) throw new BadToken("too many requests come to know which are new", { id })
    this.#used.set(id, now)
  }

  async #isAnswer(token: string, id: string, text: string): Promise<boolean> {
    try {
      const { answer, body } = await this.#verified(token)
      return answer === id && body === sha256(text)
    } catch {
      return false
    }
  }

  #token(claims: Readonly<Record<string, string | number>>): SignJWT {
    return new SignJWT(claims).setProtectedHeader({ alg: "HS256" })
  }

  async #verified(token: string, audience?: string): Promise<Readonly<Record<string, unknown>>> {
    try {
      const options = { algorithms: ["HS256"], ...(audience !== undefined && { audience }) }
      const { payload } = await jwtVerify(token, this.#key, options)
      return payload
    } catch (error) {
      throw new BadToken(wordsOf(error), { cause: error })
    }
  }
}

function wordsOf(error: unknown): string {
  if (error instanceof errors.JWSSignatureVerificationFailed) return "the signature is of another secret"
  if (error instanceof errors.JWTClaimValidationFailed) return "the signature is for another address"
  return "the signature is none"
}
