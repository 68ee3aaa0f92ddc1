/**
 * A store is started once, by whoever needs it first. A start that failed is not remembered: the next who needs the
 * store tries again.
 */
import type { LeaseStore, ObjectStore } from "./store.ts"

/** What a start may take, in milliseconds, when nobody waits for less. */
const START_WITHIN = 30_000

const starts = new WeakMap<ObjectStore, Promise<void>>()

/** Settles when the store is ready; rejects as `start` of the store does. */
export function started(store: ObjectStore): Promise<void> {
  const known = starts.get(store)
  if (known !== undefined) return known
  const start = store.start({ deadline: START_WITHIN })
  starts.set(store, start)
  start.catch(() => starts.delete(store))
  return start
}

/** Whether the store has a name and the shape of one, for those who don't compile. */
export const isStore = (store: unknown): store is LeaseStore =>
  typeof store === "object" && store !== null && "put" in store && "read" in store && "capabilities" in store
