/**
 * The head protocol (rules 15, 16 and 18) as one pure function: (state, input, now) -> (state, commands). No I/O, no
 * clock, no timers. The writer runs its commands; a checker can run it against a model of the store.
 *
 * In one paragraph: an owner first *claims* the head, writing the same content back under its own token and nonce on the
 * generation it has just read, which makes every earlier owner's write on an older generation fail for good. Where the one
 * before granted the key, left this very generation, and had no write under way, there is none to make fail, and nothing is
 * written. Where the lease record doesn't prove that the owner whose head it claimed has ended, it *waits it out*. Only then it
 * runs, and each commit replaces the last version it knows to be its own. Whatever isn't known applied is read back and
 * decided by what stands there: my write's id, the same generation, or another owner's head, whose `over` tells which
 * write of mine it followed.
 */
import { ABSENT, type Generation } from "../../../locks/stores/port.ts"
import type { Head } from "./head.ts"
import type { Answer, Command, Input, Job, Now, Outcome, Seen, Settings, State, Transition, Wish } from "./types.ts"
import { claimHead, commitHead, quietFor, removeHead, saysAlready, waitedHead } from "./writes.ts"

const firstPauseMs = 100
const longestPauseMs = 2000
/** How soon to look again whether a lease in doubt is held. */
const doubtPauseMs = 250

/** Before the claim. `nonce` is the lease's. */
export function initialState(settings: Settings, token: number, nonce: string): State {
  const blank = { base: null, unresolved: null, lastWriteAt: null, job: null, quietMs: 0, quietUntil: null }
  return { settings, token, nonce, phase: "unclaimed", lost: false, ...blank, requests: 0 }
}

/** When the next `tick` is due; undefined while nothing waits for time. */
export function dueAt(state: State): number | undefined {
  if (state.job === null) return undefined
  const { waiting, until } = state.job
  if (waiting.for === "raise" || waiting.for === "renewal" || waiting.for === "turn") return until
  return Math.min(until, waiting.for === "time" ? waiting.at : waiting.deadline)
}

/** Whether the job under way has sent a write whose fate isn't known. */
export function isSent(state: State): boolean {
  return state.job !== null && isSentBy(state, state.job)
}

/** Whether a head names this activation. The lease has to know before one can: what it leaves to the next owner depends on it. */
export function traceOf({ base, nonce, unresolved }: State): "none" | "possible" | "sure" {
  if (base?.head?.nonce === nonce) return "sure"
  return unresolved === null ? "none" : "possible"
}

/** One step. Throws a TypeError for a wish that comes during another, or before the claim. */
export function step(state: State, input: Input, now: Now): Transition {
  if (input.type === "wish") return begin(state, input.wish, input.until, now)
  const job = state.job
  if (input.type === "lost") return lose({ ...state, lost: true }, now)
  if (job === null) return stay(state)
  switch (input.type) {
    case "cancel":
      return isWritten(job.wish) ? stay(state) : end(state, { kind: "cancelled" })
    case "tick":
      return tick(state, job, now)
    case "turn":
      return job.waiting.for === "turn" ? goOn(state, job, job.waiting.next, now) : stay(state)
    case "answer": {
      const isAwaited = "request" in job.waiting && job.waiting.request === input.request
      return isAwaited ? answered(state, job, input.answer, now) : stay(state)
    }
  }
}

function begin(state: State, wish: Wish, until: number, now: Now): Transition {
  if (state.job !== null) throw new TypeError(`A ${wish.kind} of ${state.settings.key} came during another write`)
  if (wish.kind !== "claim" && state.phase === "unclaimed")
    throw new TypeError(`A ${wish.kind} of ${state.settings.key} came before its head was claimed`)
  if (wish.kind !== "claim" && state.phase === "fenced") return end(state, { kind: "rejected" })
  if (wish.kind === "claim" && state.phase === "owner")
    return end(state, { kind: "done", written: false, before: state.base!.head })
  const job: Job = { wish, until, failures: 0, write: null, waiting: { for: "time", at: now.at, next: "read" } }
  if (wish.kind === "waitOut") return waitOut(state, job, now)
  return wish.kind === "claim" || state.unresolved !== null ? sendRead(state, job, now) : decide(state, job, now)
}

