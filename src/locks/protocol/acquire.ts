/**
 * Acquiring and waiting (rule 7): every answer is judged afresh, and leads to a claim, a mark, another look, or the end
 * of the attempt. What an attempt may leave behind in the store is cleanup.ts's to undo.
 */
import type { LockError } from "../api/errors.ts"
import { corruptError, LINE_LENGTH, type LeaseRecord, needsError, noteTo, ownerOf } from "../record.ts"
import { lacksRoom } from "../stores/room.ts"
import { beginClearing } from "./cleanup.ts"
import { beginOwning, renewAfterGrant } from "./own.ts"
import { type PhaseRules, unchanged } from "./phases.ts"
import { beforeMe, claimBody, isQuiet, liveOwner, liveWaiter, markBody, rankOf } from "./record-writes.ts"
import {
  backoff,
  claimersTurn,
  isBeforeNextWrite,
  isBusyStranger,
  ownersTurn,
  renewsOften,
  waitersTurn,
} from "./request.ts"
import { shownDeadline, writtenDeadline } from "./rules/authority.ts"
import { budgetEnd } from "./rules/budget.ts"
import { mayBeCreate, stillRemembered, timeProblem } from "./rules/expiry.ts"
import { hasRoom, LINE_REFRESH, lineOf } from "./rules/line.ts"
import { cancelled, contention, elsewhere, sharedIncarnation, timedOut, tooNew } from "./rules/refusals.ts"
import { livingTwin, nonceOf, ownerStanding, waiterStanding } from "./rules/standing.ts"
import type { Attempt, Draft, Input, Phase, Seeking, SentWrite, Told, View } from "./rules/state.ts"
import { earlier, elapsed, instant, type Instant, past, plus, storeNow } from "./rules/time.ts"
import { sightOf } from "./rules/view.ts"

/** As one that wants the key. */
export const seeking: PhaseRules<"seeking"> = {
  expire,
  told,
  saw,
  wrote,
  failed,
  unsure,
  conclude: unchanged,
  due: (_, phase) => phase.next,
  expiries: (_, { attempt }) => [budgetEnd(attempt)],
  compose: (draft, phase, act, view, pen) =>
    act === "mark" ? markBody(draft, view, phase, pen) : claimBody(draft, view, phase.attempt, pen),
  sent: unchanged,
}

/**
 * Where writes are spaced, a wait shorter than this can't be served: it would only cost the owner renewals. In
 * milliseconds.
 */
const SHORTEST_WAIT = 4000
/**
 * Behind a stranger that writes often its next write is looked for this often, in spacings: a mark has to come soon
 * after.
 */
const WATCHFUL = 0.15
/**
 * What a grant has to leave, in spacings: one until its owner may write, another where a mark takes that turn, and time
 * for answers.
 */
const LEAST_LEFT = 3
/** Where reads aren't cheap, a look comes after one to two of these. In milliseconds. */
const SHORTEST_POLL = 1000
/** Where they are, and nobody tells of changes, looks come to be half of this to all of it apart. In milliseconds. */
export const OFTEN = 1000
/** The same where the runtime is told of changes: a look is for what it wasn't told, and for what is over by time. */
const SELDOM = 3000

