/**
 * The lease protocol as one pure function: (state, input, now) -> (state, commands, events). No I/O, no clock, no timers:
 * production, simulator and checker run this same function. `nextWake` says when it wants to be called again.
 */
import type { LockError } from "../api/errors.ts"
import { lacksRoom } from "../stores/room.ts"
import {
  beginSeeking,
  cancelSeeking,
  expireSeeking,
  lookNow,
  OFTEN,
  seekingFailed,
  seekingSaw,
  seekingUnsure,
  seekingWrote,
} from "./acquire.ts"
import { clearingFailed, clearingSaw, expireClearing } from "./cleanup.ts"
import {
  beginLeaving,
  expireLeaving,
  howToLeave,
  leaveAgain,
  leaverSaw,
  leaverUnsure,
  leaverWrote,
  planLeaving,
} from "./leave.ts"
import {
  expireOwning,
  forceRenewal,
  leaveToExpire,
  lookForWaiter,
  nameGroups,
  ownerFailed,
  ownerSaw,
  ownerThrottled,
  ownerUnsure,
  ownerWrote,
  planOwning,
  signalDue,
  signalWaiter,
  stay,
} from "./own.ts"
import { issue, mayWrite } from "./request.ts"
import { deadlineOf } from "./rules/authority.ts"
import { budgetEnd } from "./rules/budget.ts"
import type {
  Act,
  Command,
  Draft,
  Due,
  Flight,
  Input,
  LockConfig,
  LockState,
  ProtocolEvent,
  SentWrite,
  WriteResult,
} from "./rules/state.ts"
import { compare, earlier, instant, type Instant, later, type Now, past, plus } from "./rules/time.ts"
import { settleSent, takeApplied, takeRead, takeSample } from "./rules/view.ts"

/** What one step comes to. */
export interface Step {
  readonly state: LockState
  readonly commands: readonly Command[]
  readonly events: readonly ProtocolEvent[]
}

/** A key nobody here has touched. */
export function initialState(config: LockConfig, now: Now): LockState {
  return {
    config,
    sense: { last: instant(now), epoch: 0, sample: undefined },
    view: undefined,
    observedOwner: undefined,
    observedWaiter: undefined,
    observedLine: [],
    remembered: undefined,
    named: false,
    topToken: 0,
    sent: [],
    flight: undefined,
    watched: false,
    requests: 0,
    phase: { name: "idle" },
  }
}

/** Whether what is due in this state may be sent now. Where not, it stays due: a later step sends what is due then. */
export type Admits = (due: Due, state: LockState) => boolean

const always: Admits = () => true

/** One step. Inputs that the phase has no use for change nothing. */
export function step(state: LockState, input: Input, now: Now, admits: Admits = always): Step {
  const draft: Draft = { ...state, now, commands: [], events: [] }
  draft.sense = compare(state.sense, now)
  expire(draft, draft.sense.epoch !== state.sense.epoch)
  accept(draft, input)
  if (draft.phase.name === "owning") signalWaiter(draft, draft.phase)
  const due = plan(draft)
  const isDue = due !== undefined && past(due.at, now) && !isBlocked(draft, due)
  if (isDue && admits(due, draft)) issue(draft, due)
  const { now: _, commands, events, ...next } = draft
  return { state: next, commands, events }
}

/** A head names the ownership, or may come to. It needs no step: what it changes is what a later write says. */
export function traced(state: LockState, trace: "possible" | "sure"): LockState {
  const { phase } = state
  if (phase.name !== "owning" || phase.hold.trace === "sure") return state
  return { ...state, phase: { ...phase, hold: { ...phase.hold, trace } } }
}

/**
 * Whether the shell is told of the record's changes and of the end of its owner's process. Once it no longer is, a look comes as soon
 * as it would have come without, whoever was to have its turn first.
 */
