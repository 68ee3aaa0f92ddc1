/**
 * From an answer to what is known: the view, the sample of the store's time (rule 3), the observations and the memory
 * of an owner (rules 6 and 7). Draws no conclusions.
 */
import { type LockError, StoreUnavailableError } from "../../api/errors.ts"
import {
  corruptError,
  type InLine,
  type LeaseRecord,
  NONE,
  parseRecord,
  recordOf,
  type WaiterHalf,
} from "../../record.ts"
import { ABSENT, type Generation } from "../../stores/port.ts"
import type { Sight } from "./expiry.ts"
import { isMyOwner, isNamed, isTwin, SIGNS_OF_LIFE } from "./standing.ts"
import type { Draft, Flight, Observation, ReadResult, SentWrite, View } from "./state.ts"
import { elapsed, leastRounded, neverBack, plus, storeNow } from "./time.ts"

/** Takes a read's answer into the draft, or says why nothing was learned. */
export function takeRead(draft: Draft, flight: Flight, answer: ReadResult): LockError | undefined {
  if (answer.kind === "failed") return answer.error
  if (draft.config.clock !== "none" && answer.storeTime === undefined) return cached(draft)
  if (answer.kind === "tooLarge") return corruptError(draft.config.key, "it is larger than 64 KiB")
  const { view } = draft
  if (answer.kind === "unchanged") {
    if (view?.generation !== answer.generation) return cached(draft)
    return confirm(draft, flight, view, view.record, answer)
  }
  const found = attempt(() => (answer.kind === "absent" ? undefined : recordIn(draft.config.key, answer)))
  if (found instanceof Error) return found
  const generation = answer.kind === "absent" ? ABSENT : answer.generation
  return confirm(draft, flight, { generation, warm: false }, found, answer)
}

/** Takes an applied write into the draft: what it wrote is now the last version known. */
export function takeApplied(
  draft: Draft,
  flight: Flight,
  sent: SentWrite,
  answer: { readonly generation: Generation; readonly storeTime?: number },
): void {
  const record = sent.act === "delete" ? undefined : recordOf(draft.config.key, sent.says)
  draft.view = {
    generation: sent.act === "delete" ? ABSENT : answer.generation,
    record,
    sentAt: flight.sentAt,
    storeTime: answer.storeTime,
    lastWrite: draft.sense.last,
    unseen: 0,
    vague: 0,
    crowded: false,
    warm: sent.how === "release",
  }
  draft.sent = NONE
  observe(draft, draft.view, true)
  remember(draft, draft.view)
}

/** Learns the store's time, unless the clocks jumped while the request was under way. */
export function takeSample(draft: Draft, flight: Flight, storeTime: number | undefined): void {
  if (storeTime === undefined || flight.epoch !== draft.sense.epoch) return
  const fresh = { storeTime, at: flight.sentAt }
  const coarse = draft.config.clock === "coarse"
  draft.sense = { ...draft.sense, sample: coarse ? leastRounded(draft.sense.sample, fresh, draft.now) : fresh }
}

const recordIn = (key: string, { record, text }: Extract<ReadResult, { kind: "found" }>): LeaseRecord =>
  record ?? parseRecord(key, text)

/**
 * Which of my open writes the view shows to have landed. Those sent on a generation that is gone can't land any more
 * and are forgotten.
 */
export function settleSent(draft: Draft): SentWrite | undefined {
  const { view, sent } = draft
  const record = view?.record
  const shown = [
    record?.owner?.opId,
    record?.waiter?.opId,
    record?.lastRelease?.by,
    ...(record?.line ?? []).map(opIdOf),
  ]
  const current = record === undefined ? ABSENT : view?.generation
  draft.sent = sent.filter((write) => write.expected === current)
  return sent.find((write) => shown.includes(write.opId))
}

const opIdOf = ({ opId }: InLine): string => opId

/** What judging halves takes, of the view now known. */
export function sightOf(draft: Draft, view: View): Sight {
  const { config, named, observedOwner, observedWaiter, observedLine, now } = draft
  return { config, named, view, observedOwner, observedWaiter, observedLine, now }
}

function confirm(
  draft: Draft,
  flight: Flight,
  known: Pick<View, "generation" | "warm">,
  record: LeaseRecord | undefined,
  { storeTime, evidence }: Pick<ReadResult, "storeTime" | "evidence">,
): undefined {
  takeSample(draft, flight, storeTime)
  const moved = draft.view?.generation !== known.generation
  const written = !moved && draft.view !== undefined ? draft.view : lastWrite(draft, flight, record)
  const view: View = {
    generation: known.generation,
    record,
    sentAt: flight.sentAt,
    storeTime,
    lastWrite: written.lastWrite,
    unseen: written.unseen,
    vague: written.vague,
    crowded: !moved && draft.view?.crowded === true,
    warm: known.warm && !moved,
    ...(evidence !== undefined && { evidence }),
  }
  draft.view = view
  observe(draft, view, !moved)
  remember(draft, view)
  return undefined
}

/** Before every reading of any clock, and still a number that JSON keeps. */
const longAgo = { mono: -1e15, boot: -1e15 }

/**
 * When another wrote this version, by its stamp. On a clock of whole seconds that may be most of a second early. A
 * stamp that the version before had isn't this one's. The write is younger than the last request that showed the
 * version before.
 */
