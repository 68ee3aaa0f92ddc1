/**
 * Requests (rules 1 and 13): one under way at a time, a write sent again only as the same bytes, every opId remembered
 * with its first send until the generation moves, and the spacing of writes. A write takes precedence over a read.
 */
import { type LeaseRecord, sameGroups } from "../record.ts"
import { ABSENT } from "../stores/port.ts"
import { type Pen, tokenOf, type Written } from "./record-writes.ts"
import type { Act, Draft, Hold, LockState, Phase, Seeking, SentWrite, View, WriteAct } from "./rules/state.ts"
import { elapsed, instant, type Instant, later, plus, renewalAfter, storeNow } from "./rules/time.ts"

/** A release settles within this from its first request on, in milliseconds. */
export const RELEASE_WITHIN = 10_000

/** A waiter that has waited for this long comes half as late within the window as a newcomer. In milliseconds. */
const LONG_WAIT = 2000
/**
 * By then every waiter that polls has looked, and claimed a free key: looks are two spacings apart at most. In
 * spacings.
 */
const ALL_LOOKED = 2.3
/**
 * When the window begins in which waiters mark, after the last write, in spacings (rule 13). The first spacing is the
 * owner's, which may renew in it; the second keeps the mark off the owner's next write. Where a waiter's write or a 429
 * may have held the owner up, half a spacing more lets the owner write first.
 */
const WINDOW_FROM = { usual: 2, heldUp: 2.5 } as const
/** How much later in the window the last that asked write than the first. In spacings. */
const SPREAD = 0.8
/** How long a mark is on its way that is sent at the end of the window. In spacings. */
const ON_ITS_WAY = 0.2

/** What a write says on a version of the record. */
type Compose = (view: View, pen: Pen) => Written

/** Asks for the record; a look under way is given up. */
export function sendRead(draft: Draft): void {
  const id = depart(draft, "read", undefined)
  const known = draft.view?.record === undefined ? undefined : draft.view.generation
  draft.commands.push({ type: "read", id, known })
}

/** Sends a write, and tells its opId; a look under way is given up. */
export function sendWrite(draft: Draft, phase: Phase, act: WriteAct, compose: Compose): string {
  const sent = resendable(draft, phase, act) ?? newWrite(draft, act, compose)
  if (!draft.sent.includes(sent)) draft.sent = [...draft.sent, sent]
  draft.named ||= act === "claim" || act === "renew" || (act === "mark" && sent.joins !== true)
  const id = depart(draft, act, sent.opId)
  if (act === "delete") draft.commands.push({ type: "remove", id, expected: sent.expected })
  else draft.commands.push({ type: "put", id, expected: sent.expected, body: sent.body })
  return sent.opId
}

/** Whether there is a time to stamp a write with. */
export const mayWrite = (draft: Draft): boolean => penOf(draft) !== undefined

/** The request under way is given up: its answer will be discarded. */
export function abandon(draft: Draft): void {
  if (draft.flight === undefined) return
  draft.commands.push({ type: "abandon", id: draft.flight.id })
  draft.flight = undefined
}

/** From when on an owner, or an acquirer of a free record, may write this version. */
export function ownersTurn(state: Pick<LockState, "config" | "view">, at: Instant): Instant {
  return afterLastWrite(state, at, state.config.spacing)
}

/** When a process may claim. One that has just left the key lets all others look first, who may have waited for it. */
export function claimersTurn(state: Pick<LockState, "config" | "view">, at: Instant): Instant {
  return afterLastWrite(state, at, state.config.spacing * (state.view?.warm === true ? ALL_LOOKED : 1))
}

/** An owner's turn where there is no hurry: the last write is long enough ago, however early it was stamped. */
export function ownersTurnSurely(state: Pick<LockState, "config" | "view">, at: Instant): Instant {
  return afterLastWrite(state, at, state.config.spacing + (state.view?.vague ?? 0))
}

/**
 * From when on a waiter may write this version: owners go first. After another waiter's write, or a 429, the owner may
 * be held up, and has its turn before any waiter has one again.
 */
export function waitersTurn(draft: Draft, phase: Seeking): Instant {
  return turnInWindow(draft, placeInWindow(draft, phase))
}

