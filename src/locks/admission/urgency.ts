/**
 * How urgent what a key's protocol wants to send is (admission.ts), and which of one urgency goes first: of renewals that of
 * the lease which ends first, of all else that of the attempt which began first.
 */
import { deadlineOf } from "../protocol/rules/authority.ts"
import type { Due, Hold, LockState, Phase } from "../protocol/rules/state.ts"
import { sameGroups } from "../record.ts"
import type { Place, Urgency } from "./admission.ts"

/** A release goes before the renewals of leases that last longer than this, in ms: somebody waits, or it is one renewal less. */
const RELEASE_MS = 5000

/** The place of what is due in a state. */
export function placeOf(due: Due, state: LockState, now: number): Place {
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
 * A renewal is due when a third of the lease is over, and keeps it when a third is left: where the store is busy others go
 * first until then. What somebody waits for, or what is to tell the fate of a renewal, isn't put off.
 */
function ofOwner({ act, at }: Due, hold: Hold, { config }: LockState, now: number): Place {
  // To read is to look for a waiter, unless a renewal can't do without.
  const looks = act === "read" && hold.readBackAt === undefined && hold.renewAt.mono > at.mono
  if (looks) return { urgency: "look", by: at.mono }
  const by = deadlineOf(hold).mono
  const urgentFrom = by - config.ttl / 3
  const isEarly = act === "renew" && now < urgentFrom && !hold.degraded && !hold.suspect
  const isAwaited = hold.raising !== undefined || !sameGroups(hold.named, hold.groups)
  return isEarly && !isAwaited ? { urgency: "renew", by, urgentFrom, end: by } : { urgency: "keep", by, end: by }
}

/** A first look is part of a claim, and so is one that is to tell what became of a claim. */
function ofAttempt(
  { act }: Due,
  { polls, waiting }: Extract<Phase, { name: "seeking" }>,
  { sent }: LockState,
): Urgency {
  if (act === "mark") return "mark"
  const looks = act === "read" && (waiting || polls > 0) && !sent.some((write) => write.act === "claim")
  return looks ? "look" : "claim"
}
