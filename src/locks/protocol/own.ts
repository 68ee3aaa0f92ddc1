/**
 * Owning (rules 4, 5, 9): renewal at a third of the ttl, a look for a waiter in between, and what ends an ownership
 * against its will. How it ends by will is leave.ts's.
 */
import { type LockError, LockLostError, type LossReason } from "../api/errors.ts"
import { needsError, ownerOf, sameGroups } from "../record.ts"
import { liveWaiter, tokenOf } from "./record-writes.ts"
import { abandon, backoff, ownersTurn, ownersTurnSurely } from "./request.ts"
import { deadlineOf, lower, remaining, shownBound, writtenBound } from "./rules/authority.ts"
import { ownerStanding } from "./rules/standing.ts"
import type { Attempt, Bound, Draft, Due, Hold, LockState, Phase, SentWrite, View } from "./rules/state.ts"
import { earlier, instant, type Instant, later, type Now, past, plus, renewalAfter } from "./rules/time.ts"

type Owning = Extract<Phase, { name: "owning" }>

/** Waiters passed on are remembered, so that none is passed on twice; the oldest are forgotten. */
const REMEMBERED_WAITERS = 64

/** An ownership is brief before this, in spacings: its first renewal has come by then, and all the time that others have to ask. */
const BRIEF = 5

/** The key is mine from here. `note` is what its former owner left for me. */
export function beginOwning(
  draft: Draft,
  attempt: Attempt,
  view: View,
  {
    how,
    bound,
    note,
    named,
    waited,
  }: Pick<Hold, "how"> & {
    readonly bound: Bound
    readonly note?: string | undefined
    readonly named?: readonly number[] | undefined
    readonly waited: boolean
  },
): void {
  const { now, config } = draft
  const token = view.record?.owner?.token ?? 0
  const hold: Hold = {
    nonce: attempt.nonce,
    token,
    raising: undefined,
    how,
    bounds: [bound],
    renewAt: plus(earlier(now, beginOf(bound, draft)), renewEvery(draft)),
    watchAt: plus(now, config.watchEvery),
    readBackAt: undefined,
    failures: 0,
    degraded: false,
    suspect: false,
    tenureUntil: attempt.minTenure === undefined ? undefined : plus(now, attempt.minTenure),
    brieflyUntil: waited && config.spacing > 0 ? plus(now, BRIEF * config.spacing) : undefined,
    signalled: [],
    ended: view.record?.ended,
    past: view.record?.past ?? [],
    trace: "none",
    opId: view.record?.owner?.opId,
    isAsked: false,
    note,
    stateVersion: attempt.stateVersion,
    since: view.record?.owner?.since,
    groups: attempt.groups ?? [],
    named: named ?? [],
    expiring: false,
  }
  draft.phase = { name: "owning", hold: hurried(draft, hold) }
  draft.events.push({ type: "Acquired", token, deadline: wallDeadline(hold, now), how })
}

/** What an owner does next, and when. A look for a waiter never stands in the way of a renewal. */
export function planOwning(state: LockState, hold: Hold, now: Now): Due | undefined {
  if (hold.expiring) return undefined
  if (hold.readBackAt !== undefined) return { act: "read", at: hold.readBackAt }
  const renew: Due = { act: "renew", at: renewalTurn(state, hold) }
  const looking = state.flight?.act === "read"
  const renewFirst = looking || past(renew.at, now) || renew.at.mono <= hold.watchAt.mono
  return renewFirst ? renew : { act: "read", at: hold.watchAt }
}

/** Loses what is past its deadline; suspects what the clocks no longer vouch for. */
export function expireOwning(draft: Draft, phase: Owning, jumped: boolean): void {
  if (past(deadlineOf(phase.hold), draft.now)) return lose(draft, phase.hold, "expired")
  if (!jumped) return
  const hold = { ...phase.hold, suspect: true, renewAt: instant(draft.now) }
  draft.phase = { name: "owning", hold }
  tell(draft, "Suspect", hold)
}

/** Without hurry it keeps its distance from the last write for sure; shortly before the end it risks to come early. */
function renewalTurn(state: LockState, hold: Hold): Instant {
  const urgent = plus(deadlineOf(hold), -1.5 * state.config.spacing)
  return earlier(ownersTurnSurely(state, hold.renewAt), later(ownersTurn(state, hold.renewAt), urgent))
}

/** The holder asks for a renewal that is written from now on, perhaps with a greater token: one under way doesn't count. */
export function forceRenewal(draft: Draft, phase: Owning, tokenAbove: number | undefined): void {
  const { hold } = phase
  const raising = tokenAbove !== undefined && tokenAbove >= tokenOf(hold) ? tokenAbove + 1 : hold.raising
  const renewAt = earlier(hold.renewAt, instant(draft.now))
  draft.sent = draft.sent.map(({ isAsked: _, ...sent }) => sent)
  draft.phase = { name: "owning", hold: { ...hold, raising, isAsked: true, renewAt } }
}

/**
 * What another wrote for me says neither how long I mean to stay nor where I am: I write that at once, and only after whoever
 * waits for the key has been told.
 */
