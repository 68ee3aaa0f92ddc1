/**
 * The bodies of writes (rules 1, 10, 12). Each is built from the very body whose generation it names: a side rewrites
 * its own half and carries everything else over. Owns what a write says; when it is sent is decided elsewhere.
 */
import type { AcquiredHow } from "../api/lock.ts"
import {
  type InLine,
  isToken,
  type LeaseRecord,
  NONE,
  type Note,
  type OwnerHalf,
  RECORD_LIMIT,
  storedLastRelease,
  toSeconds,
  type WaiterHalf,
  withEnded,
} from "../record.ts"
import { mayBeCreate, isOwnerExpired, surelyEnded, isWaiterExpired } from "./rules/expiry.ts"
import { ahead, joined, LINE_LIFE, lineOf } from "./rules/line.ts"
import { isMine, isMyOwner, isMyWaiter, ownerStanding, waiterStanding } from "./rules/standing.ts"
import type { Attempt, Draft, Hold, LeaveHow, Seeking, SentWrite, View } from "./rules/state.ts"
import { sightOf } from "./rules/view.ts"

/** What a grant or reserve leaves the waiter to take over in, at most. */
const HANDOVER = 15_000

/** What a write is made of beside the record: its name and the store's time. */
export interface Pen {
  readonly opId: string
  /** The store's time, in milliseconds, as far as the sample tells. */
  readonly at: number
}

/** A write drafted: all of it but when and on what it is sent. */
export type Written = Omit<SentWrite, "act" | "expected" | "firstSend" | "epoch">

/** Takes a key that is free, over, reserved for me, or granted to me without its half. */
export function claimBody(draft: Draft, view: View, attempt: Attempt, pen: Pen): Written {
  const { record } = view
  const token = nextToken(draft, record, pen)
  const came = claimHow(draft, view, attempt)
  const lastRelease = came === "takeover" ? null : storedLastRelease(record)
  const { nonce, stateVersion, groups = NONE } = attempt
  const mine = { nonce, token, stateVersion, since: toSeconds(pen.at), lastRelease }
  const past = record && knownPast(draft, view, nonce)
  return { ...owned(draft, withoutTimeless(record), pen, { ...mine, groups, past }), came, groups }
}

/** A claim takes off a mark without a time: it was found to be over, and all who come later would find it alive. */
function withoutTimeless(record: LeaseRecord | undefined): LeaseRecord | undefined {
  if (record?.waiterExpiresAt !== undefined || record === undefined) return record
  return { ...record, body: { ...record.body, ...noWaiter } }
}

/**
 * Which ownerships have ended by the time that an attempt takes the key: those that its record lists, and its owner, if
 * that one has ended for sure. Another attempt of this life has: a key has one at a time here.
 */
export function knownPast(draft: Draft, view: View, mine: string): readonly string[] {
  const { record } = view
  const past = record?.past ?? NONE
  const nonce = record?.owner?.nonce
  if (nonce === undefined || nonce === mine) return past
  const hasEnded = isMyOwner(record!, draft) || surelyEnded(sightOf(draft, view), record!)
  return hasEnded ? withEnded(past, nonce) : past
}

/**
 * Which ownerships have ended once this one has. It lists itself where a head may name it, and alone where one does for
 * sure.
 */
export function pastAfter({ past, trace, nonce }: Hold): readonly string[] {
  if (trace === "none") return past
  return trace === "sure" ? [nonce] : withEnded(past, nonce)
}

/** How a claim on this view comes by the key. */
function claimHow(draft: Draft, view: View, attempt: Attempt): AcquiredHow {
  const { record } = view
  switch (ownerStanding(record, draft, attempt.nonce)) {
    case "mine":
      return attemptHow(record!)
    case "stripped":
      return "granted" // by a stranger
    case "free":
      return record!.waiter?.nonce === attempt.nonce ? "reserved" : "free"
    case "absent":
      return "created"
    case "dead":
    case "twin":
    case "other":
      return "takeover"
  }
}

/** A create of this attempt's own, or a grant to it. */
const attemptHow = (record: LeaseRecord): AcquiredHow => (mayBeCreate(record) ? "created" : "granted")

/** Extends my lease, raising its token where asked. */
export function renewBody(draft: Draft, view: View, hold: Hold, pen: Pen): Written {
  const token = tokenOf(hold)
  const lastRelease = storedLastRelease(view.record) ?? hold.lastRelease ?? null
  const { nonce, stateVersion, since, groups } = hold
  const past = hold.trace === "sure" ? NONE : hold.past
  const written = owned(draft, view.record, pen, { nonce, token, stateVersion, since, groups, lastRelease, past })
  return { ...written, groups, ...(hold.isAsked && { isAsked: true }) }
}

