/**
 * Processes that know only the four published fields, as tests write them by hand: into the store at once, keeping what
 * else is in the record or dropping it. What a stranger must not do is the test's to avoid.
 */
import { EPOCH, type StoreModel } from "./store-model.ts"
import type { World } from "./world.ts"

/** True time as a record has it. */
export const seconds = (at: number): number => (EPOCH + at) / 1000

/** The published fields. */
export interface Published {
  readonly ownerId: string | null
  readonly expiresAt: number
  readonly waitingOwnerId: string | null
  readonly waiterExpiresAt: number | null
}

/** The published fields of whatever is stored. */
export function published(store: StoreModel): Published | undefined {
  if (store.text === undefined) return undefined
  const { ownerId, expiresAt, waitingOwnerId, waiterExpiresAt } = store.body as unknown as Published
  return { ownerId, expiresAt, waitingOwnerId, waiterExpiresAt }
}

export class Stranger {
  readonly id: string
  readonly #world: World
  readonly #rest: "keep" | "drop"

  constructor(world: World, id: string, rest: "keep" | "drop" = "drop") {
    this.#world = world
    this.id = id
    this.#rest = rest
  }

  /** Owns from now on, or owns on. */
  own(ttl = 60_000): void {
    const { at } = this.#world
    const waiter = published(this.#world.store)?.waitingOwnerId === this.id ? noWaiter : {}
    this.write({ ownerId: this.id, expiresAt: seconds(at + ttl), ...waiter })
  }

  /** Waits from now on, or waits on. */
  mark(ttl = 12_000): void {
    this.write({ waitingOwnerId: this.id, waiterExpiresAt: seconds(this.#world.at + ttl) })
  }

  /** Makes the waiter the owner. */
  grant(ttl = 60_000): void {
    const waiter = published(this.#world.store)?.waitingOwnerId ?? null
    this.write({ ownerId: waiter, expiresAt: seconds(this.#world.at + ttl), ...noWaiter })
  }

  /** Owns no more; who waits may take the key. */
  release(): void {
    this.write({ ownerId: null, expiresAt: 0 })
  }

  /** Changes some of the published fields. */
  write(fields: Partial<Published>): void {
    const { store, at } = this.#world
    const free = { ownerId: null, expiresAt: 0, ...noWaiter }
    const before = (this.#rest === "keep" && store.text !== undefined ? store.body : published(store)) ?? free
    store.put({ ...before, ...fields }, at)
    this.#world.watchdog.wrote()
  }
}

const noWaiter = { waitingOwnerId: null, waiterExpiresAt: null }
