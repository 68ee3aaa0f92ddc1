/**
 * Who is told of the requests that the locks of one incarnation make, as they are made: traces. Owns who listens, and
 * changes nothing of what is asked. Where nobody listens, a request costs one look at that.
 */
import type { Command } from "../protocol/rules/state.ts"
import type { Generation, ObjectRef, ReadAnswer, WriteAnswer } from "../stores/port.ts"

/** A request for a lease record. */
export interface SentRequest {
  /** The store's name. */
  readonly store: string
  readonly op: "read" | "put" | "remove"
  readonly ref: ObjectRef
  /** The one that a write is conditioned on; of a read the one that is known. */
  readonly generation: Generation | undefined
  /** The size of the body that a put sends. */
  readonly bytes: number | undefined
  /** In milliseconds. */
  readonly deadline: number
}

/** What came of a request: an answer, or what the store's call threw against its contract. */
export type RequestCame = ReadAnswer | WriteAnswer | { readonly kind: "threw"; readonly error: unknown }

/** Told of a request as it is sent; the result, of what came of it. Neither may throw. */
export type TellRequest = (request: SentRequest) => (came: RequestCame) => void

/** One who listens. Undefined: not now, or not to this key. */
export type RequestTap = (key: string) => TellRequest | undefined

const NOBODY: readonly TellRequest[] = []

/** Those who listen to the locks of one incarnation on one store. */
export class RequestTaps {
  readonly #taps = new Set<RequestTap>()

  /** Listens from now on; the result ends that. */
  add(tap: RequestTap): () => void {
    this.#taps.add(tap)
    return () => void this.#taps.delete(tap)
  }

  /** All who listen to this key now. */
  of(key: string): readonly TellRequest[] {
    if (this.#taps.size === 0) return NOBODY
    return [...this.#taps].map((tap) => tap(key)).filter((tell) => tell !== undefined)
  }
}

/** The part of a command of the protocol that a store is asked. */
type TappedRequest =
  | Omit<Extract<Command, { type: "read" }>, "id">
  | Omit<Extract<Command, { type: "put" }>, "id">
  | Omit<Extract<Command, { type: "remove" }>, "id">

/** Whose requests they are. */
export interface TappedKey {
  readonly key: string
  readonly store: string
  readonly ref: ObjectRef
}

/** The requests of one key, told to those who listen to it. */
export class KeyTap {
  readonly #taps: RequestTaps
  readonly #of: TappedKey

  constructor(taps: RequestTaps, of: TappedKey) {
    this.#taps = taps
    this.#of = of
  }

  /** Asks, and tells of it. */
  now<A extends ReadAnswer | WriteAnswer>(request: TappedRequest, deadline: number, ask: () => A): A {
    const answered = this.#told(request, deadline)
    const answer = ask()
    answered?.(answer)
    return answer
  }

  /** The same where the answer takes its time. Settles as `ask` does. */
  later<A extends ReadAnswer | WriteAnswer>(
    request: TappedRequest,
    deadline: number,
    ask: () => Promise<A>,
  ): Promise<A> {
    const answered = this.#told(request, deadline)
    return answered === undefined ? ask() : settled(ask, answered)
  }

  #told(request: TappedRequest, deadline: number): ((came: RequestCame) => void) | undefined {
    const tells = this.#taps.of(this.#of.key)
    if (tells.length === 0) return undefined
    const { store, ref } = this.#of
    const generation = request.type === "read" ? request.known : request.expected
    const bytes = request.type === "put" ? new TextEncoder().encode(request.body).length : undefined
    const answered = tells.map((tell) => tell({ store, op: request.type, ref, generation, bytes, deadline }))
    return (came) => answered.forEach((tell) => tell(came))
  }
}

async function settled<A extends ReadAnswer | WriteAnswer>(
  ask: () => Promise<A>,
  answered: (came: RequestCame) => void,
): Promise<A> {
  try {
    const answer = await ask()
    answered(answer)
    return answer
  } catch (error) {
    answered({ kind: "threw", error })
    throw error
  }
}