/** `place`: where in the window, in spacings. */
function turnInWindow(draft: Draft, place: number): Instant {
  const { config, now, view } = draft
  const isHeldUp = view?.crowded === true || !writtenByOwner(view?.record)
  const times = timesOfOwner(draft, isHeldUp)
  const after = times === undefined ? WINDOW_FROM[isHeldUp ? "heldUp" : "usual"] + place : within(times, now.draw)
  return afterLastWrite(draft, instant(now), after * config.spacing)
}

/**
 * From when on a waiter may take something back, which nobody waits for. An owner that may be held up and renews often
 * renews first: a second that is taken from it could be its last. Mostly its renewal burns what may still land.
 */
export function leaversTurn(draft: Draft): Instant {
  const { config, now, view } = draft
  if (view?.crowded !== true || isBusyStranger(draft) || !renewsOften(draft)) return turnInWindow(draft, now.draw)
  return afterLastWrite(draft, instant(now), within(afterRenewal(draft, view), now.draw) * config.spacing)
}

/** When to write among an owner's writes that come so often that the usual time would be too late. In spacings. */
function timesOfOwner(draft: Draft, isHeldUp: boolean): readonly [number, number] | undefined {
  if (isBusyStranger(draft)) return BETWEEN_WRITES
  return !isHeldUp && renewsOften(draft) ? betweenRenewals(draft) : undefined
}

const within = ([from, to]: readonly [number, number], chance: number): number => from + chance * (to - from)

/**
 * Where in the window a waiter writes, as far as clocks agree on when the last write was. In spacings, below 1. Where
 * others stand in the line, one that asked before most of them comes early. Where nobody does, one that has waited long
 * comes early.
 */
function placeInWindow(draft: Draft, phase: Seeking): number {
  const { config, now, view, topToken } = draft
  const { waiter, line = [] } = view?.record ?? {}
  const others = [waiter, ...line].flatMap((half) => half?.asked ?? [])
  const before = others.filter((asked) => asked < (phase.asked ?? topToken)).length
  const youth = others.length > 0 ? before / others.length : 1 / (1 + elapsed(phase.attempt.startedAt, now) / LONG_WAIT)
  // Where nobody stands yet, one that asked in this very turn comes late for sure, however early the last write was
  // stamped. Not so where that would be after the owner's next renewal.
  const isNew = others.length === 0 && (phase.asked ?? topToken) >= (view?.record?.owner?.token ?? Infinity)
  const isLate = isNew && !renewsWithin(draft, 4)
  return SPREAD * youth + 0.2 * now.draw + (isLate ? (view?.vague ?? 0) / config.spacing : 0)
}

/**
 * By when all have asked that want to. Marks come within three spacings of an owner's write, and within three and a
 * half of another mark.
 */
export function othersHaveAsked({ view, config, now }: Draft): Instant {
  const from = WINDOW_FROM[writtenByOwner(view?.record) ? "usual" : "heldUp"]
  const window = from + SPREAD + 2 * ON_ITS_WAY
  return afterLastWrite({ view, config }, instant(now), window * config.spacing + (view?.vague ?? 0))
}

/**
 * How soon after a busy stranger's write a waiter writes: as soon as the store takes it, since the stranger would write
 * again before the usual time. In spacings.
 */
const BETWEEN_WRITES = [1.05, 1.2] as const
/** A stranger that was seen to write after so many spacings, and has since written within as many, writes often. */
const OFTEN = 4

/** Whether the owner is a stranger that writes so often that the usual time would never come for a waiter. */
export function isBusyStranger({ config, view, observedOwner, now }: Draft): boolean {
  if (view?.record == null || view.record.ownerId === null || view.record.owner !== undefined) return false
  const often = OFTEN * config.spacing
  return (
    observedOwner !== undefined &&
    (observedOwner.shortestGap ?? Infinity) <= often &&
    elapsed(observedOwner.since, now) <= often
  )
}

/**
 * Whether a write of mine, sent at my turn, would come before a busy stranger's next one. That is so where its last one
 * was made just now, and was seen soon after.
 */
