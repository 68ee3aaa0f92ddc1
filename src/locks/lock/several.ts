/**
 * Several keys at once: one order for everybody, all or none, one budget that counts from the call. Owns no lock; its caller
 * acquires them one by one.
 */
import type { Clock } from "../../runtime/time/clock.ts"
import type { ReleaseResult } from "../api/lock.ts"

interface Releasable {
  readonly signal: AbortSignal
  release(): Promise<ReleaseResult>
}

/** Each once, in the order of their UTF-16 code units: whoever takes several so waits for nobody in a circle. */
export const inOneOrder = (keys: readonly string[]): readonly string[] =>
  [...new Set(keys)].toSorted((a, b) => (a < b ? -1 : 1))

/**
 * All of them, acquired in the order given. `acquire` is told when the call came, by the monotonic clock: its budget counts
 * from there. Rejects as the first that fails, or with the loss of one while the rest was waited for, with nothing held.
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

/** Begins with the last, and settles with the worst of what became of them. */
export async function releaseAll(held: readonly Pick<Releasable, "release">[]): Promise<ReleaseResult> {
  const results = await Promise.all(held.toReversed().map((lock) => lock.release()))
  return outcomes.find((outcome) => results.includes(outcome)) ?? "released"
}
