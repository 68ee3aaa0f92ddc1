/**
 * Leaving by will (rules 10 and 11): local ownership ends first, then one write releases, grants or reserves. After it
 * was sent its sender never acts under that token again, whatever the answer; what became of it may stay unknown.
 */
import type { LockError } from "../api/errors.ts"
import type { ReleaseResult } from "../api/lock.ts"
import { LINE_LENGTH } from "../record.ts"
import { type PhaseRules, unchanged } from "./phases.ts"
import { leaveBody, leaveHow, pastAfter, type Pen, type Written } from "./record-writes.ts"
import { abandon, backoff, othersHaveAsked, ownersTurn, RELEASE_WITHIN } from "./request.ts"
import { deadlineOf } from "./rules/authority.ts"
import { ownerStanding } from "./rules/standing.ts"
import type { Draft, Due, Hold, Idle, LeaveHow, Leaving, Left, Phase, SentWrite, View } from "./rules/state.ts"
import { instant, type Instant, later, past, plus } from "./rules/time.ts"

/** As one that leaves. */
export const leaving: PhaseRules<"leaving"> = {
  expire,
  told: unchanged,
  saw,
  wrote,
  failed: again,
  unsure: again,
  conclude: unchanged,
  due,
  expiries: (_, { until }) => [until],
  compose,
  sent,
}

/** Ends the ownership here and now; the write follows. A read under way is no longer waited for, a write is. */
export function beginLeaving(draft: Draft, hold: Hold, note: string | undefined): Leaving {
  if (draft.flight?.act === "read") abandon(draft)
  const at = instant(draft.now)
  const unsure = hold.readBackAt !== undefined
  const begun = draft.flight !== undefined
  const until = plus(at, RELEASE_WITHIN)
  const window = unsure ? undefined : windowOf(draft, hold, 0)
  return {
    name: "leaving",
    hold,
    note,
    next: nextOf(draft, unsure ? at : window),
    windows: window === undefined ? 0 : 1,
    // Its first request may have to wait for its turn: worth the while as long as the lease lasts.
    until: begun ? until : later(until, deadlineOf(hold)),
    begun,
    opIds: [],
    failures: 0,
  }
}

/** Goes on with a leave that came to no end in its time: what became of it is seen first, and its time begins anew. */
export function leaveAgain(draft: Draft, { hold, note, opIds }: Left): Leaving {
  const at = instant(draft.now)
  const until = later(plus(at, RELEASE_WITHIN), deadlineOf(hold))
  return {
    ...{ name: "leaving", hold, note, opIds, until },
    next: { act: "read", at },
    windows: 1,
    begun: false,
    failures: 0,
  }
}

/** A look first, where one is due, and else the leave. */
const nextOf = (draft: Draft, look: Instant | undefined): Leaving["next"] =>
  look === undefined ? leaveNow(draft) : { act: "read", at: look }

const leaveNow = (draft: Draft): Leaving["next"] => ({ act: "leave", at: ownersTurn(draft, instant(draft.now)) })

/**
 * Until when others may ask (rule 13a). Where writes are spaced and owners in a hurry nobody else has time to write,
 * and the next owner would be anybody. An ownership that had to be waited for, and is brief, leaves time for one of
 * them. It leaves time for one more where that one was kept from asking for more than a turn, as there are many.
 */
function windowOf(draft: Draft, hold: Hold, windows: number): Instant | undefined {
  const { brieflyUntil, token } = hold
  if (brieflyUntil === undefined) return undefined
  const { waiter, line = [] } = draft.view?.record ?? {}
  const came = [waiter, ...line].filter((half) => (half?.joined ?? 0) >= token)
  const isLate = came.some((half) => half!.asked! < token)
  const isOver = windows > 0 || came.length > 0 || past(brieflyUntil, draft.now)
  if ((isOver && !isLate) || windows > 1 || came.length > 1 || line.length >= LINE_LENGTH) return undefined
  const until = othersHaveAsked(draft)
  const isTooLate = past(plus(deadlineOf(hold), -2 * draft.config.spacing), until)
  return isTooLate || past(until, draft.now) ? undefined : until
}