function tick(state: State, job: Job, now: Now): Transition {
  const { waiting } = job
  if (now.at >= job.until)
    return end(state, { kind: isSent(state) && job.wish.kind !== "claim" ? "unknown" : "timeout" })
  if (waiting.for === "raise" || waiting.for === "renewal" || waiting.for === "turn") return stay(state)
  if (waiting.for === "time") {
    if (now.at < waiting.at) return stay(state)
    return waiting.next === "renewal" ? waitOut(state, job, now) : goOn(state, job, waiting.next, now)
  }
  if (now.at < waiting.deadline) return stay(state)
  if (waiting.for === "read") return answered(state, job, { kind: "failed", fatal: false }, now)
  return answered(state, job, { kind: "unknown", fatal: false }, now)
}

/** Whether somebody has to know what became of what the wish writes: of a claim, and of the end of a wait, nobody has. */
const isWritten = ({ kind }: Wish): boolean => kind !== "claim" && kind !== "waitOut"

/** Nothing more is written. What was sent is still worth knowing, except for a claim. */
function lose(state: State, now: Now): Transition {
  const job = state.job
  if (job === null) return stay(state)
  if (!isWritten(job.wish)) return end(state, { kind: "lost" })
  if (job.waiting.for === "read" || job.waiting.for === "put") return stay(state)
  return isSentBy(state, job) ? sendRead(state, job, now) : end(state, { kind: "lost" })
}

function answered(state: State, job: Job, answer: Answer, now: Now): Transition {
  const isClaim = job.wish.kind === "claim"
  switch (answer.kind) {
    case "found":
    case "absent": {
      const seen: Seen = answer.kind === "found" ? answer : { generation: ABSENT, head: null }
      const { generation, head } = seen
      const isKnown = state.base?.generation === generation
      return isKnown ? decide(state, job, now) : moved(state, job, { generation, head }, now)
    }
    case "unchanged":
      return decide(state, job, now)
    case "unusable":
      return end(state, { kind: isSentBy(state, job) && !isClaim ? "unknown" : "unusable" })
    case "renewed":
      return stood(state, job, now)
    case "raised":
      return decide({ ...state, token: answer.token }, job, now)
    case "applied":
      return landed(state, job, { generation: answer.generation, head: job.write }, now)
    case "failed":
      if (answer.fatal && isClaim) return end(state, { kind: "failed" })
      if (job.waiting.for === "renewal")
        return pauseBefore("renewal", state, { ...job, failures: job.failures + 1 }, now)
      return readBack(state, job, now)
    case "refused":
      return readBack(state, job, now)
    case "unknown":
      if (answer.fatal && isClaim) return end(state, { kind: "failed" })
      return readBack({ ...state, lastWriteAt: now.at }, job, now)
  }
}

/** After a failure: at once the first time, then after growing pauses. */
function readBack(state: State, job: Job, now: Now): Transition {
  const failures = job.failures + 1
  const again: Job = { ...job, failures }
  if (failures === 1 && job.waiting.for === "put") return sendRead(state, again, now)
  return pauseBefore("read", state, again, now)
}

function pauseBefore(next: "read" | "renewal", state: State, job: Job, now: Now): Transition {
  const pause = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(job.failures, 10)) * (0.5 + now.draw / 2)
  return wait(state, job, now.at + pause, next)
}

/**
 * The record has to stand for as long as the hidden owner's lease may last: a renewal that is sent now shows that it stands.
 * That owner was one before the head was read, so its last write came before this record, or never comes: see docs/protocol.md.
 * Once it is over the head says so: an owner that leaves without a change would else make the next one wait as long again.
 */
