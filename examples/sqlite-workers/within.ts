// Waits with an end.
import { clearTimeout, setTimeout } from "node:timers"
import { setTimeout as sleep } from "node:timers/promises"
import { Failure } from "./failure.ts"

/** Settles as the promise does, or rejects when that takes longer. What the promise does later is ignored. */
export async function within<A>(ms: number, what: string, promise: Promise<A>): Promise<A> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Failure(`waited ${ms / 1000} s for ${what}`)), ms)
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Waits so long. Rejects with the signal's reason as soon as it aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {})
  signal.throwIfAborted()
}
