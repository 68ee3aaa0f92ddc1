/**
 * Sends a worker's calls to owners over HTTP. Their addresses come from records that others wrote: only those that are
 * allowed are ever contacted, no redirect is followed, and an answer counts only with the proof that its worker knows
 * the secret.
 */
import { CallRouteError } from "../actors/api/call-errors.ts"
import type { CallRequest, CallResult, CallTransport, Destination } from "../actors/calls/transport.ts"
import { orAbort } from "../runtime/races.ts"
import { addressOf } from "../web/addresses.ts"
import type { CallAuth } from "./auth.ts"
import { post } from "./post.ts"

/** So many calls are at one address at a time; others wait. Each has a connection of its own. */
const AT_ONCE = 128

/** What sends. */
export interface SenderParts {
  readonly auth: CallAuth
  readonly allow: (address: URL) => boolean
  /** The longest request or answer, in bytes. */
  readonly maxBody: number
}

/** Where a call goes, signed. */
export class Sender implements CallTransport {
  readonly #parts: SenderParts
  readonly #lines = new Map<string, Line>()

  constructor(parts: SenderParts) {
    this.#parts = parts
  }

  async send({ address, ownerId: to }: Destination, request: CallRequest, signal: AbortSignal): Promise<CallResult> {
    const { auth, maxBody } = this.#parts
    const refusal = this.#refusal(address, request)
    if (refusal !== undefined) return { kind: "refused", error: refusal }
    const line = this.#lines.get(address) ?? new Line()
    this.#lines.set(address, line)
    try {
      await line.enter(signal)
    } catch (error) {
      return { kind: "unreachable", error }
    }
    try {
      return await post(request, { address, to, auth, maxBody, signal })
    } finally {
      if (line.leave()) this.#lines.delete(address)
    }
  }

  #refusal(address: string, { definition, key }: CallRequest): CallRouteError | undefined {
    const url = addressOf(address)
    const of = { key: `${definition}/${key}` }
    if (url === undefined)
      return new CallRouteError({
        message: `The owner's address is ${JSON.stringify(address.slice(0, 100))}`,
        next: "Give its manager an address as http://host:port",
        ...of,
      })
    const next = "Allow that address (allow) if it is one of your workers"
    try {
      if (this.#parts.allow(url) === true) return undefined
      return new CallRouteError({ message: `${of.key} is owned at ${url.href}, which isn't allowed`, next, ...of })
    } catch (cause) {
      return new CallRouteError({ message: `Asked about ${url.href}, allow throws`, next, ...of, cause })
    }
  }
}

/** Those who are at one address, and those who wait. */
class Line {
  readonly #waiting = new Set<() => void>()
  #inside = 0

  /** Rejects where the signal aborts first. */
  async enter(signal: AbortSignal): Promise<void> {
    if (this.#inside < AT_ONCE) return void this.#inside++
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.add(resolve)
    try {
      await orAbort(promise, signal)
    } catch (error) {
      if (!this.#waiting.delete(resolve)) this.leave() // its turn had come
      throw error
    }
  }

  /** The next one takes the place. Whether nobody is left. */
  leave(): boolean {
    const [next] = this.#waiting
    if (next === undefined) return --this.#inside === 0
    this.#waiting.delete(next)
    next()
    return false
  }
}
