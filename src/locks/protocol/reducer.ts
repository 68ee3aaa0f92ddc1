/**
 * The lease protocol as one pure function: (state, input, now) -> (state, commands, events). No I/O, no clock, no
 * timers: production, simulator and checker run this same function. `nextWake` says when it wants to be called again.
 *
 * Owns what is common to all phases: the order within a step, and which answers count. What a phase makes of it is said
 * by the phase's rules (phases.ts), in one table.
 */
import type { LockError } from "../api/errors.ts"
import { NONE } from "../record.ts"
import { lacksRoom } from "../stores/room.ts"
import { OFTEN, seeking } from "./acquire.ts"
import { clearing } from "./cleanup.ts"
import { idle } from "./idle.ts"
import { leaving } from "./leave.ts"
import { lookSooner, owning } from "./own.ts"
import type { PhaseRules } from "./phases.ts"
import { mayWrite, sendRead, sendWrite } from "./request.ts"
import { assertSound } from "./rules/invariant.ts"
import type {
  Act,
  Command,
  Draft,
  Due,
  Flight,
  Input,
  LockConfig,
  LockState,
  Phase,
  Phases,
  ProtocolEvent,
  ReadResult,
  SentWrite,
  WriteResult,
} from "./rules/state.ts"
import { compare, earlier, instant, later, type Now, past, plus, wakeOf } from "./rules/time.ts"
import { settleSent, takeApplied, takeRead, takeSample } from "./rules/view.ts"

/** Each phase's rules: a phase that is added has to say all of them. */
const phases: { readonly [N in keyof Phases]: PhaseRules<N> } = { idle, seeking, owning, leaving, clearing }

const rulesOf = <N extends keyof Phases>(name: N): PhaseRules<N> => phases[name]

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
    observedLine: NONE,
    remembered: undefined,
    named: false,
    topToken: 0,
    sent: NONE,
    flight: undefined,
    watched: false,
    requests: 0,
    phase: { name: "idle" },
  }
}

/** Whether what is due in this state may be sent now. Where not, it stays due: a later step sends what is due then. */
export type Admits = (due: Due, state: LockState) => boolean

const always: Admits = () => true

/**
 * One step. Inputs that the phase has no use for change nothing. Throws ProtocolFaultError where it comes to a state
 * that can't be. In production the key is ended then (safe-step.ts).
 */
export function step(state: LockState, input: Input, now: Now, admits: Admits = always): Step {
  const draft: Draft & { phase: Phase } = { ...state, now, commands: [], events: [] }
  draft.sense = compare(state.sense, now)
  draft.phase = rulesOf(draft.phase.name).expire(draft, draft.phase, draft.sense.epoch !== state.sense.epoch)
  draft.phase = accept(draft, draft.phase, input)
  draft.phase = rulesOf(draft.phase.name).conclude(draft, draft.phase)
  const due = plan(draft, draft.phase)
  const isDue = due !== undefined && past(due.at, now) && !isBlocked(draft, due)
  if (isDue && admits(due, draft)) draft.phase = send(draft, draft.phase, due.act)
  const next = stateOf(draft)
  assertSound(next)
  return { state: next, commands: draft.commands, events: draft.events }
}

/** Field by field: a copy of all but some keeps its fields apart from itself, which costs an idle key twice as much. */
function stateOf(draft: LockState): LockState {
  return {
    config: draft.config,
    sense: draft.sense,
    view: draft.view,
    observedOwner: draft.observedOwner,
    observedWaiter: draft.observedWaiter,
    observedLine: draft.observedLine,
    remembered: draft.remembered,
    named: draft.named,
    topToken: draft.topToken,
    sent: draft.sent,
    flight: draft.flight,
    watched: draft.watched,
    requests: draft.requests,
    phase: draft.phase,
  }
}

/** A head names the ownership, or may come to. It needs no step: what it changes is what a later write says. */
export function traced(state: LockState, trace: "possible" | "sure"): LockState {
  const { phase } = state
  if (phase.name !== "owning" || phase.hold.trace === "sure") return state
  return { ...state, phase: { ...phase, hold: { ...phase.hold, trace } } }
}

/**
 * Whether the runtime is told of all that the key waits for. Once it no longer is, a look comes as soon as it would
 * have come without, also where others were to have their turn first.
 */
export function watched(state: LockState, hears: boolean, now: Now): LockState {
  if (state.watched === hears) return state
  const { phase, config } = state
  return { ...state, watched: hears, phase: hears ? phase : unwatched(phase, now, config) }
}

function unwatched(phase: Phase, now: Now, config: LockConfig): Phase {
  if (phase.name === "owning") return lookSooner(phase, now, config)
  if (phase.name !== "seeking" || phase.next.act !== "read" || phase.failures > 0) return phase
  return { ...phase, unheard: 0, next: { act: "read", at: earlier(phase.next.at, plus(now, OFTEN)) } }
}

/**
 * The monotonic time at which the state wants a `tick`, if nothing else happens before. A request that is `queued` is
 * due, and waits to be admitted: only what may go before it counts.
 */