/** Where the store honours it and nobody waits, a delete is the leave. */
function due(draft: Draft, { next }: Leaving): Due<"read" | "leave" | "delete"> {
  const deletes = next.act === "leave" && draft.config.deletes && howToLeave(draft) === "release"
  return deletes ? { ...next, act: "delete" } : next
}

/** How the last known version asks to be left. */
const howToLeave = (draft: Draft): LeaveHow => (draft.view === undefined ? "release" : leaveHow(draft, draft.view))

/** The token is that of the hold, or of a raise that landed unnoticed. */
function compose(draft: Draft, { hold, note }: Leaving, act: "leave" | "delete", view: View, pen: Pen): Written {
  if (act === "delete") return { opId: pen.opId, body: "", says: {}, life: Infinity, how: "release" }
  const token = Math.max(hold.token, view.record?.owner?.token ?? 0)
  return leaveBody(draft, view, { token, note, past: pastAfter(hold) }, pen)
}

/** The time for it counts from the first request. */
function sent({ now }: Draft, phase: Leaving, opId: string | undefined): Leaving {
  const opIds = opId === undefined ? phase.opIds : [...phase.opIds, opId]
  return phase.begun ? { ...phase, opIds } : { ...phase, opIds, begun: true, until: plus(now, RELEASE_WITHIN) }
}

/** Nobody can tell yet: the lease may stand until it runs out. */
function expire(draft: Draft, phase: Leaving): Phase {
  if (!past(phase.until, draft.now)) return phase
  const { hold, note, opIds } = phase
  return { ...finish(draft, phase, "unknown"), left: { hold, note, opIds } }
}

/** A write was applied: a renewal that was still under way, or the leave. */
function wrote(draft: Draft, phase: Leaving, { act, how }: SentWrite, view: View): Phase {
  if (act === "leave" || act === "delete") return left(draft, phase, how ?? "release", view)
  return { ...phase, next: leaveNow(draft) }
}

/** Nothing was learned, or the fate of the write is open: look. */
function again(draft: Draft, phase: Leaving, error: LockError | undefined): Leaving {
  const wait = error === undefined ? 0 : backoff(draft, phase.failures)
  return { ...phase, next: { act: "read", at: plus(draft.now, wait) }, failures: phase.failures + 1 }
}

/** A version was read: still to be left, or left, or past telling. */
function saw(draft: Draft, phase: Leaving, view: View): Phase {
  const { record } = view
  if (record !== undefined && record.needs.length > 0) return finish(draft, phase, fate(phase))
  const by = record?.lastRelease?.by
  if (by !== undefined && phase.opIds.includes(by)) return left(draft, phase, howOf(record?.lastRelease?.how), view)
  switch (ownerStanding(record, draft, phase.hold.nonce)) {
    case "mine":
    case "stripped": {
      const window = windowOf(draft, phase.hold, phase.windows)
      return { ...phase, next: nextOf(draft, window), windows: phase.windows + (window === undefined ? 0 : 1) }
    }
    case "absent":
      return finish(draft, phase, draft.config.deletes && phase.opIds.length > 0 ? "released" : fate(phase))
    case "free":
    case "dead":
    case "twin":
    case "other":
      return finish(draft, phase, fate(phase))
  }
}

/** Another process moved the key on: after my write was sent, nobody can tell whether it came before. */
const fate = (phase: Leaving): ReleaseResult => (phase.opIds.length === 0 ? "alreadyLost" : "unknown")

const howOf = (how: string | undefined): LeaveHow => (how === "grant" || how === "reserve" ? how : "release")

function left(draft: Draft, phase: Leaving, how: LeaveHow, view: View): Idle {
  const waiterId = how === "grant" ? view.record?.ownerId : view.record?.waitingOwnerId
  if (how !== "release" && waiterId != null) {
    draft.events.push({ type: "Granted", token: phase.hold.token, waiterId, how })
  }
  return finish(draft, phase, "released")
}

/** The leave is over, and nothing of it is sent any more. */
export function finish(draft: Draft, { hold }: Pick<Leaving, "hold">, result: ReleaseResult): Idle {
  abandon(draft)
  draft.sent = []
  draft.events.push({ type: "Released", token: hold.token, result })
  return { name: "idle" }
}
