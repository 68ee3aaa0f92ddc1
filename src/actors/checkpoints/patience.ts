/** Trying again until a budget is over: what the reads, puts and deletes around the head have in common. */
import type { RequestOptions } from "../../locks/store.ts"
import type { Clock } from "../../runtime/clock.ts"

/** How long some work may go on, and whether anybody still wants it. */
export interface Patience {
  readonly clock: Clock
  /** In milliseconds of the monotonic clock. */
  readonly until: number
  /** Aborts when nobody wants it any more. */
  readonly signal?: AbortSignal | undefined
  /** Its pauses don't keep the process alive. */
  readonly background?: boolean
}

const firstPauseMs = 100
const longestPauseMs = 2000

/**
 * Attempts again, after growing pauses, until one gives something. Undefined when the budget is over or the signal has
 * aborted; each attempt is told how long it may take, at most `longestMs`.
 */
export async function insist<A>(
  patience: Patience,
  longestMs: number,
  attempt: (request: RequestOptions) => Promise<A | undefined>,
): Promise<A | undefined> {
  const { clock, until, signal } = patience
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
    const left = until - clock.read().mono
    if (left <= 0 || signal?.aborted) return undefined
    const result = await attempt({ deadline: Math.min(left, longestMs), ...(signal && { signal }) })
    if (result !== undefined) return result
    await pause(patience, pauseMs * (0.5 + clock.random() / 2))
  }
}

/** Lets time pass; less of it where the budget or the wish ends before. */
function pause({ clock, until, signal, background = false }: Patience, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = clock.after(Math.min(ms, until - clock.read().mono), resolve, { background })
  const end = (): void => {
    timer.cancel()
    resolve()
  }
  if (signal?.aborted) end()
  signal?.addEventListener("abort", end, { once: true })
  return promise.finally(() => signal?.removeEventListener("abort", end))
}