function waitOut(state: State, job: Job, now: Now): Transition {
  if (state.lost) return end(state, { kind: "lost" })
  if (state.quietMs === 0) return decide(state, job, now)
  if (state.quietUntil !== null && now.at < state.quietUntil) return wait(state, job, state.quietUntil, "renewal")
  const request = state.requests + 1
  return {
    state: { ...state, requests: request, job: { ...job, waiting: { for: "renewal", request } } },
    commands: [{ type: "renew", request }],
  }
}

/** The record stood when a renewal was sent: the first begins the time, and one that is sent after that has ended ends it. */
function stood(state: State, job: Job, now: Now): Transition {
  if (state.quietUntil !== null) return waitOut({ ...state, quietMs: 0, quietUntil: null }, job, now)
  return waitOut({ ...state, quietUntil: now.at + state.quietMs }, job, now)
}

/** The head isn't the version that was known. */
function moved(state: State, job: Job, seen: Seen, now: Now): Transition {
  if (seen.head !== null && state.unresolved?.opIds.includes(seen.head.opId)) return landed(state, job, seen, now)
  if (job.wish.kind === "claim" || seen.head === null) {
    const lastWriteAt = state.base === null ? state.lastWriteAt : now.at
    return decide({ ...state, base: seen, unresolved: null, lastWriteAt }, { ...job, write: null }, now)
  }
  return end({ ...state, phase: "fenced", base: seen, unresolved: null }, verdict(state, job, seen.head))
}

/** What another owner's head says of this job's write. Its `over` is the write that its activation began on. */
function verdict(state: State, job: Job, other: Head): Outcome {
  const before = state.base?.head?.opId ?? null
  if (!isSentBy(state, job) || other.over === before) return { kind: "rejected" }
  if (other.over === opIdOf(state, job)) return done(state)
  const isAnotherOfMine = other.over !== null && state.unresolved!.opIds.includes(other.over)
  return { kind: isAnotherOfMine ? "rejected" : "unknown" }
}

/** A write of mine stands in the store. It ends the job if it is the job's; an older one is only the new base. */
function landed(before: State, job: Job, seen: Seen, now: Now): Transition {
  const state: State = { ...before, base: seen, unresolved: null, lastWriteAt: now.at }
  const head = seen.head!
  if (job.wish.kind === "claim" && head.token === state.token && head.nonce === state.nonce)
    return end({ ...state, phase: "owner", quietMs: head.quietMs }, done(before))
  if (job.wish.kind !== "claim" && head.opId === opIdOf(before, job)) return end(state, done(before))
  return decide(state, { ...job, write: null }, now)
}

/** What to do about the head as it stands in `base`. */
function decide(state: State, job: Job, now: Now): Transition {
  const head = state.base?.head ?? null
  if (job.wish.kind === "claim") {
    return head !== null && head.token >= state.token ? raise(state, job, head.token) : sendWrite(state, job, now)
  }
  const isSaid = state.unresolved === null && saysAlready(head, job.wish, state.settings.version)
  return isSaid ? end(state, { kind: "done", written: false, before: head }) : sendWrite(state, job, now)
}

function raise(state: State, job: Job, above: number): Transition {
  const request = state.requests + 1
  return {
    state: { ...state, requests: request, job: { ...job, waiting: { for: "raise", request, above } } },
    commands: [{ type: "raise", request, above }],
  }
}

const goOn = (state: State, job: Job, next: "read" | "write", now: Now): Transition =>
  next === "read" ? sendRead(state, job, now) : sendWrite(state, job, now)

function sendRead(state: State, job: Job, now: Now): Transition {
  if (!now.admitted) return waitTurn(state, job, "read")
  const request = state.requests + 1
  const deadline = Math.min(now.at + state.settings.requestMs, job.until)
  return {
    state: { ...state, requests: request, job: { ...job, waiting: { for: "read", request, deadline } } },
    commands: [{ type: "read", request, known: state.base?.generation ?? null, deadline }],
  }
}

