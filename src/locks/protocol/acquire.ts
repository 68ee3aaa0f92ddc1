/**
 * Acquiring and waiting (rule 7): every answer is judged afresh, and leads to a claim, a mark, another look, or the end
 * of the attempt. What an attempt may leave behind in the store is clear.ts's to undo.
 */
import type { LockError } from "../api/errors.ts"
import { corruptError, LINE_LENGTH, type LeaseRecord, needsError, noteTo, ownerOf } from "../record.ts"
import { lacksRoom } from "../stores/room.ts"
import { beginClearing } from "./cleanup.ts"
import { beginOwning, renewAfterGrant } from "./own.ts"
import { askedOf, beforeMe, isQuiet, liveOwner, liveWaiter, rankOf } from "./record-writes.ts"
import {
  backoff,
  claimersTurn,
  isBeforeNextWrite,
  isBusyStranger,
  ownersTurn,
  renewsOften,
  waitersTurn,
} from "./request.ts"
import { shownBound, writtenBound } from "./rules/authority.ts"
import { budgetEnd } from "./rules/budget.ts"
import { mayBeCreate, stillRemembered, timeProblem } from "./rules/expiry.ts"
import { hasRoom, LINE_REFRESH, lineOf } from "./rules/line.ts"
import { cancelled, contention, elsewhere, sharedIncarnation, timedOut, tooNew } from "./rules/refusals.ts"
import { livingTwin, nonceOf, ownerStanding, waiterStanding } from "./rules/standing.ts"
import type { Act, Attempt, Draft, Input, Phase, SentWrite, View } from "./rules/state.ts"
import { earlier, elapsed, instant, type Instant, past, plus, storeNow } from "./rules/time.ts"
import { sightOf } from "./rules/view.ts"

type Seeking = Extract<Phase, { name: "seeking" }>
type Owning = Extract<Phase, { name: "owning" }>

/** Where writes are spaced, a wait shorter than this can't be served: it would only cost the owner renewals. */
const SHORTEST_WAIT = 4000
/** Behind a stranger that writes often its next write is looked for this often, in spacings: a mark has to come soon after. */
const WATCHFUL = 0.15
/** What a grant has to leave, in spacings: one until its owner may write, another where a mark takes that turn, and time for answers. */
const LEAST_LEFT = 3
/** Where reads aren't cheap, a look comes after one to two of these. */
const SHORTEST_POLL = 1000
/** Where they are, looks come to be half of this to all of it apart, in milliseconds: nobody tells of what happens. */
export const OFTEN = 1000
/** The same where the shell is told of it: a look is for what it wasn't told, and for leases and marks that are over by time. */
const SELDOM = 3000

/** Starts an attempt: a read first, unless my own release is the last version known. */
export function beginSeeking(draft: Draft, input: Extract<Input, { type: "acquire" }>): void {
  const { type: _, spentMs = 0, queuedMs = 0, ...options } = input
  const at = instant(draft.now)
  const { view, sense, config, now } = draft
  const warm = view?.warm === true && (config.clock === "none" || storeNow(sense, now, config.ttl) !== undefined)
  draft.phase = {
    name: "seeking",
    attempt: {
      ...options,
      spentMs,
      queuedMs,
      nonce: nonceOf(draft.config, draft.now.fresh),
      startedAt: plus(at, -spentMs),
    },
    next: warm ? { act: "claim", at: claimersTurn(draft, at) } : { act: "read", at },
    waiting: false,
    polls: 0,
    asked: undefined,
    ahead: 0,
    unheard: 0,
    met: false,
    overtaken: false,
    failures: 0,
    lastError: undefined,
    heard: false,
  }
}

/** Gives up once the budget is over. */
export function expireSeeking(draft: Draft, phase: Seeking): void {
  const end = budgetEnd(phase.attempt)
  if (end === undefined || !past(end, draft.now)) return
  beginClearing(draft, phase.attempt, timedOut(draft, phase))
}

/** The caller gave up. */
export function cancelSeeking(draft: Draft, phase: Seeking): void {
  beginClearing(draft, phase.attempt, cancelled(draft))
}

