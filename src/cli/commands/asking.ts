/**
 * Standing as the waiter of a key for a moment, so that its owner hears of it. Ends by itself whatever the store does:
 * a store that falls silent has 30 s more than the mark is to stand.
 */
import { LockCancelledError } from "../../locks/api/errors.ts"
import type { Lease } from "../../locks/api/lock.ts"
import type { StoreLock } from "../../locks/lock/store-lock.ts"
import type { Clock, Timer } from "../../runtime/time/clock.ts"

/** What the store may take for all requests together, in milliseconds. */
const STORE_MS = 30_000

/** Who asks, and how. */
export interface HandoffRequest {
  readonly lock: StoreLock
  readonly clock: Clock
  /** How long the mark stands, in milliseconds. */
  readonly stands: number
  /** The user has thought better of it. */
  readonly signal: AbortSignal
}

/** What the key was left for; undefined where its owner didn't leave in time. Rejects as `acquire` of the lock does. */
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
      contention: "fail", // who waits already has asked the owner
    })
  } catch (error) {
    if (error instanceof LockCancelledError && !signal.aborted) return undefined
    throw error
  } finally {
    events.unsubscribe()
    standing?.cancel()
  }
}