export function isBeforeNextWrite({ config, view, now }: Draft): boolean {
  const [, latest] = BETWEEN_WRITES
  return view !== undefined && view.unseen <= config.spacing && elapsed(view.lastWrite, now) <= latest * config.spacing
}

/** Whether the owner writes more often than waiters may. */
export const renewsOften = (draft: Draft): boolean => renewsWithin(draft, 3)

const renewsWithin = ({ config, view }: Draft, spacings: number): boolean =>
  renewalAfter(view?.record?.owner?.ttlMs ?? Infinity, 0) <= spacings * config.spacing

/**
 * Behind an owner that renews more often than waiters write, waiters would never have their turn: they write before its
 * next renewal. One that is too late for that lets the renewal by, since the owner has no time to repeat it. In
 * spacings.
 */
function betweenRenewals(draft: Draft): readonly [number, number] {
  const { config, now, view } = draft
  const ttl = view?.record?.owner?.ttlMs ?? Infinity
  const end = Math.max(1.4, renewalAfter(ttl, 0) / config.spacing - 0.2)
  return view === undefined || elapsed(view.lastWrite, now) <= end * config.spacing
    ? [1.2, end]
    : afterRenewal(draft, view)
}

/** Behind the owner's next renewal, wherever it is in its range. In spacings. */
function afterRenewal({ config }: Draft, { record, vague }: View): readonly [number, number] {
  const passed = (renewalAfter(record?.owner?.ttlMs ?? Infinity, 1) + vague) / config.spacing + 1.2
  return [passed, passed + 1]
}

/** Whether the last write was the owner's, as far as is known: its lease counts from its own writes. */
function writtenByOwner(record: LeaseRecord | undefined): boolean {
  if (record?.owner === undefined || record.writtenAt === undefined) return true
  return Math.abs(record.expiresAt - record.owner.ttlMs - record.writtenAt) < 2
}

function afterLastWrite({ config, view }: Pick<LockState, "config" | "view">, at: Instant, ms: number): Instant {
  return config.spacing === 0 || view === undefined ? at : later(at, plus(view.lastWrite, ms))
}

/** How long to wait before the next try after `failures` of them, in milliseconds. */
export function backoff(draft: Draft, failures: number): number {
  const longest = Math.min(5000, draft.config.ttl / 6)
  return Math.min(longest, 100 * 2 ** Math.min(failures, 20)) * (0.5 + draft.now.draw / 2)
}

function depart(draft: Draft, act: Act, opId: string | undefined): number {
  abandon(draft)
  const id = draft.requests + 1
  draft.requests = id
  draft.flight = { id, act, sentAt: draft.sense.last, epoch: draft.sense.epoch, opId }
  return id
}

/**
 * How much of their life may have passed of bytes that are sent again. A grant has to be renewed in what is left of it.
 */
const PASSED = { usual: 1 / 2, leave: 1 / 4 }

/** The same write again, where it means the same, its bytes have enough of their life and no clock has jumped since. */
function resendable(draft: Draft, phase: Phase, act: WriteAct): SentWrite | undefined {
  const last = draft.sent.findLast((sent) => sent.act === act)
  if (last === undefined || last.epoch !== draft.sense.epoch) return undefined
  if (phase.name === "owning" && !saysTheSame(last, phase.hold)) return undefined
  const mayPass = last.life * (act === "leave" ? PASSED.leave : PASSED.usual)
  return elapsed(last.firstSend, draft.now) > mayPass ? undefined : last
}

const saysTheSame = (sent: SentWrite, hold: Hold): boolean =>
  sent.token === tokenOf(hold) && sameGroups(sent.groups ?? [], hold.groups) && (!hold.isAsked || sent.isAsked === true)

function newWrite(draft: Draft, act: WriteAct, compose: Compose): SentWrite {
  const view = draft.view!
  const expected = view.record === undefined ? ABSENT : view.generation
  const written = compose(view, penOf(draft)!)
  return { ...written, act, expected, firstSend: draft.sense.last, epoch: draft.sense.epoch }
}

function penOf(draft: Draft): Pen | undefined {
  const { config, sense, now } = draft
  const at = config.clock === "none" ? now.wall : storeNow(sense, now, config.ttl)
  return at === undefined ? undefined : { opId: now.fresh, at }
}
