/**
 * Several keys at once: all or none, in one order for every call, within one budget that counts from the call. Owns no
 * lock: its caller acquires them one by one.
 */
import type { Clock } from "../../runtime/time/clock.ts"
import type { ReleaseResult } from "../api/lock.ts"

interface Releasable {
  readonly signal: AbortSignal
  release(): Promise<ReleaseResult>
}

/**
 * Each key once, in the order of UTF-16 code units. Calls that all keep this order never wait for each other in a
 * circle.
 */
export const inOneOrder = (keys: readonly string[]): readonly string[] =>
  [...new Set(keys)].toSorted((a, b) => (a < b ? -1 : 1))

/**
 * All of them, acquired in the order given. `acquire` is given the time of the call, by the monotonic clock, from which
 * its budget counts.
 *
 * Rejects as the first that fails, or with the loss of one while the rest was waited for. Nothing is held then.
 */
export async function allOrNone<Each, Lock extends Releasable>(
  each: readonly Each[],
  acquire: (one: Each, from: number) => Promise<Lock>,
  clock: Clock,
): Promise<readonly Lock[]> {
  const from = clock.mono()
  const held: Lock[] = []
  try {
    for (const one of each) held.push(await acquire(one, from))
    for (const { signal } of held) signal.throwIfAborted()
    return held
  } catch (error) {
    await releaseAll(held)
    throw error
  }
}

/** From the worst to the best. */
const outcomes: readonly ReleaseResult[] = ["unknown", "alreadyLost", "released"]

/** Releases them, the last first. Settles with the worst result. */
export async function releaseAll(held: readonly Pick<Releasable, "release">[]): Promise<ReleaseResult> {
  const results = await Promise.all(held.toReversed().map((lock) => lock.release()))
  return outcomes.find((outcome) => results.includes(outcome)) ?? "released"
}