function lastWrite(
  draft: Draft,
  { sentAt }: Flight,
  record: LeaseRecord | undefined,
): Pick<View, "lastWrite" | "unseen" | "vague"> {
  const { config, now, sense, view } = draft
  const unseen = view === undefined ? LONG : Math.min(elapsed(view.sentAt, sentAt), LONG)
  if (record === undefined) return { lastWrite: longAgo, unseen, vague: 0 }
  const time = storeNow(sense, now, config.ttl)
  const stamp = record.writtenAt === view?.record?.writtenAt ? undefined : record.writtenAt
  const stamped = stamp === undefined || time === undefined ? 0 : Math.max(0, time - stamp)
  const age = Math.min(stamped, view === undefined ? Infinity : elapsed(view.sentAt, now))
  return { lastWrite: plus(now, -age), unseen, vague: config.clock === "coarse" ? Math.min(age, 1000) : 0 }
}

/** Longer than anybody waits for another's write, in milliseconds. */
const LONG = 60_000

/** `follows`: nothing else can have stood there between the version known before and this one. */
function observe(draft: Draft, view: View, follows: boolean): void {
  const { record } = view
  const current = record === undefined ? ABSENT : view.generation
  const mayLand = draft.sent.some(({ expected }) => expected === current)
  draft.named = record === undefined ? draft.named && mayLand : isNamed(record, draft, mayLand)
  if (record === undefined) return
  const { owner, waiter } = record
  const { ownerId, expiresAt, waitingOwnerId, waiterExpiresAt } = record
  draft.observedOwner = observed(draft, follows, draft.observedOwner, pairOf(ownerId, expiresAt, owner))
  draft.observedWaiter = observed(draft, follows, draft.observedWaiter, pairOf(waitingOwnerId, waiterExpiresAt, waiter))
  draft.observedLine = lineObserved(draft, follows, record.line)
  draft.topToken = Math.max(draft.topToken, owner?.token ?? 0, record.lastRelease?.token ?? 0)
}

function lineObserved(draft: Draft, follows: boolean, line: readonly InLine[]): readonly Observation[] {
  if (line.length === 0) return NONE
  return line.map(({ nonce, opId, expiresAt }) => {
    const before = draft.observedLine.find(({ id }) => id === nonce)
    return observed(draft, follows, before, { id: nonce, expiresAt, nonce, opId })!
  })
}

/** A published pair with what tells its half from any other. */
type Pair = Pick<Observation, "id" | "expiresAt" | "nonce" | "opId">

const pairOf = (
  id: string | null,
  expiresAt: number | undefined,
  half: Pick<WaiterHalf, "nonce" | "opId"> | undefined,
): Pair | undefined => (id === null ? undefined : { id, expiresAt, nonce: half?.nonce, opId: half?.opId })

const isSamePair = (a: Pair, b: Pair): boolean =>
  a.id === b.id && a.expiresAt === b.expiresAt && a.nonce === b.nonce && a.opId === b.opId

function observed(
  draft: Draft,
  follows: boolean,
  before: Observation | undefined,
  pair: Pair | undefined,
): Observation | undefined {
  if (pair === undefined) return undefined
  const { id, expiresAt, nonce, opId } = pair
  const seen = draft.sense.last
  if (before !== undefined && isSamePair(before, pair)) {
    const stood = follows ? neverBack(before.stood, before.seen, seen) : seen
    return { ...unchanged(before, draft), stood }
  }
  const longestGap = before?.id === id ? Math.max(before.longestGap, elapsed(before.since, before.seen)) : 0
  const gap = before?.id === id && nonce === undefined ? elapsed(before.since, seen) : undefined
  const shortestGap = gap === undefined ? undefined : Math.min(gap, before?.shortestGap ?? gap)
  const again = nonce !== undefined && before?.nonce === nonce && isTwin(draft, { id, nonce })
  const rewrites = again ? Math.min(before.rewrites + 1, SIGNS_OF_LIFE) : 0
  return { id, expiresAt, opId, nonce, since: seen, seen, stood: seen, rewrites, longestGap, shortestGap }
}

/** The memory is for a record that vanishes: an absent one leaves it as it is, but for its time. */
function remember(draft: Draft, { record }: View): void {
  const { remembered, observedOwner } = draft
  draft.remembered = undefined
  if (record === undefined) draft.remembered = remembered && unchanged(remembered, draft)
  else if (record.owner !== undefined && !isMyOwner(record, draft) && observedOwner !== undefined)
    draft.remembered = {
      expiresAt: record.expiresAt,
      ttlMs: record.owner.ttlMs,
      bootId: record.owner.host?.bootId ?? null,
      deletes: record.owner.deletes ?? false,
      since: observedOwner.since,
      seen: observedOwner.seen,
    }
}

/** It is as it was when the clocks were compared last. */
function unchanged<Known extends Pick<Observation, "since" | "seen">>(known: Known, draft: Draft): Known {
  const seen = draft.sense.last
  return { ...known, seen, since: neverBack(known.since, known.seen, seen) }
}

function cached(draft: Draft): StoreUnavailableError {
  return new StoreUnavailableError({
    key: draft.config.key,
    message: `The store's answers about ${JSON.stringify(draft.config.key)} come without its time, as from a cache`,
    next: "Remove the cache or proxy between this process and the store",
  })
}

function attempt<A>(read: () => A): A | LockError {
  try {
    return read()
  } catch (error) {
    return error as LockError
  }
}