/** A read showed a version: judge it. `landed` is the open write of mine that it shows, if it does. */
export function seekingSaw(draft: Draft, phase: Seeking, view: View, landed: SentWrite | undefined): void {
  const asked = phase.asked ?? draft.topToken
  draft.phase = { ...phase, asked, unheard: 0, failures: 0, lastError: undefined, heard: true }
  const { record } = view
  const refusal = record && (unreadable(draft, view, record) ?? doubled(draft, view, record))
  if (refusal !== undefined) return fail(draft, refusal)
  switch (ownerStanding(record, draft, phase.attempt.nonce)) {
    case "mine":
      return adopt(draft, view, landed)
    case "stripped":
      return next(draft, "claim", ownersTurn(draft, instant(draft.now)))
    case "absent":
      return stillRemembered(sightOf(draft, view), draft.remembered) ? poll(draft) : claim(draft, view)
    case "twin":
    case "other":
      return liveOwner(draft, view) ? meetOwner(draft, view, record!) : claim(draft, view)
    case "dead":
      // Of an earlier attempt of mine, whose process groups may be at work yet.
      return view.evidence?.owner === "working" ? poll(draft) : claim(draft, view)
    case "free":
      return claim(draft, view)
  }
}

/**
 * The record may have changed: what would be looked for later is looked for now, unless it is a failure that is waited out, or
 * the turns of those ahead that were to come first.
 */
export function lookNow(draft: Draft, phase: Seeking): void {
  if (phase.unheard > 0) {
    draft.phase = { ...phase, unheard: phase.unheard - 1 }
    return
  }
  if (phase.next.act !== "read" || phase.failures > 0) return
  next(draft, "read", earlier(phase.next.at, draft.now))
}

/** A record that may not be judged, let alone written. */
function unreadable(draft: Draft, view: View, record: LeaseRecord): LockError | undefined {
  const { key } = draft.config
  if (record.needs.length > 0) return needsError(key, record)
  const problem = timeProblem(sightOf(draft, view), record)
  return problem === undefined ? undefined : corruptError(key, problem)
}

/** Another process has my id, and lives: an id that two have tells nobody apart. One whose lease is over is taken over. */
function doubled(draft: Draft, view: View, record: LeaseRecord): LockError | undefined {
  const twin = livingTwin(draft)
  const isOver = twin === "owner" ? !liveOwner(draft, view) : liveWaiter(draft, view) === undefined
  return twin === undefined || isOver ? undefined : sharedIncarnation(draft, record, twin)
}

/** A write of mine was applied, and the store said when. */
export function seekingWrote(draft: Draft, phase: Seeking, sent: SentWrite, view: View): void {
  if (sent.act === "claim") return adopt(draft, view, sent)
  const place = placeIn(draft, view)
  if (place === undefined) nowWaiting(draft, phase, view)
  else standInLine(draft, view, place)
  poll(draft)
}

/** The fate of a write is open: look. */
export function seekingUnsure(draft: Draft, phase: Seeking, error: LockError | undefined): void {
  if (error !== undefined) return seekingFailed(draft, phase, error)
  draft.phase = { ...phase, overtaken: draft.sent.some(({ act }) => act === "mark") }
  next(draft, "read", instant(draft.now))
}

/** Nothing was learned: try again later, where that can help. A full disk may pass, but the sooner somebody hears of it the better. */
export function seekingFailed(draft: Draft, phase: Seeking, error: LockError): void {
  if (!error.retryable || lacksRoom(error)) return fail(draft, error)
  const at = plus(draft.now, backoff(draft, phase.failures))
  draft.phase = { ...phase, next: { act: "read", at }, failures: phase.failures + 1, lastError: error }
}

/** Ends the attempt with an error, once nothing of it is left in the store. */
export function fail(draft: Draft, error: LockError): void {
  const { attempt } = draft.phase as Seeking
  beginClearing(draft, attempt, error)
}

/**
 * The key is mine: my claim landed, or I was granted it. It is acquired afresh where hardly any authority is left over it, and where
 * another owned it since: an early create of mine may come back to life when a later record is deleted. That one's token is
 * greater, or the same if it was made in the same millisecond; then it tells that I had given the create up.
 */
