/**
 * A process that knows only the four published fields of a record, and keeps what else is there or drops it. It goes by the
 * published protocol: it takes what is free or long over, waits where nobody else waits, and leaves what it owns. It looks
 * and writes in one moment, and its clock is right.
 *
 * Not promised: that it renews. What it was given no move for runs out.
 */
import type { ObjectRef } from "../../locks/store.ts"
import type { SimulatedStore } from "./store.ts"

/** What a stranger does next, where the record lets it. */
export type StrangerMove = "own" | "wait" | "leave"

/** Every move. */
export const strangerMoves: readonly StrangerMove[] = ["own", "wait", "leave"]

interface Published {
  readonly ownerId: string | null
  readonly expiresAt: number
  readonly waitingOwnerId: string | null
  readonly waiterExpiresAt: number | null
}

/** In milliseconds. Beside another's time it allows for this much disagreement between clocks. */
const ttl = 30_000
const margin = 5000
const waiterTtl = 12_000

const nobody: Published = { ownerId: null, expiresAt: 0, waitingOwnerId: null, waiterExpiresAt: null }
const noWaiter = { waitingOwnerId: null, waiterExpiresAt: null }

/** One such process. */
export class Stranger {
  /** As it stands in records. */
  readonly id: string
  readonly #store: SimulatedStore
  readonly #now: () => number
  readonly #keeps: boolean

  /** `now` is Unix milliseconds; `keeps`: it carries over what it doesn't know. */
  constructor(
    id: string,
    parts: { readonly store: SimulatedStore; readonly now: () => number; readonly keeps: boolean },
  ) {
    this.id = id
    this.#store = parts.store
    this.#now = parts.now
    this.#keeps = parts.keeps
  }

  /** Does what it can of a move. */
  move(ref: ObjectRef, move: StrangerMove): void {
    const record = this.#read(ref)
    const { ownerId, expiresAt, waitingOwnerId, waiterExpiresAt } = record
    const now = this.#now()
    const isMine = ownerId === this.id
    const isOwned = ownerId !== null && !isMine && now < expiresAt * 1000 + margin
    const isAwaited =
      waitingOwnerId !== null && waitingOwnerId !== this.id && now < (waiterExpiresAt ?? 0) * 1000 + margin
    if (isMine && move === "leave") this.#write(ref, { ownerId: null, expiresAt: 0 })
    else if (isMine && !isAwaited) this.#own(ref)
    else if (!isMine && !isAwaited && !isOwned && move === "own") this.#own(ref)
    else if (isOwned && !isAwaited && move === "wait")
      this.#write(ref, { waitingOwnerId: this.id, waiterExpiresAt: (now + waiterTtl) / 1000 })
  }

  /** Owns and waits for nothing any more. */
  goes(ref: ObjectRef): void {
    const { ownerId, waitingOwnerId } = this.#read(ref)
    if (ownerId === this.id) this.#write(ref, { ownerId: null, expiresAt: 0 })
    if (waitingOwnerId === this.id) this.#write(ref, noWaiter)
  }

  #own(ref: ObjectRef): void {
    const waiter = this.#read(ref).waitingOwnerId === this.id ? noWaiter : {}
    this.#write(ref, { ownerId: this.id, expiresAt: (this.#now() + ttl) / 1000, ...waiter })
  }

  #read(ref: ObjectRef): Published {
    const { ownerId, expiresAt, waitingOwnerId, waiterExpiresAt } = this.#body(ref) as unknown as Published
    return { ownerId, expiresAt, waitingOwnerId, waiterExpiresAt }
  }

  #body(ref: ObjectRef): Readonly<Record<string, unknown>> {
    const version = this.#store.objects.get(`${ref.area}/${ref.name}`)
    if (version === undefined) return { ...nobody }
    return JSON.parse(new TextDecoder().decode(version.body)) as Record<string, unknown>
  }

  #write(ref: ObjectRef, fields: Partial<Published>): void {
    const before = this.#keeps ? this.#body(ref) : this.#read(ref)
    this.#store.tamper(ref, new TextEncoder().encode(JSON.stringify({ ...before, ...fields })))
  }
}
