/**
 * The start of a store, once in a process, by the first call that needs it. A start that failed, or didn't end in time,
 * is not remembered: the next call tries again.
 */
import type { Clock } from "../../runtime/time/clock.ts"
import { StoreUnavailableError } from "../api/errors.ts"
import { DEADLINE_GRACE_MS, type LeaseStore, type ObjectStore } from "./port.ts"

/** How long a start may take, in milliseconds, also where the call that began it waits for less. */
const START_WITHIN = 30_000
/** Between two tries of a request at a start, in milliseconds: GCS wants so long between two writes of one object. */
export const RETRY_AFTER_MS = 1000

const starts = new WeakMap<ObjectStore, Promise<void>>()
const ready = new WeakSet<ObjectStore>()

/** Whether the store has started. */
export const hasStarted = (store: ObjectStore): boolean => ready.has(store)

/**
 * Settles when the store is ready. Rejects as its `start` does, or where it is silent for too long. `by`: a view that
 * passes the request on to the store, such as a recording one.
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

/** Settles as `work` does. Rejects where that takes longer than a start may. */
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

/** Whether a value has the shape of a store: callers in JavaScript may pass anything. */
export const isStore = (store: unknown): store is LeaseStore =>
  typeof store === "object" && store !== null && "put" in store && "read" in store && "capabilities" in store