function adopt(draft: Draft, view: View, landed: SentWrite | undefined): void {
  const claimed = landed?.act === "claim" ? landed : undefined
  // A claim from before a jump of the clocks counts by what a later read shows of it, like another's grant.
  const anchored = claimed?.epoch === draft.sense.epoch ? claimed : undefined
  const bound = anchored === undefined ? shownBound(draft, view) : writtenBound(draft, anchored, view)
  const { record } = view
  const givenUp = claimed === undefined && record !== undefined && mayBeCreate(record)
  const outrun = givenUp || (record?.owner?.token ?? 0) < draft.topToken
  // A grant that came late, or is shorter than my guard bears, may leave too little for a first renewal: that comes first then.
  const least = claimed === undefined ? LEAST_LEFT * draft.config.spacing : 0
  if (outrun || bound === undefined || past(plus(bound.deadline, -least), draft.now)) {
    return next(draft, "claim", ownersTurn(draft, instant(draft.now)))
  }
  const { attempt, met: waited } = draft.phase as Seeking
  if (claimed !== undefined) {
    const { came = "granted", groups: named } = claimed
    return beginOwning(draft, attempt, view, { how: came, bound, named, waited })
  }
  beginOwning(draft, attempt, view, { how: "granted", bound, note: noteTo(record, attempt.nonce), waited: true })
  renewAfterGrant(draft, draft.phase as Owning)
}

/** Free, over, or left by an attempt of mine: it is anybody's, unless it is reserved for another. */
function claim(draft: Draft, view: View): void {
  const other = liveWaiter(draft, view)
  if (other === undefined) return next(draft, "claim", claimersTurn(draft, instant(draft.now)))
  const { attempt } = draft.phase as Seeking
  if (attempt.whenOwned === "report") fail(draft, elsewhere(draft, view.record!))
  else if (isQuiet(attempt)) poll(draft)
  else contend(draft, view, other.id)
}

function meetOwner(draft: Draft, view: View, record: LeaseRecord): void {
  const phase = { ...(draft.phase as Seeking), met: true }
  draft.phase = phase
  const { attempt } = phase
  const saved = record.owner?.stateVersion ?? 0
  if (attempt.stateVersion !== null && saved > attempt.stateVersion) return fail(draft, tooNew(draft, record, attempt))
  if (attempt.whenOwned === "report") return fail(draft, elsewhere(draft, record))
  // Behind another life of my id: once a mark of mine stood there too, an owner without its half might be either of us.
  if (record.ownerId === draft.config.id) return waitUnmarked(draft, view)
  if (isQuiet(attempt)) return waitQuietly(draft, view)
  const mine = waiterStanding(record, draft, attempt.nonce)
  if (mine === "mine") nowWaiting(draft, phase, view)
  if (mine === "mine" && !wantsRefresh(draft)) return poll(draft)
  if (mine !== "mine") {
    const other = beforeMe(draft, view, attempt, askedOf(draft))
    if (other !== undefined) return queue(draft, view, other.id)
  }
  if (attempt.budgetMs === 0) return fail(draft, timedOut(draft, phase))
  if (!mayMark(draft, attempt)) return poll(draft)
  mark(draft, mine === "mine" || renewsOften(draft) || record.owner === undefined)
}

/** The owner is to hear nothing of it: I stand in the line alone, where I may wait behind others at all. */
function waitQuietly(draft: Draft, view: View): void {
  const phase = draft.phase as Seeking
  const { contention: whenContended, budgetMs } = phase.attempt
  if (whenContended === "fail" || budgetMs === 0) return waitUnmarked(draft, view)
  if (!phase.waiting) nowWaiting(draft, phase, view)
  standBehind(draft, view, () => poll(draft))
}

/** The owner is to hear nothing of it: the key is looked at until it is free. */
function waitUnmarked(draft: Draft, view: View): void {
  const phase = draft.phase as Seeking
  if (phase.attempt.budgetMs === 0) return fail(draft, timedOut(draft, phase))
  nowWaiting(draft, phase, view)
  poll(draft)
}

/** Whoever may be granted the key meanwhile, or will find it renewed, looks again before a turn that is far off. */
function mark(draft: Draft, looks: boolean): void {
  if (isBusyStranger(draft) && !isBeforeNextWrite(draft)) {
    return next(draft, "read", plus(draft.now, draft.config.spacing * WATCHFUL * (0.75 + draft.now.draw / 2)))
  }
  const at = waitersTurn(draft)
  const before = plus(at, -SHORTEST_POLL)
  if (!looks || past(before, draft.now)) next(draft, "mark", at)
  else next(draft, "read", earlier(before, plus(draft.now, SHORTEST_POLL)))
}