export function renewAfterGrant(draft: Draft, phase: Owning): void {
  draft.phase = { name: "owning", hold: { ...phase.hold, renewAt: plus(draft.now, 1) } }
}

/** From the next renewal on, which comes now, the record names these process groups. */
export function nameGroups(draft: Draft, phase: Owning, groups: readonly number[]): void {
  draft.phase = {
    name: "owning",
    hold: { ...phase.hold, groups, renewAt: earlier(phase.hold.renewAt, instant(draft.now)) },
  }
}

/** The record may have changed: a waiter is looked for now. */
export function lookForWaiter(draft: Draft, phase: Owning): void {
  const watchAt = earlier(phase.hold.watchAt, instant(draft.now))
  draft.phase = { name: "owning", hold: { ...phase.hold, watchAt } }
}

/** The tenure counts from now. */
export function stay(draft: Draft, phase: Owning, ms: number): void {
  draft.phase = { name: "owning", hold: { ...phase.hold, tenureUntil: plus(draft.now, ms) } }
}

/** No more renewals. */
export function leaveToExpire(draft: Draft, phase: Owning): void {
  draft.phase = { name: "owning", hold: { ...phase.hold, expiring: true, readBackAt: undefined } }
}

/** A renewal of mine was applied. */
export function ownerWrote(draft: Draft, phase: Owning, sent: SentWrite, view: View): void {
  const watched = { ...phase.hold, watchAt: plus(draft.now, draft.config.watchEvery) }
  renewed(draft, watched, sent, writtenBound(draft, sent, view))
}

/** The fate of a renewal is open; with an error it is a failed one. */
export function ownerUnsure(draft: Draft, phase: Owning, error: LockError | undefined): void {
  const readBackAt = plus(draft.now, error === undefined ? 0 : backoff(draft, phase.hold.failures))
  draft.phase = { name: "owning", hold: { ...phase.hold, readBackAt } }
  if (error !== undefined) degrade(draft, error)
}

/** The store had no room for a renewal just now: it comes again, and is no failure to a strict lock. */
export function ownerThrottled(draft: Draft, phase: Owning, error: LockError): void {
  const readBackAt = plus(draft.now, backoff(draft, phase.hold.failures))
  draft.phase = { name: "owning", hold: { ...phase.hold, readBackAt } }
  troubled(draft, error)
}

/** A read brought nothing. That is a failed renewal only where a renewal waits for it. */
export function ownerFailed(draft: Draft, phase: Owning, error: LockError): void {
  const { hold } = phase
  if (error._tag === "CorruptRecordError") return lose(draft, hold, "corrupt", error)
  const again = plus(draft.now, backoff(draft, hold.failures))
  if (hold.readBackAt !== undefined) draft.phase = { name: "owning", hold: { ...hold, readBackAt: again } }
  else if (past(hold.renewAt, draft.now)) draft.phase = { name: "owning", hold: { ...hold, renewAt: again } }
  else {
    draft.phase = { name: "owning", hold: { ...hold, watchAt: again } }
    return
  }
  degrade(draft, error)
}

/** A read showed a version: still mine, or lost. */
export function ownerSaw(draft: Draft, phase: Owning, view: View, landed: SentWrite | undefined): void {
  const hold = looked(draft, phase.hold)
  const { record } = view
  if (record !== undefined && record.needs.length > 0) {
    return lose(draft, hold, "taken", needsError(draft.config.key, record))
  }
  switch (ownerStanding(record, draft, hold.nonce)) {
    case "mine":
      return stillMine(draft, hold, view, landed)
    case "stripped":
      draft.phase = { name: "owning", hold: { ...hold, readBackAt: undefined, renewAt: instant(draft.now) } }
      return
    case "absent":
      return lose(draft, hold, "deleted")
    case "free":
      return lose(draft, hold, "released")
    case "dead":
    case "twin":
    case "other":
      return lose(draft, hold, "taken")
  }
}

/** Passes a live waiter on, once, when the tenure allows. */
export function signalWaiter(draft: Draft, phase: Owning): void {
  const { hold } = phase
  const { tenureUntil } = hold
  if (draft.view === undefined || hold.expiring || tenureUntil === undefined || !past(tenureUntil, draft.now)) return
  const waiter = unsignalled(draft, hold, draft.view)
  if (waiter === undefined) return
  const signalled = [...hold.signalled, waiter.name].slice(-REMEMBERED_WAITERS)
  draft.phase = { name: "owning", hold: { ...hold, signalled } }
  draft.events.push({ type: "ReleaseRequested", token: hold.token, waiterId: waiter.id })
}

/** When a waiter that is known already will have to be passed on. */
export function signalDue(state: LockState, hold: Hold): Instant | undefined {
  return state.view?.record?.waitingOwnerId == null ? undefined : hold.tenureUntil
}

