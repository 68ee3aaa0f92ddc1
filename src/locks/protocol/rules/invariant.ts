/**
 * What is true of every state of a key after every step, whatever the store, the clocks and other processes do. A state
 * that breaks it is a fault of leasehold, or of a store that answers with what is no time: nobody may act on it.
 *
 * `step` asserts what only compares fields. What parses bodies is for the checker and the tests to assert.
 */
import { ProtocolFaultError } from "../../api/errors.ts"
import { isToken, parseRecord, RECORD_LIMIT } from "../../record.ts"
import { ABSENT } from "../../stores/port.ts"
import { deadlineOf } from "./authority.ts"
import type { Clearing, Hold, Leaving, LockState, Owning, Seeking, SentWrite } from "./state.ts"
import { type Instant, past, plus } from "./time.ts"

/** What floating point may add to a moment that was computed in another order. In milliseconds. */
const ROUNDING = 1

/** Throws ProtocolFaultError for a state that can't be. */
export function assertSound(state: LockState): void {
  const fault = requestFault(state) ?? viewFault(state) ?? phaseFault(state)
  if (fault !== undefined) throw faultOf(state, fault)
}

/**
 * Throws ProtocolFaultError where a write that may still land says what it must not, CorruptRecordError where it is no
 * record.
 */
export function assertSoundWrites(state: LockState): void {
  for (const sent of state.sent) {
    const fault = writeFault(state, sent)
    if (fault !== undefined) throw faultOf(state, `the ${sent.act} ${sent.opId} ${fault}`)
  }
}

/** The error for a fault of the protocol itself. */
export function faultOf({ config, phase }: LockState, what: string, cause?: unknown): ProtocolFaultError {
  return new ProtocolFaultError({
    key: config.key,
    cause,
    message: `The state of ${JSON.stringify(config.key)} while ${phase.name} can't be: ${what}`,
    next: "Report it with this message; the key was given up, and what stands in the store runs out",
  })
}

/** At most one request is under way. Writes that may still land are conditioned on the version that is known. */
function requestFault({ flight, requests, sent, view, sense }: LockState): string | undefined {
  if (flight !== undefined) {
    if (flight.id !== requests) return `request ${flight.id} is under way, though ${requests} was the last`
    if (flight.epoch > sense.epoch) return "a request was sent in an epoch to come"
    const isWrite = flight.act !== "read"
    if (isWrite && !sent.some(({ opId }) => opId === flight.opId)) return "the write under way is forgotten"
  }
  const known = view?.generation
  return sent.some(({ expected }) => expected !== known) ? "a write for another version may land" : undefined
}

/** What is observed belongs to the version that is known, and its tokens were seen. */
function viewFault({ view, observedOwner, observedWaiter, observedLine, topToken }: LockState): string | undefined {
  if (view === undefined) return undefined
  const { record, generation } = view
  if (record === undefined) return generation === ABSENT ? undefined : "a version without a record isn't absent"
  if ((observedOwner?.id ?? null) !== record.ownerId) return "another owner is observed"
  if ((observedWaiter?.id ?? null) !== record.waitingOwnerId) return "another waiter is observed"
  if (observedLine.length !== record.line.length) return "another line is observed"
  const shown = Math.max(record.owner?.token ?? 0, record.lastRelease?.token ?? 0)
  return topToken >= shown ? undefined : `token ${shown} was shown, and ${topToken} is the greatest`
}

function phaseFault(state: LockState): string | undefined {
  const { phase, flight, sent } = state
  switch (phase.name) {
    case "idle":
      return flight === undefined && sent.length === 0 ? undefined : "something is under way"
    case "seeking":
      return seekingFault(phase)
    case "owning":
      return owningFault(state, phase)
    case "leaving":
      return leavingFault(state, phase)
    case "clearing":
      return clearingFault(state, phase)
  }
}

function seekingFault({ next, failures, lastError }: Seeking): string | undefined {
  if (!isTime(next.at)) return "nobody can tell when to go on"
  return failures > 0 === (lastError !== undefined) ? undefined : "failures and their error don't agree"
}

/** An owner has time left, never more than its ttl, by a record that names it. */
function owningFault(state: LockState, { hold }: Owning): string | undefined {
  const { config, sense, view, named } = state
  const deadline = deadlineOf(hold)
  if (!isTime(deadline) || past(deadline, sense.last)) return "the deadline isn't ahead"
  const latest = plus(sense.last, config.ttl - config.guard + ROUNDING)
  if (deadline.mono > latest.mono) return "the deadline is further ahead than a ttl"
  if (!isTime(hold.renewAt) || !isTime(hold.watchAt)) return "nobody can tell when to renew"
  if (view?.record?.ownerId !== config.id) return "the record names another owner"
  const { owner } = view.record
  if (owner === undefined ? !named : owner.nonce !== hold.nonce || owner.opId !== hold.opId)
    return "the record doesn't name this ownership"
  return tokenFault(state, hold)
}

function tokenFault({ topToken }: LockState, { token, raising }: Hold): string | undefined {
  if (!isToken(token) || token > topToken) return `its token ${token} was never seen`
  return raising === undefined || raising > token ? undefined : `token ${token} is to be raised to ${raising}`
}

function leavingFault(state: LockState, { hold, next, until, opIds }: Leaving): string | undefined {
  if (!isTime(next.at) || !isTime(until) || past(until, state.sense.last)) return "its time is over"
  const isForgotten = ({ act, opId }: SentWrite): boolean =>
    (act === "leave" || act === "delete") && !opIds.includes(opId)
  return state.sent.some(isForgotten) ? "a leave that was sent is forgotten" : tokenFault(state, hold)
}

function clearingFault({ sense }: LockState, { next, error, settleBy, until }: Clearing): string | undefined {
  if (!isTime(next.at) || !isTime(until) || past(until, sense.last)) return "its time is over"
  return error !== undefined && past(settleBy, sense.last) ? "the caller wasn't told in time" : undefined
}

const isTime = ({ mono, boot }: Instant): boolean => Number.isFinite(mono) && Number.isFinite(boot)

/** What is wrong with a write that may still land. */
function writeFault(state: LockState, { act, body, says, opId, token }: SentWrite): string | undefined {
  if (act === "delete") return undefined
  if (JSON.stringify(says) !== JSON.stringify(JSON.parse(body))) return "says what its body doesn't"
  if (new TextEncoder().encode(body).length > RECORD_LIMIT) return "is too large to be read again"
  const { id, key } = state.config
  const { ownerId, expiresAt, owner } = parseRecord(key, body) // throws for a body that nobody could read
  const known = state.view?.record
  switch (act) {
    case "claim":
    case "renew":
      return ownerId === id && owner?.opId === opId && owner.token === token ? undefined : "doesn't make me the owner"
    case "leave":
      return owner === undefined || owner.nonce !== known?.owner?.nonce ? undefined : "leaves the owner as it is"
    case "mark":
    case "erase": {
      const isKept = ownerId === (known?.ownerId ?? null) && expiresAt === (known?.expiresAt ?? 0)
      return isKept && owner?.opId === known?.owner?.opId ? undefined : "changes the owner"
    }
  }
}
