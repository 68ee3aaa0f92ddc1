/**
 * A process that knows only the four published fields of a record. Other fields it keeps, or drops. It follows the
 * published protocol:
 *
 * - It takes a key that is free or long over.
 * - It waits where nobody else waits.
 * - It leaves a key that it owns: to nobody, to the waiter, or by deleting the record.
 *
 * It looks and writes in one moment. Its clock may be slow. It leaves alone what it can't read.
 *
 * Not promised: that it renews. A lease without another move runs out.
 */
import type { ObjectRef } from "../../locks/stores/port.ts"
import type { SimulatedStore } from "./store.ts"

/** What a stranger does next, where the record lets it. */
export type StrangerMove = "own" | "wait" | "leave" | "grant" | "delete"

/** Every move. */
export const strangerMoves: readonly StrangerMove[] = ["own", "wait", "leave", "grant", "delete"]

interface StrangerFields {
  readonly ownerId: string | null
  readonly expiresAt: number
  readonly waitingOwnerId: string | null
  readonly waiterExpiresAt: number | null
}

/** In milliseconds. Beside another's time it allows for this much disagreement between clocks. */
const ttl = 30_000
const margin = 5000
const waiterTtl = 12_000
/**
 * It doesn't hand over or delete sooner: without the token in the record the store's time alone makes the next one
 * greater.
 */
const tenure = 10_000

const nobody: StrangerFields = { ownerId: null, expiresAt: 0, waitingOwnerId: null, waiterExpiresAt: null }
const noWaiter = { waitingOwnerId: null, waiterExpiresAt: null }

/** One such process. */
export class Stranger {
  /** As it stands in records. */
  readonly id: string
  readonly #store: SimulatedStore
  readonly #now: () => number
  readonly #keeps: boolean
  /** Since when it owns, by the record's name. */
  readonly #since = new Map<string, number>()

  /** `now` is Unix milliseconds, right or up to 4 s behind; `keeps`: it carries over what it doesn't know. */
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
    if (record === undefined) return
    const { ownerId, expiresAt, waitingOwnerId, waiterExpiresAt } = record
    const now = this.#now()
    const isOwned = ownerId !== null && now < expiresAt * 1000 + margin
    const isAwaited =
      waitingOwnerId !== null && waitingOwnerId !== this.id && now < (waiterExpiresAt ?? 0) * 1000 + margin
    if (ownerId === this.id) return this.#asOwner(ref, move, isAwaited)
    this.#since.delete(ref.name)
    if (isAwaited) return
    if (!isOwned && move === "own") this.#own(ref)
    else if (isOwned && move === "wait")
      this.#write(ref, { waitingOwnerId: this.id, waiterExpiresAt: (now + waiterTtl) / 1000 })
  }

  /** Owns and waits for nothing any more. */
  goes(ref: ObjectRef): void {
    const { ownerId, waitingOwnerId } = this.#read(ref) ?? nobody
    if (ownerId === this.id) this.#write(ref, { ownerId: null, expiresAt: 0 })
    if (waitingOwnerId === this.id) this.#write(ref, noWaiter)
  }

  #asOwner(ref: ObjectRef, move: StrangerMove, isAwaited: boolean): void {
    const isSettled = this.#now() - (this.#since.get(ref.name) ?? Infinity) >= tenure
    if (move === "leave") this.#write(ref, { ownerId: null, expiresAt: 0 })
    else if (move === "delete" && isSettled) this.#store.tamper(ref, undefined)
    else if (move === "grant" && isSettled && isAwaited) this.#grant(ref)
    else if (!isAwaited) this.#own(ref)
  }

  #grant(ref: ObjectRef): void {
    const { waitingOwnerId } = this.#read(ref) ?? nobody
    this.#write(ref, { ownerId: waitingOwnerId, expiresAt: (this.#now() + ttl) / 1000, ...noWaiter })
  }

  #own(ref: ObjectRef): void {
    if (!this.#since.has(ref.name)) this.#since.set(ref.name, this.#now())
    const waiter = this.#read(ref)?.waitingOwnerId === this.id ? noWaiter : {}
    this.#write(ref, { ownerId: this.id, expiresAt: (this.#now() + ttl) / 1000, ...waiter })
  }

  /** Undefined where no record can be read: that is nobody's to take. */
  #read(ref: ObjectRef): StrangerFields | undefined {
    const body = this.#body(ref)
    if (body === undefined) return undefined
    const { ownerId, expiresAt, waitingOwnerId, waiterExpiresAt } = body as unknown as StrangerFields
    return { ownerId, expiresAt, waitingOwnerId, waiterExpiresAt }
  }

  #body(ref: ObjectRef): Readonly<Record<string, unknown>> | undefined {
    const version = this.#store.objects.get(`${ref.area}/${ref.name}`)
    if (version === undefined) return { ...nobody }
    try {
      const body: unknown = JSON.parse(new TextDecoder().decode(version.body))
      return Array.isArray(body) ? undefined : (body as Record<string, unknown>)
    } catch {
      return undefined
    }
  }

  #write(ref: ObjectRef, fields: Partial<StrangerFields>): void {
    const before = this.#keeps ? this.#body(ref) : this.#read(ref)
    this.#store.tamper(ref, new TextEncoder().encode(JSON.stringify({ ...before, ...fields })))
  }
}
