/**
 * Owning (rules 4, 5, 9): renewal at a third of the ttl, a look for a waiter in between, and how an ownership is lost.
 * How its holder ends it is leave.ts's.
 */
import { type LockError, LockLostError, type LossReason } from "../api/errors.ts"
import { needsError, NONE, ownerOf, sameGroups } from "../record.ts"
import { beginLeaving } from "./leave.ts"
import { type PhaseRules, unchanged } from "./phases.ts"
import { liveWaiter, renewBody, tokenOf } from "./record-writes.ts"
import { abandon, backoff, ownersTurn, ownersTurnSurely } from "./request.ts"
import { deadlineOf, remaining, shownDeadline, writtenDeadline } from "./rules/authority.ts"
import { ownerStanding } from "./rules/standing.ts"
import type {
  Attempt,
  Draft,
  Due,
  Hold,
  Idle,
  LockConfig,
  LockState,
  Owning,
  Phase,
  SentWrite,
  Told,
  View,
} from "./rules/state.ts"
import { earlier, instant, type Instant, later, type Now, past, plus, renewalAfter } from "./rules/time.ts"

/** As an owner. */
export const owning: PhaseRules<"owning"> = {
  expire,
  told,
  saw,
  wrote,
  failed,
  unsure,
  conclude: signalWaiter,
  due: (draft, { hold }) => next(draft, hold),
  expiries,
  compose: (draft, { hold }, _, view, pen) => renewBody(draft, view, hold, pen),
  sent: unchanged,
}

/** Waiters passed on are remembered, so that none is passed on twice; the oldest are forgotten. */
const REMEMBERED_WAITERS = 64

/**
 * An ownership is brief before this, in spacings: its first renewal has come by then, and all the time that others have
 * to ask.
 */
const BRIEF = 5

/** How an ownership came about. */
export interface Beginning extends Pick<Hold, "how" | "deadline"> {
  /** What the owner before left for this one. */
  readonly note?: string | undefined
  /** The process groups that the record names. */
  readonly named?: readonly number[] | undefined
  /** The key had another owner first. */
  readonly waited: boolean
}

/** The key is mine from here. */
export function beginOwning(draft: Draft, attempt: Attempt, view: View, beginning: Beginning): Owning {
  const { how, deadline, note, named, waited } = beginning
  const { now, config } = draft
  const token = view.record?.owner?.token ?? 0
  const hold: Hold = {
    nonce: attempt.nonce,
    token,
    raising: undefined,
    how,
    deadline,
    renewAt: plus(earlier(now, beginOf(deadline, draft)), renewEvery(draft)),
    watchAt: nextLook(draft),
    readBackAt: undefined,
    failures: 0,
    degraded: false,
    suspect: false,
    tenureUntil: attempt.minTenure === undefined ? undefined : plus(now, attempt.minTenure),
    brieflyUntil: waited && config.spacing > 0 ? plus(now, BRIEF * config.spacing) : undefined,
    signalled: NONE,
    lastRelease: view.record?.lastRelease,
    past: view.record?.past ?? NONE,
    trace: "none",
    opId: view.record?.owner?.opId,
    isAsked: false,
    note,
    stateVersion: attempt.stateVersion,
    since: view.record?.owner?.since,
    groups: attempt.groups ?? NONE,
    named: named ?? NONE,
    expiring: false,
  }
  draft.events.push({ type: "Acquired", token, deadline: wallDeadline(hold, now), how })
  return holding(hurried(draft, hold))
}

/**
 * A record that another wrote for me says neither how long I mean to stay nor where I am. I write that at once, but
 * only after those who wait for the key were told.
 */
export const renewAfterGrant = (draft: Draft, { hold }: Owning): Owning =>
  holding({ ...hold, renewAt: plus(draft.now, 1) })

const holding = (hold: Hold): Owning => ({ name: "owning", hold })

/** A look for a waiter never stands in the way of a renewal. */
function next(state: Draft, hold: Hold): Due<"read" | "renew"> | undefined {
  if (hold.expiring) return undefined
  if (hold.readBackAt !== undefined) return { act: "read", at: hold.readBackAt }
  const renew = { act: "renew", at: renewalTurn(state, hold) } as const
  const looking = state.flight?.act === "read"
  const renewFirst = looking || past(renew.at, state.now) || renew.at.mono <= hold.watchAt.mono
  return renewFirst ? renew : { act: "read", at: hold.watchAt }
}

/** Loses what is past its deadline; suspects what the clocks no longer vouch for. */
function expire(draft: Draft, phase: Owning, jumped: boolean): Phase {
  if (past(deadlineOf(phase.hold), draft.now)) return lose(draft, phase.hold, "expired")
  if (!jumped) return phase
  const hold = { ...phase.hold, suspect: true, renewAt: instant(draft.now) }
  tell(draft, "Suspect", hold)
  return holding(hold)
}