/**
 * Marks me as the waiter, or joins the line where another is to have that place. The owner's half and times stay to the
 * letter.
 */
export function markBody(draft: Draft, view: View, phase: Seeking, pen: Pen): Written {
  const record = view.record!
  const { id, waiterTtl } = draft.config
  if (isQuiet(phase.attempt) || beforeMe(draft, view, phase) !== undefined) {
    const entry = { ...waiterHalf(draft, phase, pen, LINE_LIFE), ...rankOf(draft, phase) }
    const line = joined(draft, lineOf(sightOf(draft, view), record), entry)
    return { ...finish(draft, record.body, pen, waiterTtl, line), joins: true }
  }
  const waiter = waiterHalf(draft, phase, pen, waiterTtl)
  const { expiresAt } = waiter
  const body = { ...record.body, waitingOwnerId: id, waiterExpiresAt: expiresAt, waiter }
  return finish(draft, body, pen, waiterTtl)
}

function waiterHalf(draft: Draft, phase: Seeking, pen: Pen, life: number): InLine {
  const { id, bootId, host } = draft.config
  const { attempt } = phase
  return {
    for: id,
    expiresAt: toSeconds(pen.at + life),
    nonce: attempt.nonce,
    accepts: ["grant"],
    opId: pen.opId,
    ttlMs: draft.config.ttl,
    bootId,
    ...(host !== null && { host }),
    ...(attempt.stateVersion !== null && { stateVersion: attempt.stateVersion }),
    asked: askedOf(draft, phase),
    joined: draft.topToken,
  }
}

/** It asks nobody to leave. */
export const isQuiet = ({ whenOwned }: Attempt): boolean => whenOwned === "wait"

/** What an attempt's place in the line goes by. */
export const rankOf = (draft: Draft, phase: Seeking): Pick<InLine, "asked" | "quiet"> => ({
  asked: askedOf(draft, phase),
  ...(isQuiet(phase.attempt) && { quiet: true }),
})

/** When the attempt asked, in tokens. */
export const askedOf = ({ topToken }: Draft, { asked }: Seeking): number => asked ?? topToken

/** Who is to have the key next and isn't this attempt: another live waiter, or else the first of the line. */
export function beforeMe(draft: Draft, view: View, phase: Seeking): { readonly id: string } | undefined {
  const { nonce } = phase.attempt
  const standing = waiterStanding(view.record, draft, nonce)
  if (standing === "mine" || standing === "stripped") return undefined
  const waiter = liveWaiter(draft, view)
  if (waiter !== undefined) return waiter
  const [first] = ahead(draft, lineOf(sightOf(draft, view), view.record), { nonce, asked: askedOf(draft, phase) })
  return first && { id: first.for }
}

/** Moves the generation and takes my mark off, if it is there: nothing sent on the old one can land any more. */
export function eraseBody(draft: Draft, record: LeaseRecord | undefined, pen: Pen): Written {
  if (record === undefined) return finish(draft, { ...noOwner, ...noWaiter, ended: null }, pen, Infinity)
  return finish(draft, { ...record.body, ...(isMyWaiter(record, draft) && noWaiter) }, pen, Infinity)
}

/** Ends an ownership: grants or reserves the key for a live waiter, else leaves a released record. */
export function leaveBody(
  draft: Draft,
  view: View,
  left: { readonly token: number; readonly note: string | undefined; readonly past: readonly string[] },
  pen: Pen,
): Written {
  const { token, note, past } = left
  const record = view.record!
  const how = leaveHow(draft, view)
  const release = { token, by: pen.opId, how, note: null }
  if (how === "grant") {
    const waiter = nextOf(draft, view)!
    const says: Note | null = note === undefined ? null : { to: waiter.nonce, says: note }
    return { ...granted(draft, record, pen, waiter, { ended: { ...release, note: says }, past }), how }
  }
  const waiter = how === "reserve" ? reserved(record, pen) : noWaiter
  const life = how === "reserve" ? HANDOVER : Infinity
  return { ...finish(draft, { ...record.body, ...noOwner, ...waiter, ended: release, past }, pen, life), how }
}

/** How the record asks to be left. */
export function leaveHow(draft: Draft, view: View): LeaveHow {
  if (nextOf(draft, view)?.accepts.includes("grant") === true) return "grant"
  return liveWaiter(draft, view) === undefined ? "release" : "reserve"
}

