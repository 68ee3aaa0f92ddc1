/**
 * A stranger that keeps to the published protocol by itself: it renews or leaves what it owns, and waits for or takes
 * what it doesn't. It reads and writes at once, so that its writes are conditioned as they must be. Its clock may be
 * slow.
 */
import type { Party } from "./invariants.ts"
import { EPOCH } from "./store-model.ts"
import { published, Stranger } from "./strangers.ts"
import type { World } from "./world.ts"

/** How long a stranger's leases last, in milliseconds. */
const TTL = 30_000
/** Beside another's time it allows for this much disagreement between clocks. */
const MARGIN = 5000
/** It never leaves sooner: tokens that it drops from the record are the store's time, which is no better than this. */
const TENURE = 10_000

/** What a stranger does next, if it can. */
export type StrangerMove = "own" | "mark" | "grant" | "release" | "delete"

export class StrangerModel implements Party {
  readonly id: string
  readonly #world: World
  readonly #hand: Stranger
  readonly #slow: number
  #ownsSince: number | undefined
  #renewedAt = -Infinity

  constructor(world: World, id: string, rest: "keep" | "drop", slow: number) {
    this.id = id
    this.#world = world
    this.#hand = new Stranger(world, id, rest)
    this.#slow = slow
  }

  /** It acts for as long as it knows itself the owner. */
  holds(at: number): boolean {
    return this.#ownsSince !== undefined && at < this.#renewedAt + TTL
  }

  move(move: StrangerMove): void {
    const { store, at } = this.#world
    const record = published(store)
    if (record?.ownerId !== this.id || at >= this.#renewedAt + TTL) this.#ownsSince = undefined
    if (record?.ownerId === this.id) return this.#asOwner(move)
    const now = at - this.#slow
    const waits = record?.waitingOwnerId != null && record.waitingOwnerId !== this.id
    const waited = waits && now < (record?.waiterExpiresAt ?? 0) * 1000 - EPOCH + MARGIN
    const owned = record?.ownerId != null && now < record.expiresAt * 1000 - EPOCH + MARGIN
    if (waited) return
    if (!owned) this.#own()
    else if (move === "mark") this.#hand.mark(12_000 - this.#slow)
  }

  #asOwner(move: StrangerMove): void {
    const { store, at } = this.#world
    // A grant to it has arrived, or its lease ran out while it did nothing and nobody took over.
    if (this.#ownsSince === undefined || move === "own" || at - this.#ownsSince < TENURE) return this.#own()
    const waiter = published(store)?.waitingOwnerId ?? null
    this.#ownsSince = undefined
    if (move === "delete") store.remove(at)
    else if (move === "grant" && waiter !== null) this.#hand.grant()
    else this.#hand.release()
  }

  #own(): void {
    this.#ownsSince ??= this.#world.at
    this.#renewedAt = this.#world.at
    this.#hand.own(TTL - this.#slow)
  }
}
