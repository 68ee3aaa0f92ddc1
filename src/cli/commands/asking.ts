/**
 * Asks the owner of a key to leave: stands as the key's waiter for a moment, which the owner sees at its next look.
 * Ends within the mark's time and 30 s, also if the store doesn't answer.
 */
import { LockCancelledError } from "../../locks/api/errors.ts"
import type { Lease } from "../../locks/api/lock.ts"
import type { StoreLock } from "../../locks/lock/store-lock.ts"
import type { Clock, Timer } from "../../runtime/time/clock.ts"

/** How long all requests together may take beside the mark's time, in milliseconds. */
const STORE_MS = 30_000

/** One request to hand off. */
export interface HandoffRequest {
  readonly lock: StoreLock
  readonly clock: Clock
  /** How long the mark stands, in milliseconds. */
  readonly stands: number
  /** Withdraws the request. */
  readonly signal: AbortSignal
}

/** The lease, if the owner left in time; else undefined. Rejects as the lock's `acquire` does. */
export async function ask({ lock, clock, stands, signal }: HandoffRequest): Promise<Lease | undefined> {
  const withdrawn = new AbortController()
  let standing: Timer | undefined
  const events = lock.events$.subscribe(({ type }) => {
    if (type === "Waiting") standing ??= clock.after(stands, () => withdrawn.abort())
  })
  const change = "Look at the store and the way to it: the mark that asks was not to be had there in time"
  try {
    return await lock.acquire({
      timeout: stands + STORE_MS,
      timeoutSource: { name: `${stands} ms to stand, ${STORE_MS} ms for the store`, change },
      signal: AbortSignal.any([signal, withdrawn.signal]),
      contention: "fail", // another waiter has asked the owner already
    })
  } catch (error) {
    if (error instanceof LockCancelledError && !signal.aborted) return undefined
    throw error
  } finally {
    events.unsubscribe()
    standing?.cancel()
  }
}