function sendWrite(state: State, job: Job, now: Now): Transition {
  if (state.lost) return end(state, { kind: isSentBy(state, job) ? "unknown" : "lost" })
  if (!now.held) return wait(state, job, now.at + doubtPauseMs, "write")
  if (job.wish.kind === "claim" && isLeft(state))
    return end({ ...state, phase: "owner" }, { kind: "done", written: false, before: state.base!.head })
  const spaced = state.lastWriteAt === null ? now.at : state.lastWriteAt + state.settings.spacingMs
  if (now.at < spaced) return wait(state, job, spaced, "write")
  if (!now.admitted) return waitTurn(state, job, "write")
  const base = state.base!
  const head = job.write ?? build(state, job.wish, now)
  const request = state.requests + 1
  const deadline = Math.min(now.at + state.settings.requestMs, job.until)
  const sent = state.unresolved?.opIds ?? []
  const opIds = sent.includes(head.opId) ? sent : [...sent, head.opId]
  const waiting = { for: "put", request, deadline } as const
  return {
    state: { ...state, requests: request, unresolved: { opIds, last: head }, job: { ...job, write: head, waiting } },
    commands: [{ type: "put", request, expected: base.generation, head, deadline }],
  }
}

/**
 * Whether nobody else can write the head as it stands in `base`: a claim would only repeat what it says. Not where it would
 * have more to say than who owns it: the head of a removed sandbox begins anew, and the ttl that it names is to cover mine.
 */
function isLeft({ base, settings, unresolved }: State): boolean {
  const head = base?.head ?? null
  if (head === null || unresolved !== null || base!.generation !== settings.left) return false
  const { saved, leases, leasesId, ttlMs } = head
  const isHere = leases === settings.leases && leasesId === settings.leasesId
  const saysAll = saved.state !== "removed" && isHere && ttlMs >= settings.ttlMs
  return saysAll && quietFor(settings, head) === 0
}

/** The generation to leave to the next owner with a grant, where no write of mine on it was ever sent. */
export function leftBy({ phase, unresolved, job, base }: State): Generation | undefined {
  return phase === "owner" && unresolved === null && job === null ? base!.generation : undefined
}

function build(state: State, wish: Wish, now: Now): Head {
  switch (wish.kind) {
    case "claim":
      return claimHead(state, now.fresh)
    case "commit":
      return commitHead(state, wish.saved, now.fresh)
    case "remove":
      return removeHead(state, now.fresh)
    case "waitOut":
      return waitedHead(state, now.fresh)
    case "settle":
      return state.unresolved!.last
  }
}

const wait = (state: State, job: Job, at: number, next: "read" | "write" | "renewal"): Transition =>
  stay({ ...state, job: { ...job, waiting: { for: "time", at, next } } })

const waitTurn = (state: State, job: Job, next: "read" | "write"): Transition =>
  stay({ ...state, job: { ...job, waiting: { for: "turn", next } } })

const end = (state: State, outcome: Outcome): Transition => {
  const ended: Command = { type: "ended", outcome }
  return { state: { ...state, job: null }, commands: [ended] }
}

/** A write of mine has replaced what was known. */
const done = ({ base }: State): Outcome => ({ kind: "done", written: true, before: base?.head ?? null })

/** The write whose fate is the job's. */
const opIdOf = (state: State, { wish, write }: Job): string | undefined =>
  wish.kind === "settle" ? state.unresolved?.last.opId : write?.opId

const isSentBy = (state: State, job: Job): boolean => {
  const opId = opIdOf(state, job)
  return opId !== undefined && state.unresolved !== null && state.unresolved.opIds.includes(opId)
}

const stay = (state: State): Transition => ({ state, commands: [] })
