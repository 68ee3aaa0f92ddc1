/**
 * The end of an attempt (rule 8): it is over only when an answer shows that neither half is mine and that nothing of it
 * can still land. The caller is told by then, or when its budget or its patience is over; the rest happens behind it.
 */
import type { LockError } from "../api/errors.ts"
import { lacksRoom } from "../stores/room.ts"
import { type PhaseRules, unchanged } from "./phases.ts"
import { eraseBody, knownPast, leaveBody, liveOwner, type Pen, type Written } from "./record-writes.ts"
import { abandon, backoff, leaversTurn, ownersTurn } from "./request.ts"
import { budgetEnd } from "./rules/budget.ts"
import { isMine, ownerStanding, waiterStanding } from "./rules/standing.ts"
import type { Attempt, Clearing, Draft, Idle, Phase, PhaseActs, SentWrite, View } from "./rules/state.ts"
import { earlier, instant, type Instant, past, plus } from "./rules/time.ts"

/** After an attempt. */
export const clearing: PhaseRules<"clearing"> = {
  expire,
  told: unchanged,
  saw,
  wrote: (draft: Draft, phase: Clearing, _: SentWrite, view: View): Phase => saw(draft, phase, view),
  failed: again,
  unsure: again,
  conclude: unchanged,
  due: (_, phase) => phase.next,
  expiries: (_, { error, settleBy, until }) => [error === undefined ? undefined : settleBy, until],
  compose,
  sent: unchanged,
}

/** The longest that a caller waits for the clearing, in milliseconds, its budget allowing. */
const PATIENCE = 5000
/** After this the rest is left to run out by itself. In milliseconds. */
const LIMIT = 30_000

/** Ends an attempt. A caller whose time is over is told at once. */
export function beginClearing(draft: Draft, attempt: Attempt, error: LockError): Phase {
  if (draft.flight?.act === "read") abandon(draft)
  const at = instant(draft.now)
  const patience = plus(at, PATIENCE)
  const phase: Clearing = {
    name: "clearing",
    attempt,
    next: { act: "read", at },
    error,
    settleBy: earlier(patience, budgetEnd(attempt) ?? patience),
    until: plus(at, LIMIT),
    failures: 0,
  }
  const traceless = draft.flight === undefined && draft.sent.length === 0 && !shown(draft, attempt, draft.view)
  return traceless ? done(draft, phase) : expire(draft, phase)
}

/** Tells the caller, and gives up, each at its time. */
function expire(draft: Draft, phase: Clearing): Phase {
  const told = past(phase.settleBy, draft.now) ? tell(draft, phase) : phase
  return past(told.until, draft.now) ? done(draft, told) : told
}

/** A version was read or written: erase my halves in it, and burn my writes that may still land on it. */
function saw(draft: Draft, phase: Clearing, view: View): Phase {
  const { nonce } = phase.attempt
  // A record that needs what I don't know is not mine to write.
  if ((view.record?.needs.length ?? 0) > 0) return done(draft, phase)
  const owner = ownerStanding(view.record, draft, nonce)
  const waiter = waiterStanding(view.record, draft, nonce)
  // A dead half is of an earlier attempt: nobody else may free it before it runs out.
  const owns = owner === "mine" || owner === "stripped" || owner === "dead"
  if (owns) return next(phase, "leave", ownersTurn(draft, instant(draft.now)))
  if (waiter === "mine" || waiter === "stripped" || isInLine(draft, view))
    return next(phase, "erase", leaversTurn(draft))
  if (mayLand(draft)) return next(phase, "erase", burnTurn(draft, view))
  return done(draft, phase)
}

/** Nothing was learned: try again, where that can help. */
function again(draft: Draft, phase: Clearing, error: LockError | undefined): Phase {
  if (error !== undefined && !error.retryable) return done(draft, phase)
  // The caller that waits for it may be the one that has to make room.
  const told = error !== undefined && lacksRoom(error) ? tell(draft, phase) : phase
  const wait = error === undefined ? 0 : backoff(draft, phase.failures)
  return { ...told, next: { act: "read", at: plus(draft.now, wait) }, failures: phase.failures + 1 }
}

/** What a cancelled attempt came to own is left under the token that the record shows. */
function compose(draft: Draft, phase: Clearing, act: PhaseActs["clearing"], view: View, pen: Pen): Written {
  if (act === "erase") return eraseBody(draft, view.record, pen)
  const token = view.record?.owner?.token ?? 0
  return leaveBody(draft, view, { token, note: undefined, past: knownPast(draft, view, phase.attempt.nonce) }, pen)
}

function shown(draft: Draft, attempt: Attempt, view: View | undefined): boolean {
  const owner = ownerStanding(view?.record, draft, attempt.nonce)
  return owner === "mine" || waiterStanding(view?.record, draft, attempt.nonce) === "mine" || isInLine(draft, view)
}

/** An entry of mine: of this attempt, or of one that is over. */
const isInLine = (draft: Draft, view: View | undefined): boolean =>
  view?.record?.line.some((entry) => isMine(entry, draft)) === true

/** What burns a write in flight is a write like any other: a live owner goes first. */
const burnTurn = (draft: Draft, view: View): Instant =>
  liveOwner(draft, view) ? leaversTurn(draft) : ownersTurn(draft, instant(draft.now))

const mayLand = (draft: Draft): boolean => draft.sent.some(({ act }) => act === "claim" || act === "mark")

const next = (phase: Clearing, act: PhaseActs["clearing"], at: Instant): Clearing => ({ ...phase, next: { act, at } })

/** The caller is told once. */
function tell(draft: Draft, phase: Clearing): Clearing {
  if (phase.error === undefined) return phase
  draft.events.push({ type: "GaveUp", error: phase.error })
  return { ...phase, error: undefined }
}

/** The attempt is over, and nothing of it is sent any more. */
function done(draft: Draft, phase: Clearing): Idle {
  tell(draft, phase)
  abandon(draft)
  draft.sent = []
  return { name: "idle" }
}