/** A stranger has no nonce: it counts as the same waiter until it is gone. */
function looked(draft: Draft, hold: Hold): Hold {
  const here = `id:${draft.view?.record?.waitingOwnerId ?? ""}`
  const signalled = hold.signalled.filter((name) => !name.startsWith("id:") || name === here)
  return { ...hold, signalled, watchAt: plus(draft.now, draft.config.watchEvery) }
}

/** A half of mine that is older than the last one known was brought back, by a late copy of its create: it is no longer mine. */
function stillMine(draft: Draft, hold: Hold, view: View, landed: SentWrite | undefined): void {
  if (landed?.act === "renew") return renewed(draft, hold, landed, writtenBound(draft, landed, view))
  if (view.record?.owner?.opId !== hold.opId) return lose(draft, hold, "deleted")
  const shown = shownBound(draft, view)
  const bounds = hold.bounds.map((bound) => (shown === undefined ? bound : lower(bound, shown)))
  const next = { ...hold, bounds, readBackAt: undefined }
  if (past(deadlineOf(next), draft.now)) return lose(draft, next, "expired") // before a renewal is sent for nothing
  draft.phase = { name: "owning", hold: hurried(draft, next) }
}

/** Only a renewal that was first sent after the clocks last diverged ends suspicion; an earlier one tells its deadline. */
function renewed(draft: Draft, hold: Hold, sent: SentWrite, bound: Bound): void {
  const recovered = hold.degraded || hold.suspect
  const next: Hold = {
    ...hold,
    token: sent.token ?? hold.token,
    raising: hold.raising === sent.token ? undefined : hold.raising,
    opId: sent.opId,
    isAsked: hold.isAsked && sent.isAsked !== true,
    named: sent.groups ?? hold.named,
    bounds: [bound],
    renewAt: plus(sent.firstSend, renewEvery(draft)),
    readBackAt: undefined,
    failures: 0,
    degraded: false,
    suspect: hold.suspect && sent.epoch !== draft.sense.epoch,
  }
  draft.phase = { name: "owning", hold: hurried(draft, next) }
  if (past(bound.deadline, draft.now)) return lose(draft, next, "expired")
  tell(draft, next.suspect ? "Suspect" : recovered ? "Recovered" : "Renewed", next)
}

/** Under half a ttl left, or still in doubt, asked for, to be raised, or to name process groups: renew at once. */
function hurried(draft: Draft, hold: Hold): Hold {
  const left = remaining(hold, draft.now) + draft.config.guard
  const asked = hold.isAsked || hold.raising !== undefined || !sameGroups(hold.named, hold.groups)
  const late = left * 2 < draft.config.ttl || hold.suspect || asked
  return late ? { ...hold, renewAt: earlier(hold.renewAt, instant(draft.now)) } : hold
}

function degrade(draft: Draft, error: LockError): void {
  const { hold } = draft.phase as Owning
  if (draft.config.strict) return lose(draft, hold, "strict", error)
  troubled(draft, error)
}

function troubled(draft: Draft, error: LockError): void {
  const { hold } = draft.phase as Owning
  const next = { ...hold, degraded: true, failures: hold.failures + 1 }
  draft.phase = { name: "owning", hold: next }
  tell(draft, "Degraded", next, error)
}

function lose(draft: Draft, hold: Hold, reason: LossReason, cause?: LockError): void {
  const { config, now, view } = draft
  abandon(draft)
  draft.sent = []
  draft.phase = { name: "idle" }
  const error = new LockLostError({
    key: config.key,
    owner: ownerOf(view?.record),
    reason,
    since: Math.min(now.wall, wallDeadline(hold, now)),
    cause,
    message: `The lease on ${JSON.stringify(config.key)} was lost: ${why[reason]}`,
    next: "Stop what was done under it; what reached others since then is fenced by the token alone",
  })
  draft.events.push({ type: "Lost", token: hold.token, error })
}

const why: Readonly<Record<LossReason, string>> = {
  expired: "it was not renewed in time",
  taken: "another process owns the key",
  deleted: "its record is gone",
  released: "its record says released",
  corrupt: "its record was overwritten",
  strict: `a renewal failed under renewal: "strict"`,
}

function unsignalled(draft: Draft, hold: Hold, view: View): ReturnType<typeof liveWaiter> {
  const waiter = liveWaiter(draft, view)
  return waiter === undefined || hold.signalled.includes(waiter.name) ? undefined : waiter
}

/** From when a bound counts: a claim that took several tries is older than the answer that brought it. */
const beginOf = (bound: Bound, { config }: Draft): Instant => plus(bound.deadline, config.guard - config.ttl)

const renewEvery = ({ config, now }: Draft): number => renewalAfter(config.ttl, now.draw)

const wallDeadline = (hold: Hold, now: Now): number => Math.round(now.wall + remaining(hold, now))

function tell(
  draft: Draft,
  type: "Renewed" | "Recovered" | "Degraded" | "Suspect",
  hold: Hold,
  error?: LockError,
): void {
  const what = { token: hold.token, deadline: wallDeadline(hold, draft.now) }
  if (type === "Renewed" || type === "Recovered") draft.events.push({ type, ...what })
  else draft.events.push({ type, ...what, ...(error && { error }) })
}
