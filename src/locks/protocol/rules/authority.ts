/**
 * Until when this process may act (rules 4 and 5). A deadline is counted from when a request was sent, on whichever of
 * my clocks runs ahead, and a read can only make it earlier.
 *
 * Not promised: that the store still names this process. Only the deadline says when another may own the key.
 */
import type { Draft, Hold, LockState, SentWrite, View } from "./state.ts"
import { diverged, earlier, elapsed, type Instant, type Now, past, plus } from "./time.ts"

/**
 * When the right to act ends. A heartbeat per process (`OwnerHalf.process`) would end it earlier, here and nowhere
 * else.
 */
export const deadlineOf = (hold: Hold): Instant => hold.deadline

/** Milliseconds left, negative once over. */
export const remaining = (hold: Hold, now: Now): number => -elapsed(deadlineOf(hold), now)

/** Whether the holder may act now: by time and by agreement of the clocks, never by a flag alone. */
export function isHeld(state: Pick<LockState, "phase" | "sense">, now: Now): boolean {
  if (state.phase.name !== "owning" || state.phase.hold.suspect) return false
  return !diverged(state.sense, now) && !past(deadlineOf(state.phase.hold), now)
}

/**
 * The deadline that a view of my half shows: from when its request was sent, for as long as the store's own time
 * leaves. Never longer than my ttl: a grant may leave more, and my first renewal then shortens the record before I know
 * that it landed.
 */
export function shownDeadline(draft: Draft, view: View): Instant | undefined {
  const { record, sentAt, storeTime } = view
  if (record === undefined || storeTime === undefined || clockless(draft, view)) return undefined
  const { ttl, guard } = draft.config
  return plus(sentAt, Math.min(record.expiresAt - storeTime, ttl) - guard)
}

/** The deadline after a write of mine that is known to have landed: at most its ttl from when it was first sent. */
export function writtenDeadline(draft: Draft, sent: SentWrite, view: View): Instant {
  const own = plus(sent.firstSend, sent.life - draft.config.guard)
  const shown = shownDeadline(draft, view)
  return shown === undefined ? own : earlier(own, shown)
}

/** Whether the store's time says nothing about this half: it was stamped by another host's clock, or by none. */
function clockless(draft: Draft, view: View): boolean {
  const { clock, bootId } = draft.config
  return clock === "none" || (bootId !== null && view.record?.owner?.host?.bootId !== bootId)
}
