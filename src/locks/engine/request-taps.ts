/**
 * Listeners to the requests that the locks of one incarnation make, such as traces. Owns who listens; a request is the
 * same whether anybody does. Where nobody does, that costs a request one look at an empty set.
 */
import type { Command } from "../protocol/rules/state.ts"
import type { Generation, ObjectRef, ReadAnswer, WriteAnswer } from "../stores/port.ts"

/** A request for a lease record. */
export interface SentRequest {
  /** The store's name. */
  readonly store: string
  readonly op: "read" | "put" | "remove"
  readonly ref: ObjectRef
  /** Of a write: the generation that it expects. Of a read: the one that is known already. */
  readonly generation: Generation | undefined
  /** The size of the body that a put sends. */
  readonly bytes: number | undefined
  /** In milliseconds. */
  readonly deadline: number
}

/** The end of a request: an answer, or what the store threw against its contract. */
export type RequestCame = ReadAnswer | WriteAnswer | { readonly kind: "threw"; readonly error: unknown }

/** Called with a request as it is sent. Its result is called with the end of it. Neither may throw. */
export type TellRequest = (request: SentRequest) => (came: RequestCame) => void

/** A listener. Undefined: it doesn't listen now, or not to this key. */
export type RequestTap = (key: string) => TellRequest | undefined

const NOBODY: readonly TellRequest[] = []

/** A command of the protocol, as far as the store is asked for it. */
type TappedRequest =
  | Omit<Extract<Command, { type: "read" }>, "id">
  | Omit<Extract<Command, { type: "put" }>, "id">
  | Omit<Extract<Command, { type: "remove" }>, "id">

/** The key whose requests are listened to. */
export interface TappedKey {
  readonly key: string
  readonly storeName: string
  readonly ref: ObjectRef
}

/** The listeners to the locks of one incarnation on one store. */
export class RequestTaps {
  readonly #taps = new Set<RequestTap>()

  /** Adds a listener. The result removes it. */
  add(tap: RequestTap): () => void {
    this.#taps.add(tap)
    return () => void this.#taps.delete(tap)
  }

  /** The listeners to this key now. */
  of(key: string): readonly TellRequest[] {
    if (this.#taps.size === 0) return NOBODY
    return [...this.#taps].map((tap) => tap(key)).filter((tell) => tell !== undefined)
  }

  /** Calls `ask`, which answers at once, and tells the listeners to this key of both. */
  now<A extends ReadAnswer | WriteAnswer>(of: TappedKey, request: TappedRequest, deadline: number, ask: () => A): A {
    const answered = this.#told(of, request, deadline)
    const answer = ask()
    answered?.(answer)
    return answer
  }

  /** The same for an answer that comes later. Settles as `ask` does. */
  later<A extends ReadAnswer | WriteAnswer>(
    of: TappedKey,
    request: TappedRequest,
    deadline: number,
    ask: () => Promise<A>,
  ): Promise<A> {
    const answered = this.#told(of, request, deadline)
    return answered === undefined ? ask() : settled(ask, answered)
  }

  #told(
    { key, storeName: store, ref }: TappedKey,
    request: TappedRequest,
    deadline: number,
  ): ((came: RequestCame) => void) | undefined {
    const tells = this.of(key)
    if (tells.length === 0) return undefined
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
