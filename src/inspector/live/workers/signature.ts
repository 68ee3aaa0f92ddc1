/**
 * How workers that share a secret know each other: the one that asks signs its request, the one that answers proves
 * that it knows the secret too. A request counts for one address, for a short time, and once. Who reads along learns
 * neither the secret nor anything to ask with.
 *
 * Not promised: that what is said stays unread. That takes TLS, or a network of one's own.
 */
// oxlint-disable-next-line no-restricted-imports -- a signature is the same in each run, and takes no chance
import { createHash, createHmac, timingSafeEqual } from "node:crypto"
import type { Clock } from "../../../runtime/time/clock.ts"
import { sha256 } from "../../../runtime/time/hash.ts"

/** By how much the clocks of two workers may differ, with the way of a request. In milliseconds. */
export const SIGNED_FOR = 60_000

/** As many as ten workers ask that connect anew each second for as long as a signature counts. */
const MOST_NONCES = 2000

/** What a signed request is for. */
export interface Signable {
  readonly method: string
  /** With its query. */
  readonly path: string
  /** Host and port of the address that is asked. */
  readonly authority: string
  readonly body: string
}

/** Headers of a signed request. */
export const TIME = "x-leasehold-time"
export const NONCE = "x-leasehold-nonce"
export const SIGNATURE = "x-leasehold-signature"
/** Of the answer. */
export const PROOF = "x-leasehold-proof"

/** Whether two texts are the same, in a time that doesn't tell where they differ. */
export function isSame(a: string, b: string): boolean {
  const [digestA, digestB] = [a, b].map((text) => createHash("sha256").update(text).digest())
  return digestA !== undefined && digestB !== undefined && timingSafeEqual(digestA, digestB)
}

/** The headers of a request that is made now. */
export function signed(secret: string, request: Signable, clock: Clock): Record<string, string> {
  const time = String(clock.read().wall)
  const nonce = clock.id()
  return { [TIME]: time, [NONCE]: nonce, [SIGNATURE]: signatureOf(secret, request, time, nonce) }
}

/** The answer to a nonce that proves the secret. */
export const proofOf = (secret: string, nonce: string): string => hmac(secret, `answer\n${nonce}`)

/** Judges signed requests, each once. */
export class Signatures {
  readonly #secret: string
  readonly #clock: Clock
  /** With when each was used, the oldest first. */
  readonly #used = new Map<string, number>()

  constructor(secret: string, clock: Clock) {
    this.#secret = secret
    this.#clock = clock
  }

  /** Why a request isn't good, in words; undefined where it is. Then it has been used. */
  problemOf(headers: Headers, request: Signable): string | undefined {
    const [time, nonce, signature] = [TIME, NONCE, SIGNATURE].map((name) => headers.get(name) ?? "")
    if (!time || !nonce || !signature || nonce.length > 100) return "It isn't signed"
    if (!isSame(signature, signatureOf(this.#secret, request, time, nonce))) {
      return "It is signed with another secret, or for another address"
    }
    const now = this.#clock.read().wall
    // Only now is the time worth a look: before, anybody may have written it.
    if (!(Math.abs(now - Number(time)) <= SIGNED_FOR))
      return "Its time is off by more than a minute: compare the clocks"
    return this.#use(nonce, now)
  }

  /** What is to be remembered is over, at the latest, when its time can be good no more. */
  #use(nonce: string, now: number): string | undefined {
    for (const [old, at] of this.#used) {
      if (now - at <= 2 * SIGNED_FOR) break
      this.#used.delete(old)
    }
    if (this.#used.has(nonce)) return "It was used before"
    if (this.#used.size >= MOST_NONCES) return "There are too many requests"
    this.#used.set(nonce, now)
    return undefined
  }
}

const signatureOf = (
  secret: string,
  { method, path, authority, body }: Signable,
  time: string,
  nonce: string,
): string => hmac(secret, ["request", method, authority, path, time, nonce, sha256(body)].join("\n"))

const hmac = (secret: string, text: string): string => createHmac("sha256", secret).update(text).digest("base64url")
