// Waits with an end.
import { clearTimeout, setTimeout } from "node:timers"

/** Settles as the promise does, or rejects when that takes longer. What the promise does later is ignored. */
export async function within<A>(ms: number, what: string, promise: Promise<A>): Promise<A> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`waited ${ms / 1000} s for ${what}`)), ms)
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
