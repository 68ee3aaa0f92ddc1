/**
 * When to give up on an answer that may never come: at a deadline on the clock, or when the caller's signal aborts.
 * Both HTTP ports and the wait for credentials end by this one function.
 *
 * Not promised: that the request has stopped by then. The caller has to stop it.
 */
import type { Clock } from "../../../../runtime/time/clock.ts"
import type { RequestOptions } from "../../port.ts"

/** Why a wait ended without its answer; `code` as errno names it. */
export class GaveUp extends Error {
  readonly code: "ETIMEDOUT" | "ECANCELED"

  constructor(code: "ETIMEDOUT" | "ECANCELED", message: string) {
    super(message)
    this.code = code
  }
}

/** Calls `giveUp` at most once, at the deadline or when the signal aborts (at once, if it has); the result stops it. */
export function watch(clock: Clock, options: RequestOptions, giveUp: (reason: GaveUp) => void): () => void {
  const { deadline, signal } = options
  const onTimer = (): void => end(new GaveUp("ETIMEDOUT", `no whole answer within ${Math.round(deadline)} ms`))
  const onAbort = (): void => end(new GaveUp("ECANCELED", "the caller gave up"))
  const timer = clock.after(deadline, onTimer, { background: true })
  signal?.addEventListener("abort", onAbort)
  const stop = (): void => {
    timer.cancel()
    signal?.removeEventListener("abort", onAbort)
  }
  const end = (reason: GaveUp): void => {
    stop()
    giveUp(reason)
  }
  if (signal?.aborted === true) onAbort()
  return stop
}

/** Settles as `promise` does, or rejects with GaveUp. */
export function within<A>(clock: Clock, options: RequestOptions, promise: Promise<A>): Promise<A> {
  return new Promise<A>((resolve, reject) => {
    const stop = watch(clock, options, reject)
    promise.finally(stop).then(resolve, reject)
  })
}
