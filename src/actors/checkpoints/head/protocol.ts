/**
 * The head protocol (rules 15, 16 and 18) as one pure function: (state, input, now) -> (state, commands). No I/O, no
 * clock, no timers. The writer runs its commands; a checker can run it against a model of the store.
 *
 * - Claim. An owner first *claims* the head: it writes the same content back, under its own token and nonce, on the
 *   generation that it has just read. Every earlier owner's write on an older generation fails from then on. Nothing is
 *   written where the owner before granted the key, left this very generation, and had no write under way.
 * - Wait. Where the lease record doesn't prove that the owner whose head was claimed has ended, it is *waited out*.
 *   Only then the new owner runs.
 * - Commit. Each commit replaces the last version that is known to be this owner's.
 * - Read back. A write that isn't known applied is read back. What stands there decides: my write's id, the same
 *   generation, or another owner's head. Its `predecessorOpId` tells which write of mine it followed.
 */
import { ABSENT, type Generation } from "../../../locks/stores/port.ts"
import type { Head } from "./head.ts"
import type {
  HeadAnswer,
  HeadCommand,
  HeadInput,
  HeadJob,
  HeadNow,
  HeadOutcome,
  Seen,
  HeadSettings,
  HeadState,
  HeadTransition,
  HeadTask,
} from "./types.ts"
import { claimHead, commitHead, waitOutFor, removeHead, saysAlready, waitedHead } from "./writes.ts"

const firstPauseMs = 100
const longestPauseMs = 2000
/** How soon to look again whether a lease in doubt is held. */
const doubtPauseMs = 250

/** Before the claim. `nonce` is the lease's. */
export function initialState(settings: HeadSettings, token: number, nonce: string): HeadState {
  const blank = { base: null, unresolved: null, lastWriteAt: null, job: null, waitOutMs: 0, waitOutUntil: null }
  return { settings, token, nonce, phase: "unclaimed", lost: false, ...blank, requests: 0 }
}

/** When the next `tick` is due; undefined while nothing waits for time. */
export function dueAt(state: HeadState): number | undefined {
  if (state.job === null) return undefined
  const { waiting, until } = state.job
  if (waiting.for === "raise" || waiting.for === "renewal" || waiting.for === "turn") return until
  return Math.min(until, waiting.for === "time" ? waiting.at : waiting.deadline)
}

/** Whether the job under way has sent a write whose fate isn't known. */
export function isSent(state: HeadState): boolean {
  return state.job !== null && isSentBy(state, state.job)
}

/**
 * Whether a head names this activation. The lease has to know before one can: that decides what it leaves to the next
 * owner.
 */
export function traceOf({ base, nonce, unresolved }: HeadState): "none" | "possible" | "sure" {
  if (base?.head?.nonce === nonce) return "sure"
  return unresolved === null ? "none" : "possible"
}