function expiries(state: LockState, { hold }: Owning, now: Now): readonly (Instant | undefined)[] {
  const signal = signalDue(state, hold)
  return [deadlineOf(hold), signal && past(signal, now) ? undefined : signal]
}

/** Without hurry it keeps its distance from the last write for sure; shortly before the end it risks to come early. */
function renewalTurn(state: Draft, hold: Hold): Instant {
  const urgent = plus(deadlineOf(hold), -1.5 * state.config.spacing)
  return earlier(ownersTurnSurely(state, hold.renewAt), later(ownersTurn(state, hold.renewAt), urgent))
}

function told(draft: Draft, phase: Owning, input: Told): Phase {
  const { hold } = phase
  switch (input.type) {
    case "renew":
      return forceRenewal(draft, hold, input.tokenAbove)
    case "nameGroups":
      // The next renewal names them, and comes now.
      return holding({ ...hold, groups: input.groups, renewAt: earlier(hold.renewAt, instant(draft.now)) })
    case "ring":
      return holding({ ...hold, watchAt: earlier(hold.watchAt, instant(draft.now)) })
    case "stay":
      return holding({ ...hold, tenureUntil: plus(draft.now, input.ms) })
    case "leaveToExpire":
      return holding({ ...hold, expiring: true, readBackAt: undefined })
    case "release":
      return beginLeaving(draft, hold, input.note)
    case "acquire":
    case "cancel":
      return phase
  }
}

/** Only a renewal that is written from now on is the one asked for. It may raise the token. */
function forceRenewal(draft: Draft, hold: Hold, tokenAbove: number | undefined): Owning {
  const raising = tokenAbove !== undefined && tokenAbove >= tokenOf(hold) ? tokenAbove + 1 : hold.raising
  const renewAt = earlier(hold.renewAt, instant(draft.now))
  draft.sent = draft.sent.map(({ isAsked: _, ...sent }) => sent)
  return holding({ ...hold, raising, isAsked: true, renewAt })
}

/** A renewal of mine was applied. */
function wrote(draft: Draft, phase: Owning, sent: SentWrite, view: View): Phase {
  return renewed(draft, { ...phase.hold, watchAt: nextLook(draft) }, sent, writtenDeadline(draft, sent, view))
}

/**
 * The fate of a renewal is open; with an error it is a failed one. Where the store had no room for it just now it comes
 * again, and is no failure to a strict lock.
 */
function unsure(draft: Draft, phase: Owning, error: LockError | undefined, throttled: boolean): Phase {
  const readBackAt = plus(draft.now, error === undefined ? 0 : backoff(draft, phase.hold.failures))
  const hold = { ...phase.hold, readBackAt }
  if (error === undefined) return holding(hold)
  return throttled ? troubled(draft, hold, error) : degrade(draft, hold, error)
}

/** A read brought nothing. That is a failed renewal only where a renewal waits for it. */
function failed(draft: Draft, { hold }: Owning, error: LockError): Phase {
  if (error._tag === "CorruptRecordError") return lose(draft, hold, "corrupt", error)
  const again = plus(draft.now, backoff(draft, hold.failures))
  if (hold.readBackAt !== undefined) return degrade(draft, { ...hold, readBackAt: again }, error)
  if (past(hold.renewAt, draft.now)) return degrade(draft, { ...hold, renewAt: again }, error)
  return holding({ ...hold, watchAt: again })
}

