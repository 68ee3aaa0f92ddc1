/** Trying again until a budget is over: what reads, puts, deletes and lists around the head have in common. */
import { admissionTo } from "../../../locks/admission/admission.ts"
import { LockError } from "../../../locks/api/errors.ts"
import type { ObjectStore, RequestOptions } from "../../../locks/stores/port.ts"
import type { Clock } from "../../../runtime/time/clock.ts"
import { sleep } from "../../../runtime/time/sleep.ts"

/** How long some work may go on, and whether anybody still wants it. */
export interface Patience {
  readonly clock: Clock
  /** What is asked: each attempt waits for room there. */
  readonly store: ObjectStore
  /** In milliseconds of the monotonic clock. */
  readonly until: number
  /** Aborts when nobody wants it any more. */
  readonly signal?: AbortSignal | undefined
  /** No call waits for it. It lets all else go first, and its pauses don't keep the process alive. */
  readonly background?: boolean
}

/** An attempt came to nothing, and another one may not. `error`: why, where that is known. */
export class Again {
  readonly error: unknown

  constructor(error?: unknown) {
    this.error = error
  }
}

const firstPauseMs = 100
const longestPauseMs = 2000
/** A store keeps its deadlines; this much later it isn't waited for any more. */
const graceMs = 250

/**
 * Attempts again, after growing pauses, until an attempt gives something else than `Again`. Gives the last `Again` when
 * the budget is over or the signal has aborted. Each attempt may take `longestMs` at most, counted from when there is
 * room for it at the store; it gets that as its deadline.
 */
export async function insist<A>(
  patience: Patience,
  longestMs: number,
  attempt: (request: RequestOptions) => Promise<A | Again>,
): Promise<A | Again> {
  const { clock, store, until, signal, background } = patience
  const door = admissionTo(store, clock)
  let last = new Again()
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
    const slot = await door?.enter(background ? "look" : "save", until, signal)
    const deadline = Math.min(until - clock.read().mono, longestMs)
    if (deadline <= 0 || signal?.aborted) {
      slot?.free()
      return last
    }
    const attempted = orSilence(clock, deadline, attempt({ deadline, ...(signal && { signal }) }))
    const result = await attempted.finally(() => slot?.free())
    if (!(result instanceof Again)) return result
    if (result.error !== undefined) last = result
    await pause(patience, pauseMs * (0.5 + clock.random() / 2))
  }
}

/** The attempt's result, unless it outlives its deadline. Only typed errors pass. */
async function orSilence<A>(clock: Clock, deadline: number, attempt: Promise<A>): Promise<A | Again> {
  const { promise: silence, resolve } = Promise.withResolvers<Again>()
  const timer = clock.after(deadline + graceMs, () => resolve(new Again()), { background: true })
  try {
    return await Promise.race([attempt, silence])
  } catch (error) {
    if (error instanceof LockError) throw error
    return new Again(error) // a store never rejects so
  } finally {
    timer.cancel()
  }
}

/** Lets time pass: less of it where the budget ends, or the signal aborts, before. */
function pause({ clock, until, signal, background = false }: Patience, ms: number): Promise<void> {
  return sleep(clock, Math.min(ms, until - clock.read().mono), signal, { background })
}