/**
 * The half of the one to grant the key to: the live waiter's, or without one the first of the line. A stranger has
 * none.
 */
function nextOf(draft: Draft, view: View): WaiterHalf | undefined {
  return liveWaiter(draft, view) === undefined ? othersInLine(draft, view)[0] : view.record?.waiter
}

/** The line without me: an attempt of mine that writes anything but its own entry leaves the line. */
function othersInLine(draft: Draft, view: View): readonly InLine[] {
  return lineOf(sightOf(draft, view), view.record).filter((entry) => !isMine(entry, draft))
}

/** Another live waiter in the view, named by its nonce or, a stranger, by its id. */
export function liveWaiter(draft: Draft, view: View): { readonly id: string; readonly name: string } | undefined {
  const { record } = view
  if (record === undefined || record.waitingOwnerId === null) return undefined
  if (isMyWaiter(record, draft) || isWaiterExpired(sightOf(draft, view), record)) return undefined
  const { waitingOwnerId: id, waiter } = record
  return { id, name: waiter === undefined ? `id:${id}` : `nonce:${waiter.nonce}` }
}

/** Whether the view's owner is live; false where there is none. */
export function liveOwner(draft: Draft, view: View): boolean {
  const { record } = view
  return record !== undefined && record.ownerId !== null && !isOwnerExpired(sightOf(draft, view), record)
}

/** Grows with every owner, also when a stranger stripped or deleted the record (rule 12). */
function nextToken(draft: Draft, record: LeaseRecord | undefined, pen: Pen): number {
  const stale = (record?.body["owner"] as { token?: unknown } | null | undefined)?.token
  return Math.max(draft.topToken + 1, isToken(stale) ? stale + 1 : 0, Math.floor(pen.at))
}

const noOwner = { ownerId: null, expiresAt: 0, owner: null }
const noWaiter = { waitingOwnerId: null, waiterExpiresAt: null, waiter: null }

function owned(
  draft: Draft,
  record: LeaseRecord | undefined,
  pen: Pen,
  mine: Pick<OwnerHalf, "nonce" | "token" | "stateVersion"> &
    Pick<Hold, "since" | "groups"> & { readonly lastRelease: unknown; readonly past: readonly string[] | undefined },
): Written {
  const { id, ttl, address, host, deletes } = draft.config
  const expiresAt = toSeconds(pen.at + ttl)
  const { lastRelease, past, since, groups, ...half } = mine
  const owner: OwnerHalf = {
    for: id,
    expiresAt,
    ...half,
    ttlMs: ttl,
    opId: pen.opId,
    address,
    process: null,
    host: host && { ...host, groups },
    ...(host !== null && since !== undefined && { since }),
    ...(deletes && { deletes }),
  }
  const waiter = record === undefined || isMyWaiter(record, draft) ? noWaiter : carriedWaiter(record)
  const body = { ...record?.body, ownerId: id, expiresAt, ...waiter, owner, ended: lastRelease, ...(past && { past }) }
  return { ...finish(draft, body, pen, ttl), token: half.token }
}

function granted(draft: Draft, record: LeaseRecord, pen: Pen, waiter: WaiterHalf, end: object): Written {
  // Its lease, not mine: what its guard leaves of a much shorter one may be too little for a first renewal.
  const ttlMs = Math.min(waiter.ttlMs ?? draft.config.ttl, HANDOVER)
  const expiresAt = toSeconds(pen.at + ttlMs)
  const owner: OwnerHalf = {
    for: waiter.for,
    expiresAt,
    token: nextToken(draft, record, pen),
    ttlMs,
    nonce: waiter.nonce,
    opId: pen.opId,
    address: null,
    stateVersion: waiter.stateVersion ?? null,
    process: null,
    host: hostOf(draft, waiter),
    ...(draft.config.host !== null && { since: toSeconds(pen.at) }),
  }
  const body = { ...record.body, ownerId: waiter.for, expiresAt, owner, ...noWaiter, ...end }
  return finish(draft, body, pen, ttlMs)
}

/**
 * The waiter's process, where its half says that it shares my host's clock, which stamps the grant. Else no process is
 * named: were it mine, others would take the waiter for dead when I end.
 */
function hostOf(draft: Draft, waiter: WaiterHalf): OwnerHalf["host"] {
  const { bootId, host } = draft.config
  // Another's clock may have stamped its place: that of the process which moved it there.
  if (bootId === null || (waiter.host?.bootId ?? waiter.bootId) !== bootId) return null
  if (waiter.host?.bootId === bootId) return { ...waiter.host, groups: [] }
  return { name: host?.name ?? "", pid: 0, startedAt: null, bootId, pidNs: null, groups: [] }
}