export function watched(state: LockState, hears: boolean, now: Now): LockState {
  if (state.watched === hears) return state
  const { phase } = state
  const isFar = !hears && phase.name === "seeking" && phase.next.act === "read" && phase.failures === 0
  if (!isFar) return { ...state, watched: hears }
  const at = earlier(phase.next.at, plus(now, OFTEN))
  return { ...state, watched: hears, phase: { ...phase, unheard: 0, next: { act: "read", at } } }
}

/**
 * The monotonic time at which the state wants a `tick`, if nothing else happens before. What is `queued` wasn't admitted yet:
 * only what would go before it is still to come.
 */
export function nextWake(state: LockState, now: Now, queued?: Act): number | undefined {
  const flight = queued === undefined ? state.flight : asIfSent(queued, now)
  const due = plan({ ...state, flight, now, commands: [], events: [] })
  const moments = [isBlocked({ flight }, due) ? undefined : due?.at, ...expiries(state, now)]
  const wakes = moments.flatMap((moment) => (moment === undefined ? [] : [moment.mono]))
  return wakes.length === 0 ? undefined : Math.min(...wakes)
}

/** Whether it has to wait for the request under way. A look is in nobody's way but another look's. */
const isBlocked = ({ flight }: Pick<LockState, "flight">, due: Due | undefined): boolean =>
  flight !== undefined && (flight.act !== "read" || due?.act === "read")

const asIfSent = (act: Act, now: Now): Flight => ({ id: 0, act, sentAt: instant(now), epoch: 0, opId: undefined })

/** What comes next, and when. Without a sample of the store's time there is nothing to stamp a write with: look first. */
function plan(draft: Draft): Due | undefined {
  const due = wanted(draft)
  return due === undefined || mayWrite(draft) ? due : { ...due, act: "read" }
}

function wanted(draft: Draft): Due | undefined {
  const { phase } = draft
  switch (phase.name) {
    case "idle":
      return undefined
    case "owning":
      return planOwning(draft, phase.hold, draft.now)
    case "leaving":
      return planLeaving(draft, phase, () => howToLeave(draft))
    case "seeking":
    case "clearing":
      return phase.next
  }
}

function expiries(state: LockState, now: Now): readonly (Instant | undefined)[] {
  const { phase } = state
  switch (phase.name) {
    case "idle":
      return []
    case "seeking":
      return [budgetEnd(phase.attempt)]
    case "owning": {
      const signal = signalDue(state, phase.hold)
      return [deadlineOf(phase.hold), signal && past(signal, now) ? undefined : signal]
    }
    case "leaving":
      return [phase.until]
    case "clearing":
      return [phase.error === undefined ? undefined : phase.settleBy, phase.until]
  }
}

function expire(draft: Draft, jumped: boolean): void {
  const { phase } = draft
  if (phase.name === "seeking") expireSeeking(draft, phase)
  else if (phase.name === "owning") expireOwning(draft, phase, jumped)
  else if (phase.name === "leaving") expireLeaving(draft, phase)
  else if (phase.name === "clearing") expireClearing(draft, phase)
}

function accept(draft: Draft, input: Input): void {
  const { phase } = draft
  switch (input.type) {
    case "acquire":
      return phase.name === "idle" ? beginSeeking(draft, input) : undefined
    case "cancel":
      return phase.name === "seeking" ? cancelSeeking(draft, phase) : undefined
    case "renew":
      return phase.name === "owning" ? forceRenewal(draft, phase, input.tokenAbove) : undefined
    case "stay":
      return phase.name === "owning" ? stay(draft, phase, input.ms) : undefined
    case "release":
      if (phase.name === "owning") beginLeaving(draft, phase.hold, input.note)
      else if (phase.name === "idle" && phase.left !== undefined) leaveAgain(draft, phase.left)
      return
    case "nameGroups":
      return phase.name === "owning" ? nameGroups(draft, phase, input.groups) : undefined
    case "ring":
      if (phase.name === "seeking") lookNow(draft, phase)
      else if (phase.name === "owning") lookForWaiter(draft, phase)
      return
    case "leaveToExpire":
      return phase.name === "owning" ? leaveToExpire(draft, phase) : undefined
    case "read":
      return answered(draft, input.id, (flight) => readAnswered(draft, flight, input.answer))
    case "wrote":
      return answered(draft, input.id, (flight) => writeAnswered(draft, flight, input.answer))
    case "tick":
      return undefined
  }
}

