/**
 * Why a sandbox needs somebody's attention, in words: what is wrong, since when, and where it is known what to look at
 * next. Pure; it runs in a browser too. Limits stand here once, each with its reason.
 *
 * Not promised: that what isn't named is well. It judges by what workers tell of themselves.
 */
import { durationText } from "../../../runtime/input/duration.ts"
import type { Fleet } from "./fleet.ts"
import { stateParts } from "./live-row.ts"
import type { StateParts } from "./states.ts"
import type { SandboxRow, WorkerRow } from "./wire.ts"

/** What can be wrong. */
export type AttentionKind =
  | "stuck"
  | "guard"
  | "handingOff"
  | "waiting"
  | "acquiring"
  | "restoring"
  | "flapping"
  | "silent"

/** One thing that is wrong with one sandbox. */
export interface Attention {
  readonly kind: AttentionKind
  readonly worker: string
  readonly key: string
  /** Since when, in Unix milliseconds. */
  readonly since: number
  /** In words. It may have text of others in it. */
  readonly reason: string
}

/**
 * A wait this long is longer than any handoff by the defaults: 5 s of tenure, then 10 s each for the work to end, for
 * the checkpoint, and for the close. In milliseconds.
 */
export const LONG_WAIT = 45_000

/** 10 s each for the work to end, for the checkpoint, and for the close, by the defaults. In milliseconds. */
export const LONG_HANDOFF = 30_000

/** One try at a store that answers takes less than a second; with an error it is named at once. In milliseconds. */
export const LONG_ACQUIRE = 20_000

/** What `restoreWithin` allows by default. In milliseconds. */
export const LONG_RESTORE = 30_000

/** More than one change of hands a minute, over the five minutes in which they count. */
export const FLAPPING = 6

/**
 * An owner renews when a third of its lease is gone. With less than this share left above the guard it has missed that
 * twice. Of the ttl.
 */
export const NEAR_GUARD = 0.1

/** Where nothing is known of a lease's times: the guard of a lease of 30 s is about this. In milliseconds. */
const USUAL_GUARD = 3000

/** Worst first. */
const ORDER: readonly AttentionKind[] = [
  ...(["stuck", "guard", "silent", "handingOff", "restoring", "waiting", "acquiring", "flapping"] as const),
]

/** Everything that is wrong in a fleet, the worst first: at most `most`. */
export function attentions(fleet: Fleet, now: number, most: number = MOST): readonly Attention[] {
  const found: Attention[] = []
  for (const row of fleet.rows()) {
    const attention = attentionOf(row, now, fleet)
    if (attention !== undefined) found.push(attention)
  }
  return worstOf(found, most)
}

/** The worst first, and of a kind what lasts longest: at most `most`. */
export function worstOf(found: Iterable<Attention>, most: number): readonly Attention[] {
  const kinds = new Map<AttentionKind, Attention[]>(ORDER.map((kind) => [kind, []]))
  for (const each of found) kinds.get(each.kind)?.push(each)
  const listed: Attention[] = []
  for (const of of kinds.values()) {
    if (listed.length >= most) break
    listed.push(...of.sort((one, other) => one.since - other.since).slice(0, most - listed.length))
  }
  return listed
}

/** More than a person looks through. */
const MOST = 200

/** The worst that is wrong with a sandbox. */
export function attentionOf(row: SandboxRow, now: number, fleet: Fleet): Attention | undefined {
  const { worker, key } = row
  const parts = stateParts(row)
  for (const judge of judges) {
    const told = judge(row, now, fleet, parts)
    if (told !== undefined) return { worker, key, ...told }
  }
  return undefined
}

type Judge = (
  row: SandboxRow,
  now: number,
  fleet: Fleet,
  parts: StateParts,
) => Omit<Attention, "worker" | "key"> | undefined

const stuck: Judge = ({ stuck: hook, since, leaving }, now) => {
  if (hook === null) return undefined
  const why = leaving === null ? "" : `, though it is to leave (${leaving})`
  return {
    kind: "stuck",
    since,
    reason: `Its ${hook} goes on past its limit, for ${durationText(now - since)} now${why}. Its lease is renewed until that ends.`,
  }
}

const nearGuard: Judge = ({ deadline, worker, error }, now, fleet, { top, lease }) => {
  if (deadline === null || (top !== "owning" && top !== "handingOff")) return undefined
  const known = fleet.workers.get(worker)
  if (known?.problem != null) return undefined
  const { ttl, guard } = timesOf(known)
  const left = deadline - now
  if (left > ttl * NEAR_GUARD) return undefined
  const why = error === null ? "" : ` Its last error: ${error.message}`
  const doubt = lease === "suspect" ? " The clocks of its process disagree." : ""
  const when =
    left > 0 ? `reaches its guard in ${durationText(left)}` : `is past its guard since ${durationText(-left)}`
  return { kind: "guard", since: deadline + guard - ttl, reason: `Its lease ${when}: renewals fail.${doubt}${why}` }
}