export function nextWake(state: LockState, now: Now, queued?: Act): number | undefined {
  const flight = queued === undefined ? state.flight : asIfSent(queued, now)
  const { phase } = state
  const due = plan({ ...state, flight, now, commands: [], events: [] }, phase)
  let wake = due === undefined || isBlocked({ flight }, due) ? Infinity : onBeat(due.at.mono, now, state)
  for (const moment of rulesOf(phase.name).expiries(state, phase, now)) {
    if (moment !== undefined) wake = Math.min(wake, wakeOf(moment, now))
  }
  return wake === Infinity ? undefined : wake
}

/** What is due of an owner soon isn't put off, nor where a renewal failed: that may be all that keeps the lease. */
function onBeat(at: number, { mono }: Now, { phase, config: { beat } }: LockState): number {
  const isSoon = at - mono < 4 * beat
  if (beat === 0 || isSoon || phase.name !== "owning" || phase.hold.failures > 0) return at
  return Math.ceil(at / beat) * beat
}

/** Whether what is due has to wait for the request under way. A look blocks another look alone. */
const isBlocked = ({ flight }: Pick<LockState, "flight">, due: Due | undefined): boolean =>
  flight !== undefined && (flight.act !== "read" || due?.act === "read")

const asIfSent = (act: Act, now: Now): Flight => ({ id: 0, act, sentAt: instant(now), epoch: 0, opId: undefined })

/**
 * What comes next, and when. Without a sample of the store's time there is nothing to stamp a write with: look first.
 */
function plan(draft: Draft, phase: Phase): Due | undefined {
  const due = rulesOf(phase.name).due(draft, phase)
  return due === undefined || mayWrite(draft) ? due : { ...due, act: "read" }
}

function send(draft: Draft, phase: Phase, act: Act): Phase {
  const rules = rulesOf(phase.name)
  if (act !== "read")
    return rules.sent(
      draft,
      phase,
      sendWrite(draft, phase, act, (view, pen) => rules.compose(draft, phase, act, view, pen)),
    )
  sendRead(draft)
  return rules.sent(draft, phase, undefined)
}

function accept(draft: Draft, phase: Phase, input: Input): Phase {
  switch (input.type) {
    case "tick":
      return phase
    case "read":
    case "wrote":
      return answered(draft, phase, input)
    case "acquire":
    case "cancel":
    case "renew":
    case "stay":
    case "release":
    case "nameGroups":
    case "leaveToExpire":
    case "ring":
      return rulesOf(phase.name).told(draft, phase, input)
  }
}

/** Answers to requests given up on are discarded. */
function answered(draft: Draft, phase: Phase, input: Extract<Input, { type: "read" | "wrote" }>): Phase {
  const { flight } = draft
  if (flight?.id !== input.id) return phase
  draft.flight = undefined
  return input.type === "read"
    ? readAnswered(draft, phase, flight, input.answer)
    : writeAnswered(draft, phase, flight, input.answer)
}

/** An answer to what was sent before the clocks jumped can't be placed in time: look again. */
const outdated = (draft: Draft, flight: Flight): boolean => flight.epoch !== draft.sense.epoch

function readAnswered(draft: Draft, phase: Phase, flight: Flight, answer: ReadResult): Phase {
  const rules = rulesOf(phase.name)
  if (outdated(draft, flight)) return rules.unsure(draft, phase, undefined, false)
  const error = takeRead(draft, flight, answer)
  if (error !== undefined) return rules.failed(draft, phase, error)
  const landed = settleSent(draft)
  return rules.saw(draft, phase, draft.view!, landed)
}

function writeAnswered(draft: Draft, phase: Phase, flight: Flight, answer: WriteResult): Phase {
  const rules = rulesOf(phase.name)
  takeSample(draft, flight, answer.storeTime)
  const sent = draft.sent.find(({ opId }) => opId === flight.opId)
  if (answer.kind === "unknown" && lacksRoom(answer.error)) forget(draft, flight, sent)
  if (answer.kind === "unknown" && answer.throttled) return throttled(draft, phase, answer.error)
  if (answer.kind === "unknown" && !answer.overtaken) return rules.unsure(draft, phase, answer.error, false)
  const untimed = draft.config.clock !== "none" && answer.storeTime === undefined
  if (answer.kind !== "applied" || sent === undefined || untimed || outdated(draft, flight))
    return rules.unsure(draft, phase, undefined, false)
  takeApplied(draft, flight, sent, answer)
  return rules.wrote(draft, phase, sent, draft.view!)
}

/** There was no room for it. Sent this once, nothing of it is on its way. */
function forget(draft: Draft, { sentAt }: Flight, sent: SentWrite | undefined): void {
  if (sent?.firstSend.mono === sentAt.mono) draft.sent = draft.sent.filter((other) => other !== sent)
}

/** The object took another's write within its spacing: contention for it, which is no loss under any setting. */
function throttled(draft: Draft, phase: Phase, error: LockError): Phase {
  const { view, config, now } = draft
  const tryAgain = plus(now, -0.7 * config.spacing)
  if (view !== undefined) draft.view = { ...view, lastWrite: later(view.lastWrite, tryAgain), vague: 0, crowded: true }
  return rulesOf(phase.name).unsure(draft, phase, error, true)
}
