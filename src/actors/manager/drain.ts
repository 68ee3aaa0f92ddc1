/** Drains: lets all sandboxes of a process leave, and does so when the process is asked to end. */
import type { Duration } from "../../runtime/input/duration.ts"
import { aDuration, aFunction, anObject, type OptionChecks, refuseUnknown } from "../../runtime/input/options.ts"
import { onShutdown, SHUTDOWN_OPTIONS, type ShutdownOptions } from "../../runtime/machine/signals.ts"
import { reporter } from "../../runtime/report.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import type { DrainOptions } from "../api/call-options.ts"
import type { DrainResult } from "../api/manager.ts"
import { unsaved } from "../api/problems.ts"
import type { Registry } from "../registry/registry.ts"

/** How the sandboxes of a manager leave. */
interface DrainSettings {
  readonly clock: Clock
  /** In milliseconds. */
  readonly grace: number
  /**
   * Settles once all marks of waits are out of the store. One that is left would keep the key from others for a while.
   */
  readonly cleared: () => Promise<void>
}

/**
 * Asks every sandbox to leave. The work of all ends at once; as many are saved at a time as the store answers. Settles
 * when all have left and no mark of a wait is left, or when the grace is over. Never rejects.
 */
export const drainAll = async (registry: Registry, { clock, grace, cleared }: DrainSettings): Promise<DrainResult> => {
  const runtimes = [...registry.runtimes]
  for (const runtime of runtimes) runtime.leave("drain")
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const timer = clock.after(grace, resolve)
  await Promise.race([over, Promise.all(runtimes.map(({ gone }) => gone)).then(cleared)])
  timer.cancel()
  const stuck = Array.from(registry.runtimes, ({ lockKey }) => lockKey)
  const lost = runtimes.filter(({ isUnsaved }) => isUnsaved)
  if (lost.length === 0) return { stuck }
  const cause = lost.find(({ failure }) => failure !== undefined)?.failure
  const keys = lost.map(({ lockKey }) => lockKey)
  return { stuck, error: unsaved(keys, runtimes.length, grace, cause) }
}

/** What can be drained. */
export interface Drainable {
  /** As `drain` of a manager. */
  drain(options?: DrainOptions): Promise<DrainResult>
}

/** How to drain on a signal. */
export interface DrainOnSignalsOptions extends ShutdownOptions {
  /** Default: the manager's `killGrace`. */
  readonly grace?: Duration
  /** Gets how it went, just before the process ends. */
  readonly onDrained?: (result: DrainResult) => void
}

const OPTIONS: OptionChecks<DrainOnSignalsOptions> = { ...SHUTDOWN_OPTIONS, grace: aDuration, onDrained: aFunction }

/**
 * Drains the manager on the first SIGTERM or SIGINT, and then ends the process with 128 + the signal's number. Throws
 * InvalidConfigError. Dispose the result to no longer drain on signals.
 *
 * Where work is stuck when the grace is over, and on a second signal, the process ends by the signal itself, its
 * threads included. The keys of that work aren't released. They are free once the process is gone, or when their leases
 * run out.
 */
export function drainOnSignals(manager: Drainable, options: DrainOnSignalsOptions = {}): Disposable {
  anObject("Give what SandboxManager.start gave", "drain")("the manager of drainOnSignals", manager)
  refuseUnknown("drainOnSignals", options, OPTIONS)
  const { grace, onDrained, ...shutdown } = options
  const report = reporter(shutdown.onError)
  return onShutdown(async () => {
    const result = await manager.drain(grace === undefined ? {} : { grace })
    try {
      onDrained?.(result)
    } catch (error) {
      report(error)
    }
    return result.stuck.length > 0 ? "stuck" : undefined
  }, shutdown)
}
