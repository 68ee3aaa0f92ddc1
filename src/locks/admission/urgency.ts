/**
 * The place of a key's request at the admission (admission.ts): how urgent it is, and what orders it among equals.
 * Renewals are ordered by the end of their lease, all other requests by the start of their attempt.
 */
import { deadlineOf } from "../protocol/rules/authority.ts"
import type { Due, Hold, LockState, Phase } from "../protocol/rules/state.ts"
import { sameGroups } from "../record.ts"
import type { AdmissionPlace, Urgency } from "./admission.ts"

/**
 * A release goes before renewals of leases that last longer than this, in ms: a waiter is served, or a renewal spared.
 */
const RELEASE_MS = 5000

/** The place of the request that is due in a state. */
export function placeOf(due: Due, state: LockState, now: number): AdmissionPlace {
  const { phase } = state
  switch (phase.name) {
    case "owning":
      return ofOwner(due, phase.hold, state, now)
    case "leaving":
      return { urgency: "keep", by: Math.min(deadlineOf(phase.hold).mono, due.at.mono + RELEASE_MS) }
    case "seeking":
      return { urgency: ofAttempt(due, phase, state), by: phase.attempt.startedAt.mono }
    case "clearing":
      return { urgency: "claim", by: phase.attempt.startedAt.mono }
    case "idle":
      return { urgency: "look", by: due.at.mono }
  }
}

/**
 * A renewal is due when a third of the lease is over, and becomes as urgent as `keep` when a third is left: at a busy
 * store others go first until then. It is urgent at once where a caller waits for it, or where the one before failed or
 * is in doubt.
 */
function ofOwner({ act, at }: Due, hold: Hold, { config }: LockState, now: number): AdmissionPlace {
  // An owner reads to look for a waiter, unless a renewal needs the read.
  const looks = act === "read" && hold.readBackAt === undefined && hold.renewAt.mono > at.mono
  if (looks) return { urgency: "look", by: at.mono }
  const by = deadlineOf(hold).mono
  const urgentFrom = by - config.ttl / 3
  const isEarly = act === "renew" && now < urgentFrom && !hold.degraded && !hold.suspect
  const isAwaited = hold.raising !== undefined || !sameGroups(hold.named, hold.groups)
  return isEarly && !isAwaited ? { urgency: "renew", by, urgentFrom, end: by } : { urgency: "keep", by, end: by }
}

/** A first look is part of a claim, and so is a look that shows what became of a claim. */
function ofAttempt(
  { act }: Due,
  { polls, waiting }: Extract<Phase, { name: "seeking" }>,
  { sent }: LockState,
): Urgency {
  if (act === "mark") return "mark"
  const looks = act === "read" && (waiting || polls > 0) && !sent.some((write) => write.act === "claim")
  return looks ? "look" : "claim"
}
