/** Drains: lets all sandboxes of a process leave. Uses that were queued before that run first, for a while. */
import type { Clock } from "../../runtime/time/clock.ts"
import type { DrainResult } from "../api/manager.ts"
import { unsaved } from "../api/problems.ts"
import type { Registry } from "../registry/registry.ts"

/** How the sandboxes of a manager leave. */
interface DrainSettings {
  readonly clock: Clock
  /** In milliseconds. */
  readonly grace: number
  /** What the work of a sandbox may take to end, in milliseconds. */
  readonly settleWithin: number
  /**
   * Settles once all marks of waits are out of the store. One that is left would keep the key from others for a while.
   */
  readonly cleared: () => Promise<void>
}

/**
 * Which part of the time that work has to end is for the uses that wait for their turn. The rest is for the last one of
 * them, so that a drain takes no longer for the uses that it lets run.
 */
const QUEUE_SHARE = 1 / 2

/**
 * Asks every sandbox to leave. The work of all ends at once; as many are saved at a time as the store answers. Settles
 * when all have left and no mark of a wait is left, or when the grace is over. Never rejects.
 */
export const drainAll = async (
  registry: Registry,
  { clock, grace, settleWithin, cleared }: DrainSettings,
): Promise<DrainResult> => {
  const runtimes = [...registry.runtimes]
  for (const runtime of runtimes) runtime.leave("drain")
  const queued = runtimes.filter(({ activation }) => activation !== undefined && activation.turns.waiting > 0)
  const turnsOver = (): void => queued.forEach(({ activation }) => activation?.refuseQueued())
  const turns = queued.length > 0 ? clock.after(Math.min(grace, settleWithin) * QUEUE_SHARE, turnsOver) : undefined
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const timer = clock.after(grace, resolve)
  await Promise.race([over, Promise.all(runtimes.map(({ gone }) => gone)).then(cleared)])
  timer.cancel()
  turns?.cancel()
  const stuck = Array.from(registry.runtimes, ({ lockKey }) => lockKey)
  const lost = runtimes.filter(({ isUnsaved }) => isUnsaved)
  if (lost.length === 0) return { stuck }
  const cause = lost.find(({ failure }) => failure !== undefined)?.failure
  const keys = lost.map(({ lockKey }) => lockKey)
  return { stuck, error: unsaved(keys, runtimes.length, grace, cause) }
}
