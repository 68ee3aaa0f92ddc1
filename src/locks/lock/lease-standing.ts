/**
 * Whether work under a lease may go on, or its answer be passed on. While the lease is held or over that is known at
 * once. While it is in doubt, as this process was stopped or its clocks disagree, a renewal decides.
 */
import { LockNotHeldError } from "../api/errors.ts"
import type { Lease } from "../api/lock.ts"

/**
 * Settles when the lease is held. Rejects with LockLostError, at its deadline at the latest, or with LockNotHeldError.
 */
export const standing = async (lease: Lease): Promise<void> => {
  if (lease.isHeld()) return
  lease.signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const lost = (): void => reject(lease.signal.reason as Error)
  const look = (): void => {
    if (lease.isHeld()) resolve()
  }
  lease.signal.addEventListener("abort", lost)
  const subscription = lease.events$.subscribe({ next: look, complete: () => reject(released(lease.key)) })
  try {
    await promise
  } finally {
    subscription.unsubscribe()
    lease.signal.removeEventListener("abort", lost)
  }
}

const released = (key: string): LockNotHeldError =>
  new LockNotHeldError({ message: `The lease of ${key} was released`, next: "Acquire it again", key })