const silent: Judge = ({ worker, since, deadline }, now, fleet, { top }) => {
  const problem = fleet.workers.get(worker)?.problem
  if (problem == null || top === "released") return undefined
  const over = deadline !== null && deadline < now ? ` Its lease was to end ${durationText(now - deadline)} ago.` : ""
  return { kind: "silent", since, reason: `Nothing is heard of its worker: ${problem}.${over}` }
}

const slowHandoff: Judge = ({ since, leaving, waiterId }, now, _fleet, { top, work }) => {
  if (top !== "handingOff" || now - since < LONG_HANDOFF) return undefined
  const whom = waiterId === null ? "" : `, and ${waiterId} waits`
  return {
    kind: "handingOff",
    since,
    reason: `It has been leaving for ${durationText(now - since)} (${leaving ?? "it failed"})${whom}; it is ${DOING[work ?? ""] ?? work}.`,
  }
}

const DOING: Readonly<Record<string, string>> = {
  settling: "waiting for its work to end",
  queued: "waiting for its turn to save",
  checkpointing: "saving its checkpoint",
  releasing: "closing its state and giving up the lease",
}

const slowRestore: Judge = ({ since }, now, _fleet, { work }) => {
  if (work !== "restoring" || now - since < LONG_RESTORE) return undefined
  return {
    kind: "restoring",
    since,
    reason: `Its restore has taken ${durationText(now - since)}. It is owned, and doesn't run yet.`,
  }
}

const longWait: Judge = (row, now, fleet, { top }) => {
  if (top !== "waiting" || now - row.since < LONG_WAIT) return undefined
  return { kind: "waiting", since: row.since, reason: whyNotOwned(row, now, fleet) }
}

const slowAcquire: Judge = (row, now, fleet, { top }) => {
  if (top !== "acquiring" || (row.error === null && now - row.since < LONG_ACQUIRE)) return undefined
  return { kind: "acquiring", since: row.since, reason: whyNotOwned(row, now, fleet) }
}

const flapping: Judge = ({ handoffs, since }) =>
  handoffs < FLAPPING
    ? undefined
    : {
        kind: "flapping",
        since,
        reason: `It changed hands ${handoffs} times in five minutes: processes take it from each other.`,
      }

/** Worst first. */
const judges: readonly Judge[] = [
  ...[stuck, nearGuard, silent, slowHandoff, slowRestore, longWait, slowAcquire, flapping],
]

/** Why a sandbox isn't owned here, in words: who has it, and what that one does. Of one that is owned: that it is. */
export function whyNotOwned(row: SandboxRow, now: number, fleet: Fleet): string {
  const { since, owner, error, key } = row
  const { top, inner } = stateParts(row)
  const last = error === null ? "" : ` Its last error: ${error.message}`
  const long = durationText(now - since)
  switch (top) {
    case "acquiring":
      if (inner === "backingOff") return `It waits before its next try, as the one before failed.${last}`
      if (inner === "reconciling") return `Its try is cancelled, and the store is asked what that left.${last}`
      return `It has asked the store for ${long}, and has no answer yet.${last}`
    case "waiting":
      return `It has waited ${long} for ${ownerText(row, fleet)}.${ownerState(key, owner?.ownerId, now, fleet)}${last}`
    case "owning":
      return "It is owned here."
    case "handingOff":
      return `It is leaving: ${row.leaving ?? "it failed"}.${last}`
    case "released":
      return `It was released here (${inner ?? "?"}), ${long} ago.${last}`
  }
}

function ownerText({ owner }: SandboxRow, fleet: Fleet): string {
  if (owner === null) return "its owner"
  const name = fleet.nameOf(owner.ownerId)
  const where = owner.address === null ? "" : ` at ${owner.address}`
  return name === undefined ? `${owner.ownerId}${where}` : `worker ${name}${where}`
}

/** What its owner does with it, where that one tells. */
function ownerState(key: string, ownerId: string | undefined, now: number, fleet: Fleet): string {
  const name = ownerId === undefined ? undefined : fleet.nameOf(ownerId)
  const theirs = name === undefined ? undefined : fleet.find(name, key)
  if (name !== undefined && fleet.workers.get(name)?.problem != null) return " That worker doesn't answer."
  if (theirs === undefined) return ""
  const { top, work } = stateParts(theirs)
  if (theirs.stuck !== null) return ` There its ${theirs.stuck} goes on past its limit.`
  if (top === "owning" && work === "restoring") return " There it is being restored."
  if (top === "owning") return ` There it has run for ${durationText(now - (theirs.ownedSince ?? theirs.since))}.`
  return top === "handingOff" ? ` There it is ${DOING[work ?? ""] ?? work ?? "leaving"}.` : ""
}

function timesOf(worker: WorkerRow | undefined): { readonly ttl: number; readonly guard: number } {
  return { ttl: worker?.ttl ?? 0, guard: worker?.guard ?? USUAL_GUARD }
}