/** A read showed a version: still mine, or lost. */
function saw(draft: Draft, phase: Owning, view: View, landed: SentWrite | undefined): Phase {
  const hold = looked(draft, phase.hold)
  const { record } = view
  if (record !== undefined && record.needs.length > 0) {
    return lose(draft, hold, "taken", needsError(draft.config.key, record))
  }
  switch (ownerStanding(record, draft, hold.nonce)) {
    case "mine":
      return stillMine(draft, hold, view, landed)
    case "stripped":
      return holding({ ...hold, readBackAt: undefined, renewAt: instant(draft.now) })
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
function signalWaiter(draft: Draft, phase: Owning): Owning {
  const { hold } = phase
  const { tenureUntil } = hold
  if (draft.view === undefined || hold.expiring || tenureUntil === undefined || !past(tenureUntil, draft.now))
    return phase
  const waiter = unsignalled(draft, hold, draft.view)
  if (waiter === undefined) return phase
  const signalled = [...hold.signalled, waiter.name].slice(-REMEMBERED_WAITERS)
  draft.events.push({ type: "ReleaseRequested", token: hold.token, waiterId: waiter.id })
  return holding({ ...hold, signalled })
}

/** When a waiter that is known already will have to be passed on. */
function signalDue(state: LockState, hold: Hold): Instant | undefined {
  return state.view?.record?.waitingOwnerId == null ? undefined : hold.tenureUntil
}

/** A stranger has no nonce: it counts as the same waiter until it is gone. */
function looked(draft: Draft, hold: Hold): Hold {
  if (hold.signalled.length === 0) return { ...hold, watchAt: nextLook(draft) }
  const here = `id:${draft.view?.record?.waitingOwnerId ?? ""}`
  const signalled = hold.signalled.filter((name) => !name.startsWith("id:") || name === here)
  return { ...hold, signalled, watchAt: nextLook(draft) }
}

/**
 * When to look for a waiter next. One that is told of every change looks for what it wasn't told, once in the life of a
 * mark (12 s). At the default ttl a renewal comes before that, and is refused where anybody has written.
 */
const nextLook = ({ now, config, watched }: Draft): Instant => plus(now, watched ? config.waiterTtl : config.watchEvery)

/** It is no longer told of changes: it looks as soon as one that never was. */
export const lookSooner = ({ hold }: Owning, now: Now, { watchEvery }: LockConfig): Owning =>
  holding({ ...hold, watchAt: earlier(hold.watchAt, plus(now, watchEvery)) })

/**
 * A half of mine that is older than the last one known is no longer mine: a late copy of its create brought it back.
 */
function stillMine(draft: Draft, hold: Hold, view: View, landed: SentWrite | undefined): Phase {
  if (landed?.act === "renew") return renewed(draft, hold, landed, writtenDeadline(draft, landed, view))
  if (view.record?.owner?.opId !== hold.opId) return lose(draft, hold, "deleted")
  const shown = shownDeadline(draft, view)
  const deadline = shown === undefined ? hold.deadline : earlier(hold.deadline, shown)
  const kept = { ...hold, deadline, readBackAt: undefined }
  if (past(deadlineOf(kept), draft.now)) return lose(draft, kept, "expired") // before a renewal is sent for nothing
  return holding(hurried(draft, kept))
}

/**
 * Only a renewal that was first sent after the clocks last diverged ends suspicion; an earlier one tells its deadline.
 */
function renewed(draft: Draft, hold: Hold, sent: SentWrite, deadline: Instant): Phase {
  const recovered = hold.degraded || hold.suspect
  const longer: Hold = {
    ...hold,
    token: sent.token ?? hold.token,
    raising: hold.raising === sent.token ? undefined : hold.raising,
    opId: sent.opId,
    isAsked: hold.isAsked && sent.isAsked !== true,
    named: sent.groups ?? hold.named,
    deadline,
    renewAt: plus(sent.firstSend, renewEvery(draft)),
    readBackAt: undefined,
    failures: 0,
    degraded: false,
    suspect: hold.suspect && sent.epoch !== draft.sense.epoch,
  }
  if (past(deadlineOf(longer), draft.now)) return lose(draft, longer, "expired")
  tell(draft, longer.suspect ? "Suspect" : recovered ? "Recovered" : "Renewed", longer)
  return holding(hurried(draft, longer))
}

/** Under half a ttl left, or still in doubt, asked for, to be raised, or to name process groups: renew at once. */
function hurried(draft: Draft, hold: Hold): Hold {
  const left = remaining(hold, draft.now) + draft.config.guard
  const asked = hold.isAsked || hold.raising !== undefined || !sameGroups(hold.named, hold.groups)
  const late = left * 2 < draft.config.ttl || hold.suspect || asked
  return late ? { ...hold, renewAt: earlier(hold.renewAt, instant(draft.now)) } : hold
}

function degrade(draft: Draft, hold: Hold, error: LockError): Phase {
  return draft.config.strict ? lose(draft, hold, "strict", error) : troubled(draft, hold, error)
}

function troubled(draft: Draft, hold: Hold, error: LockError): Owning {
  const degraded = { ...hold, degraded: true, failures: hold.failures + 1 }
  tell(draft, "Degraded", degraded, error)
  return holding(degraded)
}

/** The ownership is over, and nothing of it is sent any more. */
export function lose(draft: Draft, hold: Hold, reason: LossReason, cause?: LockError): Idle {
  const { config, now, view } = draft
  abandon(draft)
  draft.sent = NONE
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
  return { name: "idle" }
}

const why: Readonly<Record<LossReason, string>> = {
  expired: "it was not renewed in time",
  taken: "another process owns the key",
  deleted: "its record is gone",
  released: "its record says released",
  corrupt: "its record was overwritten",
  strict: `a renewal failed under renewal: "strict"`,
  fault: "leasehold can't trust its own state of the key",
}

function unsignalled(draft: Draft, hold: Hold, view: View): ReturnType<typeof liveWaiter> {
  const waiter = liveWaiter(draft, view)
  return waiter === undefined || hold.signalled.includes(waiter.name) ? undefined : waiter
}

/** From when a deadline counts: a claim that took several tries is older than the answer that brought it. */
const beginOf = (deadline: Instant, { config }: Draft): Instant => plus(deadline, config.guard - config.ttl)

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
