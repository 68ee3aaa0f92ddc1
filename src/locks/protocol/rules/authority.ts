/**
 * Until when this process may act (rules 4 and 5). Authority is a set of bounds of which the earliest counts; it is
 * counted from when a request was sent, on whichever of my clocks runs ahead, and a read can only lower it.
 */
import type { Bound, Draft, Hold, LockState, SentWrite, View } from "./state.ts"
import { diverged, earlier, elapsed, type Instant, type Now, past, plus } from "./time.ts"

/** The earliest bound. */
export const deadlineOf = (hold: Hold): Instant =>
  hold.bounds.map((bound) => bound.deadline).reduce((a, b) => earlier(a, b))

/** Milliseconds left, negative once over. */
export const remaining = (hold: Hold, now: Now): number => -elapsed(deadlineOf(hold), now)

/** Whether the holder may act now: by time and by agreement of the clocks, never by a flag alone. */
export function isHeld(state: Pick<LockState, "phase" | "sense">, now: Now): boolean {
  if (state.phase.name !== "owning" || state.phase.hold.suspect) return false
  return !diverged(state.sense, now) && !past(deadlineOf(state.phase.hold), now)
}

/**
 * What a view of my half grants: from when its request was sent, for as long as the store's own time leaves. Never longer
 * than my ttl: a grant may leave more, and my first renewal then shortens the record before I know that it landed.
 */
export function shownBound(draft: Draft, view: View): Bound | undefined {
  const { record, sentAt, storeTime } = view
  if (record === undefined || storeTime === undefined || clockless(draft, view)) return undefined
  const { ttl, guard } = draft.config
  return lease(plus(sentAt, Math.min(record.expiresAt - storeTime, ttl) - guard))
}

/** What a write of mine grants that is known to have landed: at most its ttl from when it was first sent. */
export function writtenBound(draft: Draft, sent: SentWrite, view: View | undefined): Bound {
  const own = lease(plus(sent.firstSend, sent.life - draft.config.guard))
  const shown = view && shownBound(draft, view)
  return shown === undefined ? own : lower(own, shown)
}

/** The lower of two bounds of one source. */
export const lower = (a: Bound, b: Bound): Bound => lease(earlier(a.deadline, b.deadline))

const lease = (deadline: Instant): Bound => ({ source: "lease", deadline })

/** Whether the store's time says nothing about this half: it was stamped by another host's clock, or by none. */
function clockless(draft: Draft, view: View): boolean {
  const { clock, bootId } = draft.config
  return clock === "none" || (bootId !== null && view.record?.owner?.host?.bootId !== bootId)
}
