/**
 * Whether one may act, or answer, under a lease: at once while it is held, at once not when it is over, and while in
 * doubt (this process was stopped, its clocks disagree) only once a renewal has decided.
 */
import { LockNotHeldError } from "../api/errors.ts"
import type { Lease } from "../api/lock.ts"

/** Settles when the lease is held; rejects with LockLostError, at the deadline at the latest, or LockNotHeldError. */
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