/** Answers to requests given up on are discarded. */
function answered(draft: Draft, id: number, then: (flight: Flight) => void): void {
  const { flight } = draft
  if (flight?.id !== id) return
  draft.flight = undefined
  then(flight)
}

/** An answer to what was sent before the clocks jumped can't be placed in time: look again. */
const outdated = (draft: Draft, flight: Flight): boolean => flight.epoch !== draft.sense.epoch

function readAnswered(draft: Draft, flight: Flight, answer: Extract<Input, { type: "read" }>["answer"]): void {
  if (outdated(draft, flight)) return unsure(draft, undefined)
  const error = takeRead(draft, flight, answer)
  if (error !== undefined) return failed(draft, error)
  const view = draft.view!
  const landed = settleSent(draft)
  const { phase } = draft
  if (phase.name === "seeking") seekingSaw(draft, phase, view, landed)
  else if (phase.name === "owning") ownerSaw(draft, phase, view, landed)
  else if (phase.name === "leaving") leaverSaw(draft, phase, view)
  else if (phase.name === "clearing") clearingSaw(draft, phase, view)
}

function writeAnswered(draft: Draft, flight: Flight, answer: WriteResult): void {
  takeSample(draft, flight, answer.storeTime)
  const sent = draft.sent.find(({ opId }) => opId === flight.opId)
  if (answer.kind === "unknown" && lacksRoom(answer.error)) forget(draft, flight, sent)
  if (answer.kind === "unknown" && answer.throttled) return throttled(draft, answer.error)
  if (answer.kind === "unknown" && !answer.overtaken) return unsure(draft, answer.error)
  const untimed = draft.config.clock !== "none" && answer.storeTime === undefined
  if (answer.kind !== "applied" || sent === undefined || untimed || outdated(draft, flight))
    return unsure(draft, undefined)
  takeApplied(draft, flight, sent, answer)
  const view = draft.view!
  const { phase } = draft
  if (phase.name === "seeking") seekingWrote(draft, phase, sent, view)
  else if (phase.name === "owning") ownerWrote(draft, phase, sent, view)
  else if (phase.name === "leaving") leaverWrote(draft, phase, sent, view)
  else if (phase.name === "clearing") clearingSaw(draft, phase, view)
}

function failed(draft: Draft, error: LockError): void {
  const { phase } = draft
  if (phase.name === "seeking") seekingFailed(draft, phase, error)
  else if (phase.name === "owning") ownerFailed(draft, phase, error)
  else if (phase.name === "leaving") leaverUnsure(draft, phase, error)
  else if (phase.name === "clearing") clearingFailed(draft, phase, error)
}

function unsure(draft: Draft, error: LockError | undefined): void {
  const { phase } = draft
  if (phase.name === "seeking") seekingUnsure(draft, phase, error)
  else if (phase.name === "owning") ownerUnsure(draft, phase, error)
  else if (phase.name === "leaving") leaverUnsure(draft, phase, error)
  else if (phase.name === "clearing") clearingFailed(draft, phase, error)
}

/** There was no room for it: where it was sent this once nothing of it is on its way. */
function forget(draft: Draft, { sentAt }: Flight, sent: SentWrite | undefined): void {
  if (sent?.firstSend.mono === sentAt.mono) draft.sent = draft.sent.filter((other) => other !== sent)
}

/** The object took another's write within its spacing: contention for it, which is no loss under any setting. */
function throttled(draft: Draft, error: LockError): void {
  const { view, config, now } = draft
  const tryAgain = plus(now, -0.7 * config.spacing)
  if (view !== undefined) draft.view = { ...view, lastWrite: later(view.lastWrite, tryAgain), vague: 0, crowded: true }
  if (draft.phase.name === "owning") ownerThrottled(draft, draft.phase, error)
  else unsure(draft, error)
}