/** Another is to have the key first: then I stand in the line behind it. */
function queue(draft: Draft, view: View, waiterId: string): void {
  const { attempt } = draft.phase as Seeking
  if (attempt.contention === "fail" || attempt.budgetMs === 0) return contend(draft, view, waiterId)
  standBehind(draft, view, () => contend(draft, view, waiterId))
}

/** In the line, if that has a place for me. */
function standBehind(draft: Draft, view: View, stayOutside: () => void): void {
  const { attempt } = draft.phase as Seeking
  const line = lineOf(sightOf(draft, view), view.record)
  const place = placeIn(draft, view)
  if (place !== undefined) {
    standInLine(draft, view, place)
    if (!isFading(draft, place)) return poll(draft)
  } else if (!hasRoom(line, rankOf(draft, attempt)) || !mayMark(draft, attempt)) {
    stayOutside()
    // All who stand there have their turn first.
    if (draft.phase.name === "seeking") draft.phase = { ...draft.phase, ahead: line.length + 1 }
    return
  } else if (draft.config.spacing === 0 && (draft.phase as Seeking).overtaken) {
    // By another who came to stand there: of many that try it at once, one is there each time. The others are as those outside.
    draft.phase = { ...(draft.phase as Seeking), overtaken: false, ahead: LINE_LENGTH + 1 }
    return poll(draft)
  }
  mark(draft, place !== undefined || renewsOften(draft) || view.record?.owner === undefined)
}

/** Where I stand in the line; undefined where I don't. */
function placeIn({ phase }: Draft, view: View): number | undefined {
  const at = view.record?.line.findIndex(({ nonce }) => nonce === (phase as Seeking).attempt.nonce) ?? -1
  return at < 0 ? undefined : at
}

/** Before I am the waiter, each of those ahead is first: so many versions are of no concern to me. */
function standInLine(draft: Draft, view: View, place: number): void {
  const before = draft.phase as Seeking
  nowWaiting(draft, before, view)
  const ahead = place + 1
  const isNearer = !before.waiting || ahead < before.ahead
  draft.phase = { ...(draft.phase as Seeking), ahead, unheard: place, polls: isNearer ? ahead : before.polls }
}

/** My entry is to be refreshed. */
function isFading({ observedLine, now }: Draft, place: number): boolean {
  const observed = observedLine[place]
  return observed !== undefined && elapsed(observed.since, now) >= LINE_REFRESH
}

/** My mark stands unchanged for half its life. */
function wantsRefresh(draft: Draft): boolean {
  const { observedWaiter, config, now } = draft
  return observedWaiter !== undefined && elapsed(observedWaiter.since, now) * 2 >= config.waiterTtl
}

function mayMark(draft: Draft, attempt: Attempt): boolean {
  return draft.config.spacing === 0 || attempt.budgetMs === undefined || attempt.budgetMs >= SHORTEST_WAIT
}

function nowWaiting(draft: Draft, phase: Seeking, view: View): void {
  const owner = ownerOf(view.record)
  if (!phase.waiting && owner !== undefined) draft.events.push({ type: "Waiting", owner })
  const isNearer = !phase.waiting || phase.ahead > 0
  draft.phase = { ...phase, waiting: true, ahead: 0, polls: isNearer ? 0 : phase.polls }
}

function contend(draft: Draft, view: View, waiterId: string): void {
  const phase = draft.phase as Seeking
  draft.phase = { ...phase, waiting: false, ahead: 0 }
  if (phase.attempt.contention === "fail") return fail(draft, contention(draft, view, waiterId))
  if (phase.attempt.budgetMs === 0) return fail(draft, timedOut(draft, phase))
  poll(draft)
}

/** Looks again: soon at first where reads are cheap, else after one to two seconds. */
function poll(draft: Draft): void {
  const phase = draft.phase as Seeking
  if (phase.attempt.budgetMs === 0 && !phase.waiting) return fail(draft, timedOut(draft, phase))
  const { cheapReads } = draft.config
  const delay = cheapReads
    ? Math.min(draft.watched ? SELDOM : OFTEN, 10 * 2 ** phase.polls) * (0.5 + draft.now.draw / 2)
    : SHORTEST_POLL * (1 + draft.now.draw)
  const at = plus(draft.now, delay)
  draft.phase = { ...phase, next: { act: "read", at }, polls: Math.min(phase.polls + 1, 10) }
}

function next(draft: Draft, act: Act, at: Instant): void {
  draft.phase = { ...(draft.phase as Seeking), next: { act, at } }
}
