/**
 * The end of an attempt (rule 8): it is over only when an answer shows that neither half is mine and that nothing of it
 * can still land. The caller is told by then, or when its budget or its patience is over; the rest happens behind it.
 */
import type { LockError } from "../api/errors.ts"
import { lacksRoom } from "../stores/room.ts"
import { liveOwner } from "./record-writes.ts"
import { abandon, backoff, leaversTurn, ownersTurn } from "./request.ts"
import { budgetEnd } from "./rules/budget.ts"
import { isMine, ownerStanding, waiterStanding } from "./rules/standing.ts"
import type { Act, Attempt, Draft, Phase, View } from "./rules/state.ts"
import { earlier, instant, type Instant, past, plus } from "./rules/time.ts"

type Clearing = Extract<Phase, { name: "clearing" }>

/** The longest that a caller waits for the clearing, in milliseconds, its budget allowing. */
const PATIENCE = 5000
/** After this the rest is left to run out by itself. */
const LIMIT = 30_000

/** Ends an attempt. A caller whose time is over is told at once. */
export function beginClearing(draft: Draft, attempt: Attempt, error: LockError): void {
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
  draft.phase = phase
  const traceless = draft.flight === undefined && draft.sent.length === 0 && !shown(draft, attempt, draft.view)
  if (traceless) done(draft)
  else expireClearing(draft, phase)
}

/** Tells the caller, and gives up, each at its time. */
export function expireClearing(draft: Draft, phase: Clearing): void {
  if (past(phase.settleBy, draft.now)) tell(draft)
  if (past(phase.until, draft.now)) done(draft)
}

/** A version was read or written: erase what is mine in it, burn what may still land on it. */
export function clearingSaw(draft: Draft, phase: Clearing, view: View): void {
  const { nonce } = phase.attempt
  // A record that needs what I don't know is not mine to write.
  if ((view.record?.needs.length ?? 0) > 0) return done(draft)
  const owner = ownerStanding(view.record, draft, nonce)
  const waiter = waiterStanding(view.record, draft, nonce)
  // A dead half is of an earlier attempt: nobody else may free it before it runs out.
  const owns = owner === "mine" || owner === "stripped" || owner === "dead"
  if (owns) return next(draft, "leave", ownersTurn(draft, instant(draft.now)))
  if (waiter === "mine" || waiter === "stripped" || isInLine(draft, view))
    return next(draft, "erase", leaversTurn(draft))
  if (mayLand(draft)) return next(draft, "erase", burnTurn(draft, view))
  done(draft)
}

/** Nothing was learned: try again, where that can help. */
export function clearingFailed(draft: Draft, phase: Clearing, error: LockError | undefined): void {
  if (error !== undefined && !error.retryable) return done(draft)
  if (error !== undefined && lacksRoom(error)) tell(draft) // whoever waits for it may be who has to make room
  const wait = error === undefined ? 0 : backoff(draft, phase.failures)
  draft.phase = {
    ...(draft.phase as Clearing),
    next: { act: "read", at: plus(draft.now, wait) },
    failures: phase.failures + 1,
  }
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

function next(draft: Draft, act: Act, at: Instant): void {
  draft.phase = { ...(draft.phase as Clearing), next: { act, at } }
}

function tell(draft: Draft): void {
  const phase = draft.phase as Clearing
  if (phase.error === undefined) return
  draft.events.push({ type: "GaveUp", error: phase.error })
  draft.phase = { ...phase, error: undefined }
}

function done(draft: Draft): void {
  tell(draft)
  abandon(draft)
  draft.sent = []
  draft.phase = { name: "idle" }
}
