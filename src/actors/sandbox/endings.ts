/** How a sandbox ended: the last snapshot of its chart in the words and errors that users get. */
import { LockCancelledError } from "../../locks/api/errors.ts"
import { handingOff, managerClosed, runThrew, tooSlow } from "../api/problems.ts"
import type { SandboxEnding } from "../api/sandbox.ts"
import { endReason } from "../chart/chart.ts"
import { ruleOf } from "../chart/reasons.ts"
import type { ChartFailure, ChartLimits, SandboxSnapshot } from "../chart/types.ts"

/** The lease is gone, whatever else was going on. */
export const isLost = (snapshot: SandboxSnapshot): boolean => snapshot.matches({ released: "lost" })

/** What `ended` settles with; without an error only where it had a lease and left in order. */
export const endingOf = (snapshot: SandboxSnapshot): SandboxEnding => {
  const { context } = snapshot
  if (isLost(snapshot)) return { reason: "lost", error: context.error }
  if (context.failure !== undefined)
    return { reason: "failed", error: failureError(context.key, context.failure, context.limits) }
  if (context.token === undefined) return { reason: context.leaving ?? "failed", error: whyNotOpened(snapshot) }
  return { reason: endReason(context) }
}

/** Why it never came to run. */
export const whyNotOpened = (snapshot: SandboxSnapshot): unknown => {
  const { context } = snapshot
  const { key, leaving, failure } = context
  if (isLost(snapshot)) return context.error
  if (failure !== undefined) return failureError(key, failure, context.limits)
  if (context.token !== undefined) return handingOff(key, leaving ?? "released")
  if (ruleOf(leaving)?.endsManager) return managerClosed("draining", key)
  return context.error ?? unanswered(snapshot)
}

/**
 * The error of a failure. A deadline of the lock that passed gets an error here. An error of run becomes a cause: no
 * call waits for run.
 */
export const failureError = (key: string, { during, error }: ChartFailure, limits: ChartLimits): unknown => {
  if (during === "run") return runThrew(key, error)
  return error ?? tooSlow(key, during, "a deadline of the lock", limits.releaseWithin)
}

/** The lock broke its contract: it was to settle by itself. */
const unanswered = ({ context, value }: SandboxSnapshot): unknown => {
  const { key, limits } = context
  if (!("released" in value && value.released === "cancelled"))
    return tooSlow(key, "acquire", "timeout", limits.acquireWithin)
  return new LockCancelledError({
    message: `The wait for ${key} was cancelled, and its lock didn't answer to that`,
    next: "Nothing is to be done: a lease that still comes is released",
    key,
  })
}
