/** The typed error of a task of the head protocol that failed, or whose budget ended before it did. */
import type { LockError } from "../../locks/api/errors.ts"
import type { Lease } from "../../locks/api/lock.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import type { HeadOutcome } from "./head/types.ts"
import type { HeadWriter } from "./head/writer.ts"
import { cancelled, lossOf, notReached, type StatePlace, rejected, unknownFate } from "./objects/problems.ts"

/** The task that failed, and what it ran on. */
export interface FailedTask {
  readonly place: StatePlace
  readonly lease: Lease
  readonly headWriter: HeadWriter
  readonly clock: Clock
  readonly signal?: AbortSignal | undefined
  /** Begins a sentence: `Claiming the head`. */
  readonly what: string
}

/** The error that tells why a task failed. */
export function failureOf(
  outcome: Exclude<HeadOutcome, { readonly kind: "done" }>,
  { place, lease, headWriter, clock, signal, what }: FailedTask,
): LockError {
  switch (outcome.kind) {
    case "rejected":
      return rejected(place)
    case "unknown":
      return unknownFate(place, "it was sent, and what stands in the store doesn't tell", headWriter.trouble)
    case "lost":
      return lossOf(lease, clock.read().wall)
    case "cancelled":
      return cancelled(place.lockKey, signal)
    case "timeout":
      return notReached(place, what, headWriter.trouble)
    case "failed":
    case "unusable":
      return headWriter.trouble ?? notReached(place, what)
  }
}
