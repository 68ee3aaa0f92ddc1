/** How an outcome of the head protocol, or a budget that ended before one, is told to a caller: as a typed error. */
import type { LockError } from "../../locks/api/errors.ts"
import type { Lease } from "../../locks/api/lock.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import type { Outcome } from "./head/types.ts"
import type { HeadWriter } from "./head/writer.ts"
import { cancelled, lossOf, notReached, type Place, rejected, unknownFate } from "./objects/problems.ts"

/** Whose wish it was. */
export interface Wisher {
  readonly place: Place
  readonly lease: Lease
  readonly headWriter: HeadWriter
  readonly clock: Clock
  readonly signal?: AbortSignal | undefined
  /** Begins a sentence: `Claiming the head`. */
  readonly what: string
}

/** Why a wish came to nothing. */
export function failureOf(
  outcome: Exclude<Outcome, { readonly kind: "done" }>,
  { place, lease, headWriter, clock, signal, what }: Wisher,
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