/** One step. Throws a TypeError for a task that begins during another, or before the claim. */
export function step(state: HeadState, input: HeadInput, now: HeadNow): HeadTransition {
  if (input.type === "begin") return begin(state, input.task, input.until, now)
  const job = state.job
  if (input.type === "lost") return lose({ ...state, lost: true }, now)
  if (job === null) return stay(state)
  switch (input.type) {
    case "cancel":
      return isWritten(job.task) ? stay(state) : end(state, { kind: "cancelled" })
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

function begin(state: HeadState, task: HeadTask, until: number, now: HeadNow): HeadTransition {
  if (state.job !== null) throw new TypeError(`A ${task.kind} of ${state.settings.key} came during another write`)
  if (task.kind !== "claim" && state.phase === "unclaimed")
    throw new TypeError(`A ${task.kind} of ${state.settings.key} came before its head was claimed`)
  if (task.kind !== "claim" && state.phase === "fenced") return end(state, { kind: "rejected" })
  if (task.kind === "claim" && state.phase === "owner")
    return end(state, { kind: "done", written: false, before: state.base!.head })
  const job: HeadJob = { task, until, failures: 0, write: null, waiting: { for: "time", at: now.at, next: "read" } }
  if (task.kind === "waitOut") return waitOut(state, job, now)
  return task.kind === "claim" || state.unresolved !== null ? sendRead(state, job, now) : decide(state, job, now)
}

function tick(state: HeadState, job: HeadJob, now: HeadNow): HeadTransition {
  const { waiting } = job
  if (now.at >= job.until)
    return end(state, { kind: isSent(state) && job.task.kind !== "claim" ? "unknown" : "timeout" })
  if (waiting.for === "raise" || waiting.for === "renewal" || waiting.for === "turn") return stay(state)
  if (waiting.for === "time") {
    if (now.at < waiting.at) return stay(state)
    return waiting.next === "renewal" ? waitOut(state, job, now) : goOn(state, job, waiting.next, now)
  }
  if (now.at < waiting.deadline) return stay(state)
  if (waiting.for === "read") return answered(state, job, { kind: "failed", fatal: false }, now)
  return answered(state, job, { kind: "unknown", fatal: false }, now)
}

/**
 * Whether a caller has to know the fate of the task's write. The fate of a claim, or of the end of a wait, nobody
 * needs.
 */
const isWritten = ({ kind }: HeadTask): boolean => kind !== "claim" && kind !== "waitOut"

/** Nothing more is written. What was sent is still worth knowing, except for a claim. */
function lose(state: HeadState, now: HeadNow): HeadTransition {
  const job = state.job
  if (job === null) return stay(state)
  if (!isWritten(job.task)) return end(state, { kind: "lost" })
  if (job.waiting.for === "read" || job.waiting.for === "put") return stay(state)
  return isSentBy(state, job) ? sendRead(state, job, now) : end(state, { kind: "lost" })
}

function answered(state: HeadState, job: HeadJob, answer: HeadAnswer, now: HeadNow): HeadTransition {
  const isClaim = job.task.kind === "claim"
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
function readBack(state: HeadState, job: HeadJob, now: HeadNow): HeadTransition {
  const failures = job.failures + 1
  const again: HeadJob = { ...job, failures }
  if (failures === 1 && job.waiting.for === "put") return sendRead(state, again, now)
  return pauseBefore("read", state, again, now)
}

function pauseBefore(next: "read" | "renewal", state: HeadState, job: HeadJob, now: HeadNow): HeadTransition {
  const pause = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(job.failures, 10)) * (0.5 + now.draw / 2)
  return wait(state, job, now.at + pause, next)
}

/**
 * The record has to stand for as long as the hidden owner's lease may last; a renewal that is sent now shows that it
 * stands. That owner was one before the head was read. So its last write came before this record, or never comes: see
 * docs/protocol.md. Once the wait is over the head says so. Otherwise the next one would wait as long after an owner
 * that leaves without a change.
 */
function waitOut(state: HeadState, job: HeadJob, now: HeadNow): HeadTransition {
  if (state.lost) return end(state, { kind: "lost" })
  if (state.waitOutMs === 0) return decide(state, job, now)
  if (state.waitOutUntil !== null && now.at < state.waitOutUntil) return wait(state, job, state.waitOutUntil, "renewal")
  const request = state.requests + 1
  return {
    state: { ...state, requests: request, job: { ...job, waiting: { for: "renewal", request } } },
    commands: [{ type: "renew", request }],
  }
}

/**
 * A renewal shows that the record stood when it was sent. The first one begins the wait. The first that is sent after
 * the wait has ended ends it.
 */
function stood(state: HeadState, job: HeadJob, now: HeadNow): HeadTransition {
  if (state.waitOutUntil !== null) return waitOut({ ...state, waitOutMs: 0, waitOutUntil: null }, job, now)
  return waitOut({ ...state, waitOutUntil: now.at + state.waitOutMs }, job, now)
}

/** The head isn't the version that was known. */
function moved(state: HeadState, job: HeadJob, seen: Seen, now: HeadNow): HeadTransition {
  if (seen.head !== null && state.unresolved?.opIds.includes(seen.head.opId)) return landed(state, job, seen, now)
  if (job.task.kind === "claim" || seen.head === null) {
    const lastWriteAt = state.base === null ? state.lastWriteAt : now.at
    return decide({ ...state, base: seen, unresolved: null, lastWriteAt }, { ...job, write: null }, now)
  }
  return end({ ...state, phase: "fenced", base: seen, unresolved: null }, verdict(state, job, seen.head))
}

/**
 * What another owner's head says of this job's write. Its `predecessorOpId` is the write that its activation began on.
 */
function verdict(state: HeadState, job: HeadJob, other: Head): HeadOutcome {
  const before = state.base?.head?.opId ?? null
  if (!isSentBy(state, job) || other.predecessorOpId === before) return { kind: "rejected" }
  if (other.predecessorOpId === opIdOf(state, job)) return done(state)
  const isAnotherOfMine = other.predecessorOpId !== null && state.unresolved!.opIds.includes(other.predecessorOpId)
  return { kind: isAnotherOfMine ? "rejected" : "unknown" }
}

/** A write of mine stands in the store. It ends the job if it is the job's; an older one is only the new base. */
function landed(before: HeadState, job: HeadJob, seen: Seen, now: HeadNow): HeadTransition {
  const state: HeadState = { ...before, base: seen, unresolved: null, lastWriteAt: now.at }
  const head = seen.head!
  if (job.task.kind === "claim" && head.token === state.token && head.nonce === state.nonce)
    return end({ ...state, phase: "owner", waitOutMs: head.waitOutMs }, done(before))
  if (job.task.kind !== "claim" && head.opId === opIdOf(before, job)) return end(state, done(before))
  return decide(state, { ...job, write: null }, now)
}

/** What to do about the head as it stands in `base`. */
function decide(state: HeadState, job: HeadJob, now: HeadNow): HeadTransition {
  const head = state.base?.head ?? null
  if (job.task.kind === "claim") {
    return head !== null && head.token >= state.token ? raise(state, job, head.token) : sendWrite(state, job, now)
  }
  const isSaid = state.unresolved === null && saysAlready(head, job.task, state.settings.version)
  return isSaid ? end(state, { kind: "done", written: false, before: head }) : sendWrite(state, job, now)
}

function raise(state: HeadState, job: HeadJob, above: number): HeadTransition {
  const request = state.requests + 1
  return {
    state: { ...state, requests: request, job: { ...job, waiting: { for: "raise", request, above } } },
    commands: [{ type: "raise", request, above }],
  }
}

const goOn = (state: HeadState, job: HeadJob, next: "read" | "write", now: HeadNow): HeadTransition =>
  next === "read" ? sendRead(state, job, now) : sendWrite(state, job, now)

function sendRead(state: HeadState, job: HeadJob, now: HeadNow): HeadTransition {
  if (!now.admitted) return waitTurn(state, job, "read")
  const request = state.requests + 1
  const deadline = Math.min(now.at + state.settings.requestMs, job.until)
  return {
    state: { ...state, requests: request, job: { ...job, waiting: { for: "read", request, deadline } } },
    commands: [{ type: "read", request, known: state.base?.generation ?? null, deadline }],
  }
}

function sendWrite(state: HeadState, job: HeadJob, now: HeadNow): HeadTransition {
  if (state.lost) return end(state, { kind: isSentBy(state, job) ? "unknown" : "lost" })
  if (!now.held) return wait(state, job, now.at + doubtPauseMs, "write")
  if (job.task.kind === "claim" && isLeft(state))
    return end({ ...state, phase: "owner" }, { kind: "done", written: false, before: state.base!.head })
  const spaced = state.lastWriteAt === null ? now.at : state.lastWriteAt + state.settings.spacingMs
  if (now.at < spaced) return wait(state, job, spaced, "write")
  if (!now.admitted) return waitTurn(state, job, "write")
  const base = state.base!
  const head = job.write ?? build(state, job.task, now)
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
 * Whether nobody else can write the head as it stands in `base`: a claim would only repeat it. A claim is needed all
 * the same where it says more than who owns the head. That of a removed sandbox begins anew, and the ttl in a head has
 * to cover mine.
 */
function isLeft({ base, settings, unresolved }: HeadState): boolean {
  const head = base?.head ?? null
  if (head === null || unresolved !== null || base!.generation !== settings.left) return false
  const { saved, leases, leasesId, ttlMs } = head
  const isHere = leases === settings.leases && leasesId === settings.leasesId
  const saysAll = saved.state !== "removed" && isHere && ttlMs >= settings.ttlMs
  return saysAll && waitOutFor(settings, head) === 0
}

/** The generation to leave to the next owner with a grant, where no write of mine on it was ever sent. */
export function leftBy({ phase, unresolved, job, base }: HeadState): Generation | undefined {
  return phase === "owner" && unresolved === null && job === null ? base!.generation : undefined
}

function build(state: HeadState, task: HeadTask, now: HeadNow): Head {
  switch (task.kind) {
    case "claim":
      return claimHead(state, now.fresh)
    case "commit":
      return commitHead(state, task.saved, now.fresh)
    case "remove":
      return removeHead(state, task.calls, now.fresh)
    case "waitOut":
      return waitedHead(state, now.fresh)
    case "settle":
      return state.unresolved!.last
  }
}

const wait = (state: HeadState, job: HeadJob, at: number, next: "read" | "write" | "renewal"): HeadTransition =>
  stay({ ...state, job: { ...job, waiting: { for: "time", at, next } } })

const waitTurn = (state: HeadState, job: HeadJob, next: "read" | "write"): HeadTransition =>
  stay({ ...state, job: { ...job, waiting: { for: "turn", next } } })

const end = (state: HeadState, outcome: HeadOutcome): HeadTransition => {
  const ended: HeadCommand = { type: "ended", outcome }
  return { state: { ...state, job: null }, commands: [ended] }
}

/** A write of mine has replaced what was known. */
const done = ({ base }: HeadState): HeadOutcome => ({ kind: "done", written: true, before: base?.head ?? null })

/** The write whose fate is the job's. */
const opIdOf = (state: HeadState, { task, write }: HeadJob): string | undefined =>
  task.kind === "settle" ? state.unresolved?.last.opId : write?.opId

const isSentBy = (state: HeadState, job: HeadJob): boolean => {
  const opId = opIdOf(state, job)
  return opId !== undefined && state.unresolved !== null && state.unresolved.opIds.includes(opId)
}

const stay = (state: HeadState): HeadTransition => ({ state, commands: [] })