function reserved(record: LeaseRecord, pen: Pen): object {
  const waiterExpiresAt = toSeconds(Math.min(record.waiterExpiresAt ?? Infinity, pen.at + HANDOVER))
  const waiter = record.waiter === undefined ? null : { ...record.waiter, expiresAt: waiterExpiresAt }
  return { waitingOwnerId: record.waitingOwnerId, waiterExpiresAt, waiter }
}

function carriedWaiter(record: LeaseRecord): object {
  const { waitingOwnerId, waiterExpiresAt, waiter } = record.body
  return { waitingOwnerId: waitingOwnerId ?? null, waiterExpiresAt: waiterExpiresAt ?? null, waiter: waiter ?? null }
}

/** `line`: who stands in it from now on; without it those who stood there, but for me. */
function finish(draft: Draft, body: object, pen: Pen, life: number, line?: readonly InLine[]): Written {
  const others = line ?? (draft.view === undefined ? [] : othersInLine(draft, draft.view))
  const moved = movedUp(draft, body, pen, others)
  const { ownerId, expiresAt, waitingOwnerId, waiterExpiresAt } = moved
  const written = {
    // The published fields come first. A stranger's record may lack those of a waiter.
    ownerId,
    expiresAt,
    ...(waitingOwnerId !== undefined && { waitingOwnerId }),
    ...(waiterExpiresAt !== undefined && { waiterExpiresAt }),
    v: 1,
    needs: NONE,
    ...moved,
    key: draft.config.key,
    writtenAt: toSeconds(pen.at),
  }
  // Where records name processes people read them, too, by their files' names.
  return { opId: pen.opId, ...readable(written, draft.config.host === null ? 0 : 2), life }
}

/**
 * An empty waiter's place is filled from the line, by one that asks. Nobody stands there under the id of the owner, of
 * whatever life: should a stranger drop the owner's half, none could tell them apart.
 */
function movedUp(draft: Draft, body: object, pen: Pen, line: readonly InLine[]): Record<string, unknown> {
  const whole = body as Record<string, unknown>
  if (line.length === 0 && !("line" in whole)) return whole
  const { line: _, ...rest } = whole
  const [first, ...others] = line.filter((entry) => entry.for !== rest["ownerId"])
  if (first === undefined) return rest
  if (rest["waitingOwnerId"] != null || first.quiet === true) return { ...rest, line: [first, ...others] }
  const { waiterTtl, bootId } = draft.config
  // By my clock, so it is my boot's time: by that of its own it may be over at once, or stand for hours when it is
  // dead.
  const waiter: WaiterHalf = { ...first, expiresAt: toSeconds(pen.at + waiterTtl), bootId }
  const place = { waitingOwnerId: waiter.for, waiterExpiresAt: waiter.expiresAt, waiter }
  return { ...rest, ...place, ...(others.length > 0 && { line: others }) }
}

/**
 * A body over the limit would take the key from its owner, since nobody could read it. Such a body leaves out what
 * isn't known here, and the line too where that is still too much.
 */
function readable(whole: SentWrite["says"], indent: number): Pick<SentWrite, "body" | "says"> {
  const body = textOf(whole, indent)
  if (fits(body)) return { body, says: whole }
  const ours = only(whole, (field) => field === "line" || known.has(field))
  const oursAsText = textOf(ours, indent)
  if (fits(oursAsText)) return { body: oursAsText, says: ours }
  const least = only(ours, (field) => known.has(field))
  return { body: textOf(least, indent), says: least }
}

const textOf = (says: object, indent: number): string =>
  indent === 0 ? JSON.stringify(says) : `${JSON.stringify(says, null, indent)}\n`

/** A character takes three bytes at most: most bodies needn't be counted. */
const fits = (text: string): boolean =>
  text.length * 3 <= RECORD_LIMIT || new TextEncoder().encode(text).length <= RECORD_LIMIT

const only = (says: SentWrite["says"], isKept: (field: string) => boolean): SentWrite["says"] =>
  Object.fromEntries(Object.entries(says).filter(([field]) => isKept(field)))

const known: ReadonlySet<string> = new Set([
  ...["ownerId", "expiresAt", "waitingOwnerId", "waiterExpiresAt", "v", "needs", "key"],
  ...["owner", "waiter", "ended", "past", "writtenAt"],
])

/** The token that a renewal writes. */
export const tokenOf = (hold: Hold): number => hold.raising ?? hold.token
