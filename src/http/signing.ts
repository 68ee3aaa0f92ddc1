/**
 * How workers that share a secret know each other: a request carries a token, which is good for one address, one path,
 * one body, a short time, and once. The answer carries one for just that request. Tokens are JSON Web Tokens (RFC 7519)
 * with HMAC-SHA256; the library jose makes and verifies them.
 *
 * Not promised: that what is said stays unread. That takes TLS, or a network of one's own.
 */
import { errors, jwtVerify, SignJWT } from "jose"
import type { Clock } from "../runtime/time/clock.ts"
import { sha256 } from "../runtime/time/hash.ts"

/** By how much the clocks of two workers may differ, with the way of a request. In milliseconds. */
export const SIGNED_FOR = 60_000

/** So many requests may come within twice that time: more than a process of one core answers. A few bytes each. */
const MOST_TOKENS = 500_000

/** What a token is for. */
export interface Signed {
  /** The address that is asked, as its worker publishes it. */
  readonly audience: string
  /** Method and path. */
  readonly subject: string
  readonly body: string
}

/** A token, and the id by which an answer names it. */
export interface RequestToken {
  readonly token: string
  readonly id: string
}

/** Why a token doesn't count, in words. */
export class BadToken extends Error {}

/** Makes and judges tokens of one secret. */
export class Signing {
  readonly #key: Uint8Array
  readonly #clock: Clock
  /** Tokens that were used, with when each was made, the oldest first. */
  readonly #used = new Map<string, number>()

  constructor(secret: string, clock: Clock) {
    this.#key = new TextEncoder().encode(secret)
    this.#clock = clock
  }

  /** The token of a request that is sent now. */
  async request({ audience, subject, body }: Signed): Promise<RequestToken> {
    const id = this.#clock.id()
    const token = await this.#token({ body: sha256(body), at: this.#now })
      .setAudience(audience)
      .setSubject(subject)
      .setJti(id)
      .sign(this.#key)
    return { token, id }
  }

  /** The token of the answer to a request. */
  answer(id: string, body: string): Promise<string> {
    return this.#token({ answer: id, body: sha256(body) }).sign(this.#key)
  }

  /** The id of a request's token, which counts from now on no more. Rejects with BadToken. */
  async accept(token: string, { audience, subject, body }: Signed): Promise<string> {
    const { sub, jti, body: digest, at } = await this.#verified(token, audience)
    if (sub !== subject || digest !== sha256(body)) throw new BadToken("the signature is of another request")
    if (typeof jti !== "string" || typeof at !== "number") throw new BadToken("the signature lacks an id or a time")
    const now = this.#now
    if (Math.abs(now - at) > SIGNED_FOR)
      throw new BadToken(
        `the signature is ${Math.round((now - at) / 1000)} s old by the clock here: set both clocks right`,
      )
    this.#forget(now)
    if (this.#used.has(jti)) throw new BadToken("the signature was used before")
    if (this.#used.size >= MOST_TOKENS) throw new BadToken("too many requests come to check whether this one is new")
    this.#used.set(jti, now)
    return jti
  }

  /** Whether a token answers that request with that body. */
  async isAnswer(token: string, id: string, body: string): Promise<boolean> {
    try {
      const { answer, body: digest } = await this.#verified(token)
      return answer === id && digest === sha256(body)
    } catch {
      return false
    }
  }

  get #now(): number {
    return this.#clock.read().wall
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

  /** Used tokens matter for as long as they would count. */
  #forget(now: number): void {
    for (const [id, at] of this.#used) {
      if (now - at <= 2 * SIGNED_FOR) break
      this.#used.delete(id)
    }
  }
}

function wordsOf(error: unknown): string {
  if (error instanceof errors.JWSSignatureVerificationFailed) return "the signature is of another secret"
  if (error instanceof errors.JWTClaimValidationFailed) return "the signature is for another address"
  return "the signature is none"
}