/** Starts an attempt: a read first, unless my own release is the last version known. */
export function beginSeeking(draft: Draft, input: Extract<Input, { type: "acquire" }>): Seeking {
  const { type: _, spentMs = 0, queuedMs = 0, ...options } = input
  const at = instant(draft.now)
  const { view, sense, config, now } = draft
  const warm = view?.warm === true && (config.clock === "none" || storeNow(sense, now, config.ttl) !== undefined)
  return {
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
function expire(draft: Draft, phase: Seeking): Phase {
  const end = budgetEnd(phase.attempt)
  if (end === undefined || !past(end, draft.now)) return phase
  return fail(draft, phase, timedOut(draft, phase))
}

function told(draft: Draft, phase: Seeking, input: Told): Phase {
  switch (input.type) {
    case "cancel":
      return fail(draft, phase, cancelled(draft))
    case "ring":
      return lookNow(draft, phase)
    case "acquire":
    case "renew":
    case "stay":
    case "nameGroups":
    case "release":
    case "leaveToExpire":
      return phase
  }
}

/** A read showed a version: judge it. */
function saw(draft: Draft, before: Seeking, view: View, landed: SentWrite | undefined): Phase {
  const asked = before.asked ?? draft.topToken
  const phase = { ...before, asked, unheard: 0, failures: 0, lastError: undefined, heard: true }
  const { record } = view
  const refusal = record && (unreadable(draft, view, record) ?? doubled(draft, view, record))
  if (refusal !== undefined) return fail(draft, phase, refusal)
  switch (ownerStanding(record, draft, phase.attempt.nonce)) {
    case "mine":
      return adopt(draft, phase, view, landed)
    case "stripped":
      return next(phase, "claim", ownersTurn(draft, instant(draft.now)))
    case "absent":
      return stillRemembered(sightOf(draft, view), draft.remembered) ? poll(draft, phase) : claim(draft, phase, view)
    case "twin":
    case "other":
      return liveOwner(draft, view) ? meetOwner(draft, phase, view, record!) : claim(draft, phase, view)
    case "dead":
      // Of an earlier attempt of mine, whose process groups may be at work yet.
      return view.evidence?.owner === "working" ? poll(draft, phase) : claim(draft, phase, view)
    case "free":
      return claim(draft, phase, view)
  }
}

/**
 * The record may have changed: a look that would come later comes now. Not so after a failure, whose pause is waited
 * out, nor as long as the changes are the turns of those ahead.
 */
function lookNow(draft: Draft, phase: Seeking): Seeking {
  if (phase.unheard > 0) return { ...phase, unheard: phase.unheard - 1 }
  if (phase.next.act !== "read" || phase.failures > 0) return phase
  return next(phase, "read", earlier(phase.next.at, draft.now))
}

/** A record that may not be judged, let alone written. */
function unreadable(draft: Draft, view: View, record: LeaseRecord): LockError | undefined {
  const { key } = draft.config
  if (record.needs.length > 0) return needsError(key, record)
  const problem = timeProblem(sightOf(draft, view), record)
  return problem === undefined ? undefined : corruptError(key, problem)
}

/**
 * Another process has my id, and lives: an id that two have tells nobody apart. One whose lease is over is taken over.
 */
function doubled(draft: Draft, view: View, record: LeaseRecord): LockError | undefined {
  const twin = livingTwin(draft)
  const isOver = twin === "owner" ? !liveOwner(draft, view) : liveWaiter(draft, view) === undefined
  return twin === undefined || isOver ? undefined : sharedIncarnation(draft, record, twin)
}

/** A write of mine was applied, and the store said when. */
function wrote(draft: Draft, phase: Seeking, sent: SentWrite, view: View): Phase {
  if (sent.act === "claim") return adopt(draft, phase, view, sent)
  const place = placeIn(phase, view)
  return poll(draft, place === undefined ? nowWaiting(draft, phase, view) : standInLine(draft, phase, view, place))
}

/** The fate of a write is open: look. */
function unsure(draft: Draft, phase: Seeking, error: LockError | undefined): Phase {
  if (error !== undefined) return failed(draft, phase, error)
  const overtaken = draft.sent.some(({ act }) => act === "mark")
  return next({ ...phase, overtaken }, "read", instant(draft.now))
}

/**
 * Nothing was learned: try again later, where that can help. A full disk may pass, but its user is to learn of it at
 * once.
 */
function failed(draft: Draft, phase: Seeking, error: LockError): Phase {
  if (!error.retryable || lacksRoom(error)) return fail(draft, phase, error)
  const at = plus(draft.now, backoff(draft, phase.failures))
  return { ...phase, next: { act: "read", at }, failures: phase.failures + 1, lastError: error }
}

/** Ends the attempt with an error, once nothing of it is left in the store. */
const fail = (draft: Draft, { attempt }: Seeking, error: LockError): Phase => beginClearing(draft, attempt, error)

/**
 * The key is mine: my claim landed, or I was granted it. It is acquired afresh in two cases. Hardly any authority may
 * be left over it. Or another owned it since: a late copy of my create may come after a later record was deleted. That
 * record's token is greater, or the same if it was made in the same millisecond; then it tells that I had given the
 * create up.
 */
function adopt(draft: Draft, phase: Seeking, view: View, landed: SentWrite | undefined): Phase {
  const claimed = landed?.act === "claim" ? landed : undefined
  // A claim from before a jump of the clocks counts by what a later read shows of it, like another's grant.
  const anchored = claimed?.epoch === draft.sense.epoch ? claimed : undefined
  const deadline = anchored === undefined ? shownDeadline(draft, view) : writtenDeadline(draft, anchored, view)
  const { record } = view
  const givenUp = claimed === undefined && record !== undefined && mayBeCreate(record)
  const outrun = givenUp || (record?.owner?.token ?? 0) < draft.topToken
  // A grant that came late, or is shorter than my guard bears, may leave too little for a first renewal: that comes
  // first then.
  const least = claimed === undefined ? LEAST_LEFT * draft.config.spacing : 0
  if (outrun || deadline === undefined || past(plus(deadline, -least), draft.now)) {
    return next(phase, "claim", ownersTurn(draft, instant(draft.now)))
  }
  const { attempt, met: waited } = phase
  if (claimed !== undefined) {
    const { came = "granted", groups: named } = claimed
    return beginOwning(draft, attempt, view, { how: came, deadline, named, waited })
  }
  const note = noteTo(record, attempt.nonce)
  return renewAfterGrant(draft, beginOwning(draft, attempt, view, { how: "granted", deadline, note, waited: true }))
}

/** Free, over, or left by an attempt of mine: it is anybody's, unless it is reserved for another. */
function claim(draft: Draft, phase: Seeking, view: View): Phase {
  const other = liveWaiter(draft, view)
  if (other === undefined) return next(phase, "claim", claimersTurn(draft, instant(draft.now)))
  if (phase.attempt.whenOwned === "report") return fail(draft, phase, elsewhere(draft, view.record!))
  return isQuiet(phase.attempt) ? poll(draft, phase) : contend(draft, phase, view, other.id)
}

function meetOwner(draft: Draft, before: Seeking, view: View, record: LeaseRecord): Phase {
  const phase = { ...before, met: true }
  const { attempt } = phase
  const saved = record.owner?.stateVersion ?? 0
  if (attempt.stateVersion !== null && saved > attempt.stateVersion)
    return fail(draft, phase, tooNew(draft, record, attempt))
  if (attempt.whenOwned === "report") return fail(draft, phase, elsewhere(draft, record))
  // Behind another life of my id: once a mark of mine stood there too, an owner without its half might be either of us.
  if (record.ownerId === draft.config.id) return waitUnmarked(draft, phase, view)
  if (isQuiet(attempt)) return waitQuietly(draft, phase, view)
  return waiterStanding(record, draft, attempt.nonce) === "mine"
    ? keepAsking(draft, nowWaiting(draft, phase, view))
    : ask(draft, phase, view, record)
}

/** My mark stands there. */
function keepAsking(draft: Draft, phase: Seeking): Phase {
  if (!wantsRefresh(draft)) return poll(draft, phase)
  return askOwner(draft, phase, true)
}

/** My mark doesn't stand there, or no more. */
function ask(draft: Draft, phase: Seeking, view: View, record: LeaseRecord): Phase {
  const other = beforeMe(draft, view, phase)
  if (other !== undefined) return queue(draft, phase, view, other.id)
  return askOwner(draft, phase, renewsOften(draft) || record.owner === undefined)
}

function askOwner(draft: Draft, phase: Seeking, looks: boolean): Phase {
  if (phase.attempt.budgetMs === 0) return fail(draft, phase, timedOut(draft, phase))
  return mayMark(draft, phase.attempt) ? mark(draft, phase, looks) : poll(draft, phase)
}

/** The owner isn't to be asked: I stand in the line alone, where I may wait behind others at all. */
function waitQuietly(draft: Draft, before: Seeking, view: View): Phase {
  const { contention: whenContended, budgetMs } = before.attempt
  if (whenContended === "fail" || budgetMs === 0) return waitUnmarked(draft, before, view)
  const phase = before.waiting ? before : nowWaiting(draft, before, view)
  return standBehind(draft, phase, view, () => poll(draft, phase))
}

/** The owner isn't to be asked, nor is anything written: the key is looked at until it is free. */
function waitUnmarked(draft: Draft, phase: Seeking, view: View): Phase {
  if (phase.attempt.budgetMs === 0) return fail(draft, phase, timedOut(draft, phase))
  return poll(draft, nowWaiting(draft, phase, view))
}

/** `looks`: the key may be granted, or found renewed, meanwhile, so that a look comes before a turn that is far off. */
function mark(draft: Draft, phase: Seeking, looks: boolean): Seeking {
  if (isBusyStranger(draft) && !isBeforeNextWrite(draft)) {
    return next(phase, "read", plus(draft.now, draft.config.spacing * WATCHFUL * (0.75 + draft.now.draw / 2)))
  }
  const at = waitersTurn(draft, phase)
  const before = plus(at, -SHORTEST_POLL)
  if (!looks || past(before, draft.now)) return next(phase, "mark", at)
  return next(phase, "read", earlier(before, plus(draft.now, SHORTEST_POLL)))
}

/** Another is to have the key first: then I stand in the line behind it. */
function queue(draft: Draft, phase: Seeking, view: View, waiterId: string): Phase {
  const { attempt } = phase
  if (attempt.contention === "fail" || attempt.budgetMs === 0) return contend(draft, phase, view, waiterId)
  return standBehind(draft, phase, view, () => contend(draft, phase, view, waiterId))
}

/** In the line, if that has a place for me. */
function standBehind(draft: Draft, phase: Seeking, view: View, stayOutside: () => Phase): Phase {
  const place = placeIn(phase, view)
  if (place !== undefined) {
    const standing = standInLine(draft, phase, view, place)
    return isFading(draft, place) ? mark(draft, standing, true) : poll(draft, standing)
  }
  const line = lineOf(sightOf(draft, view), view.record)
  if (!hasRoom(line, rankOf(draft, phase)) || !mayMark(draft, phase.attempt)) {
    const outside = stayOutside()
    // All who stand there have their turn first.
    return outside.name === "seeking" ? { ...outside, ahead: line.length + 1 } : outside
  }
  // Of many that try to join at once, one does each time. The others are as those outside.
  if (draft.config.spacing === 0 && phase.overtaken)
    return poll(draft, { ...phase, overtaken: false, ahead: LINE_LENGTH + 1 })
  return mark(draft, phase, renewsOften(draft) || view.record?.owner === undefined)
}

/** Where I stand in the line; undefined where I don't. */
function placeIn({ attempt }: Seeking, view: View): number | undefined {
  const at = view.record?.line.findIndex(({ nonce }) => nonce === attempt.nonce) ?? -1
  return at < 0 ? undefined : at
}

/** Before I am the waiter, each of those ahead is first: so many versions are of no concern to me. */
function standInLine(draft: Draft, before: Seeking, view: View, place: number): Seeking {
  const ahead = place + 1
  const isNearer = !before.waiting || ahead < before.ahead
  return { ...nowWaiting(draft, before, view), ahead, unheard: place, polls: isNearer ? ahead : before.polls }
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

function nowWaiting(draft: Draft, phase: Seeking, view: View): Seeking {
  const owner = ownerOf(view.record)
  if (!phase.waiting && owner !== undefined) draft.events.push({ type: "Waiting", owner })
  const isNearer = !phase.waiting || phase.ahead > 0
  return { ...phase, waiting: true, ahead: 0, polls: isNearer ? 0 : phase.polls }
}

function contend(draft: Draft, before: Seeking, view: View, waiterId: string): Phase {
  const phase = { ...before, waiting: false, ahead: 0 }
  if (phase.attempt.contention === "fail") return fail(draft, phase, contention(draft, view, waiterId))
  return poll(draft, phase)
}

/** Looks again: soon at first where reads are cheap, else after one to two seconds. */
function poll(draft: Draft, phase: Seeking): Phase {
  if (phase.attempt.budgetMs === 0 && !phase.waiting) return fail(draft, phase, timedOut(draft, phase))
  const { cheapReads } = draft.config
  const delay = cheapReads
    ? Math.min(draft.watched ? SELDOM : OFTEN, 10 * 2 ** phase.polls) * (0.5 + draft.now.draw / 2)
    : SHORTEST_POLL * (1 + draft.now.draw)
  const at = plus(draft.now, delay)
  return { ...phase, next: { act: "read", at }, polls: Math.min(phase.polls + 1, 10) }
}

const next = (phase: Seeking, act: Seeking["next"]["act"], at: Instant): Seeking => ({ ...phase, next: { act, at } })
