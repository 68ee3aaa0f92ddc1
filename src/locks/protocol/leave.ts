/**
 * Leaving by will (rules 10 and 11): local ownership ends first, then one write releases, grants or reserves. After it
 * was sent its sender never acts under that token again, whatever the answer; what became of it may stay unknown.
 */
import type { LockError } from "../api/errors.ts"
import type { ReleaseResult } from "../api/lock.ts"
import { LINE_LENGTH } from "../record.ts"
import { leaveHow } from "./record-writes.ts"
import { abandon, backoff, othersHaveAsked, ownersTurn, RELEASE_WITHIN } from "./request.ts"
import { deadlineOf } from "./rules/authority.ts"
import { ownerStanding } from "./rules/standing.ts"
import type { Draft, Due, Hold, LeaveHow, Left, Phase, SentWrite, View } from "./rules/state.ts"
import { instant, type Instant, later, past, plus } from "./rules/time.ts"

type Leaving = Extract<Phase, { name: "leaving" }>

/** Ends the ownership here and now; the write follows. A read under way is no longer waited for, a write is. */
export function beginLeaving(draft: Draft, hold: Hold, note: string | undefined): void {
  if (draft.flight?.act === "read") abandon(draft)
  const at = instant(draft.now)
  const unsure = hold.readBackAt !== undefined
  const begun = draft.flight !== undefined
  const until = plus(at, RELEASE_WITHIN)
  const window = unsure ? undefined : windowOf(draft, hold, 0)
  draft.phase = {
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
export function leaveAgain(draft: Draft, { hold, note, opIds }: Left): void {
  const at = instant(draft.now)
  const until = later(plus(at, RELEASE_WITHIN), deadlineOf(hold))
  draft.phase = {
    ...{ name: "leaving", hold, note, opIds, until },
    next: { act: "read", at },
    windows: 1,
    begun: false,
    failures: 0,
  }
}

/** A look first, where one is due, and else the leave. */
const nextOf = (draft: Draft, look: Instant | undefined): Due =>
  look === undefined ? { act: "leave", at: ownersTurn(draft, instant(draft.now)) } : { act: "read", at: look }

/**
 * Until when others may ask (rule 13a). Where writes are spaced and owners in a hurry nobody else has time to write, and the
 * next owner would be anybody. An ownership that had to be waited for, and is brief, leaves time for one of them; where that one
 * was kept from asking for more than a turn, as there are many, for one more.
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

/** What a leaver does next: where the store honours it and nobody waits, a delete does. */
export function planLeaving(draft: Pick<Draft, "config">, phase: Leaving, how: () => LeaveHow): Due {
  const deletes = phase.next.act === "leave" && draft.config.deletes && how() === "release"
  return deletes ? { ...phase.next, act: "delete" } : phase.next
}

/** How the last known version asks to be left. */
export const howToLeave = (draft: Draft): LeaveHow =>
  draft.view === undefined ? "release" : leaveHow(draft, draft.view)

/** Nobody can tell yet: the lease may stand until it runs out. */
export function expireLeaving(draft: Draft, phase: Leaving): void {
  if (!past(phase.until, draft.now)) return
  const { hold, note, opIds } = phase
  finish(draft, phase, "unknown")
  draft.phase = { name: "idle", left: { hold, note, opIds } }
}

/** A write was applied: a renewal that was still under way, or the leave. */
export function leaverWrote(draft: Draft, phase: Leaving, sent: SentWrite, view: View): void {
  if (sent.act === "leave" || sent.act === "delete") return left(draft, phase, sent.how ?? "release", view)
  draft.phase = { ...phase, next: { act: "leave", at: ownersTurn(draft, instant(draft.now)) } }
}

/** Nothing was learned, or the fate of the write is open: look. */
export function leaverUnsure(draft: Draft, phase: Leaving, error: LockError | undefined): void {
  const wait = error === undefined ? 0 : backoff(draft, phase.failures)
  draft.phase = { ...phase, next: { act: "read", at: plus(draft.now, wait) }, failures: phase.failures + 1 }
}

/** A version was read: still to be left, or left, or past telling. */
export function leaverSaw(draft: Draft, phase: Leaving, view: View): void {
  const { record } = view
  if (record !== undefined && record.needs.length > 0) return finish(draft, phase, fate(phase))
  const by = record?.ended?.by
  if (by !== undefined && phase.opIds.includes(by)) return left(draft, phase, howOf(record?.ended?.how), view)
  switch (ownerStanding(record, draft, phase.hold.nonce)) {
    case "mine":
    case "stripped": {
      const window = windowOf(draft, phase.hold, phase.windows)
      draft.phase = { ...phase, next: nextOf(draft, window), windows: phase.windows + (window === undefined ? 0 : 1) }
      return
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

/** Somebody else moved the key on: after my write was sent, nobody can tell whether it came before. */
const fate = (phase: Leaving): ReleaseResult => (phase.opIds.length === 0 ? "alreadyLost" : "unknown")

const howOf = (how: string | undefined): LeaveHow => (how === "grant" || how === "reserve" ? how : "release")

function left(draft: Draft, phase: Leaving, how: LeaveHow, view: View): void {
  const waiterId = how === "grant" ? view.record?.ownerId : view.record?.waitingOwnerId
  if (how !== "release" && waiterId != null) {
    draft.events.push({ type: "Granted", token: phase.hold.token, waiterId, how })
  }
  finish(draft, phase, "released")
}

function finish(draft: Draft, phase: Leaving, result: ReleaseResult): void {
  abandon(draft)
  draft.sent = []
  draft.phase = { name: "idle" }
  draft.events.push({ type: "Released", token: phase.hold.token, result })
}
