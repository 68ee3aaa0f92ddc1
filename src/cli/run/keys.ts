/**
 * The keys of a run: taken one after the other in one order, whoever asks (that of UTF-16 code units), so that no two runs
 * wait for each other; all of them within one budget, or none.
 */
import type { AcquireOptions, Lease } from "../../locks/lock.ts"
import type { StoreLock } from "../../locks/store-lock.ts"
import type { Clock } from "../../runtime/clock.ts"

/** Each once, in order. */
export const ordered = (keys: readonly string[]): readonly string[] =>
  [...new Set(keys)].toSorted((a, b) => (a < b ? -1 : 1))

/** Rejects as an acquire does, with nothing held. */
export async function acquireAll(
  locks: readonly StoreLock[],
  { timeout, ...options }: AcquireOptions & { readonly timeout: number | "infinite" },
  clock: Clock,
): Promise<readonly Lease[]> {
  const leases: Lease[] = []
  const from = clock.mono()
  const left = (): number | "infinite" =>
    timeout === "infinite" ? timeout : Math.max(0, timeout - Math.round(clock.mono() - from))
  try {
    for (const lock of locks) leases.push(await lock.acquire({ ...options, timeout: left() }))
    return leases
  } catch (error) {
    await releaseAll(leases)
    throw error
  }
}

/** The last first. What becomes of each is told by its own events; none is waited for in vain. */
export async function releaseAll(leases: readonly Lease[]): Promise<void> {
  await Promise.all(leases.toReversed().map((lease) => lease.release()))
}
