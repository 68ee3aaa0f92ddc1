/**
 * A store is started once, by whoever needs it first. A start that failed, or that never ended, is not remembered: the
 * next who needs the store tries again.
 */
import type { Clock } from "../../runtime/time/clock.ts"
import { StoreUnavailableError } from "../api/errors.ts"
import { DEADLINE_GRACE_MS, type LeaseStore, type ObjectStore } from "./port.ts"

/** What a start may take, in milliseconds, when nobody waits for less. */
const START_WITHIN = 30_000
/** Between two tries of a request at a start, in milliseconds: GCS wants so long between two writes of one object. */
export const RETRY_AFTER_MS = 1000

const starts = new WeakMap<ObjectStore, Promise<void>>()
const ready = new WeakSet<ObjectStore>()

/** Whether the store has started, and there is nothing to wait for. */
export const hasStarted = (store: ObjectStore): boolean => ready.has(store)

/**
 * Settles when the store is ready; rejects as `start` of the store does, or because it was silent for too long. `by`: what
 * passes the request on, such as a record of requests.
 */
export function started(store: ObjectStore, clock: Clock, by: Pick<ObjectStore, "start"> = store): Promise<void> {
  const known = starts.get(store)
  if (known !== undefined) return known
  const start = withinStart(store, clock, (deadline) => by.start({ deadline }))
  starts.set(store, start)
  start.then(
    () => ready.add(store),
    () => starts.delete(store),
  )
  return start
}

/** Settles as what is done at a start does; rejects where the store is silent for longer than a start may take. */
export async function withinStart<A>(
  store: ObjectStore,
  clock: Clock,
  work: (deadline: number) => Promise<A>,
): Promise<A> {
  const { promise: silent, reject } = Promise.withResolvers<never>()
  const timer = clock.after(START_WITHIN + DEADLINE_GRACE_MS, () => reject(silence(store)))
  try {
    return await Promise.race([work(START_WITHIN), silent])
  } finally {
    timer.cancel()
  }
}

function silence(store: ObjectStore): StoreUnavailableError {
  return new StoreUnavailableError({
    message: `The start of the store ${store.name} did not end within ${START_WITHIN} ms`,
    next: "Check the store and the way to it",
  })
}

/** Whether the store has the shape of one, for those who don't compile. */
export const isStore = (store: unknown): store is LeaseStore =>
  typeof store === "object" && store !== null && "put" in store && "read" in store && "capabilities" in store
