/**
 * The one wait on a clock, which leaves no timer and no listener behind. It doesn't say why it ended: its caller looks
 * at the signal.
 */
import type { Clock, TimerOptions } from "./clock.ts"

/** Settles after `ms`, or as soon as the signal aborts. Never rejects. */
export function sleep(
  clock: Pick<Clock, "after">,
  ms: number,
  signal?: AbortSignal,
  options?: TimerOptions,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const end = (): void => {
    timer.cancel()
    signal?.removeEventListener("abort", end)
    resolve()
  }
  const timer = clock.after(ms, end, options)
  signal?.addEventListener("abort", end)
  if (signal?.aborted === true) end()
  return promise
}
