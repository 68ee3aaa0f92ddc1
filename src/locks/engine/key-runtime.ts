/**
 * The runtime of the protocol for one key of one incarnation. It gives the reducer time and chance, and does what each
 * step says. Decides nothing about the lease. It joins parts that each own one thing:
 *
 *     key/callers.ts          whose turn it is in this process
 *     ../admission            whether a request may be sent now
 *     key-commands.ts         the requests, and their answers
 *     key/key-alarm.ts        when to step by itself
 *     key/rings.ts            when to look before that
 *     key/key-events.ts       who is told of what, and when
 *     key/key-counts.ts       what is counted
 *
 * A step is complete before anybody is told of it.
 */
import type { Observable } from "rxjs"
import type { OnError } from "../../runtime/report.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import { type Admission, admissionTo, type Slot } from "../admission/admission.ts"
import { KeyTurns, type KeyTurnsParts } from "../admission/key-turns.ts"
import type { Counting } from "../api/counts.ts"
import type { Owner } from "../api/errors.ts"
import type { LockEvent } from "../api/lock.ts"
import { initialState, nextWake, traced, watched } from "../protocol/reducer.ts"
import { deadlineOf, isHeld } from "../protocol/rules/authority.ts"
import type { Hold, Input, LockConfig, LockState } from "../protocol/rules/state.ts"
import { diverged, elapsed, type Now, past, type Sense } from "../protocol/rules/time.ts"
import { ownerOf } from "../record.ts"
import type { LeaseStore, ObjectRef } from "../stores/port.ts"
import { type Holder, holderOf } from "./holder.ts"
import { type CommandsParts, KeyCommands } from "./key-commands.ts"
import { KeyRequests, type KeyRequestsParts } from "./key-requests.ts"
import { Callers, type CallersParts } from "./key/callers.ts"
import { type AlarmParts, KeyAlarm } from "./key/key-alarm.ts"
import { KeyCounts } from "./key/key-counts.ts"
import { KeyEvents, type KeyListener, type ReleaseRequest } from "./key/key-events.ts"
import { Rings, type RingsParts } from "./key/rings.ts"
import type { RequestTaps } from "./request-taps.ts"

/** How an attempt is followed. */
export interface AttemptFollower {
  readonly listener: KeyListener
  /** Sees each state that the turn comes to; it may do nothing but look. */
  readonly onStep: ((state: LockState) => void) | undefined
  /** Its caller has waited in this process, and was counted for it. */
  readonly queued: boolean
}

/** What a runtime shares with the others of its incarnation. */
export interface KeyRuntimesParts {
  readonly store: LeaseStore
  readonly clock: Clock
  readonly counts: Counting
  /** The listeners to requests. */
  readonly taps: RequestTaps
  /** Called when a key leaves its rest, and when it comes to rest again. */
  onBusy(runtime: KeyRuntime, busy: boolean): void
}

/** What the parts of a key call, and what they are made with: all of it is the runtime. */
type PartsOfKey = AlarmParts & CallersParts & CommandsParts & KeyRequestsParts & KeyTurnsParts & RingsParts

/** One key of one incarnation on one store. */
export class KeyRuntime implements PartsOfKey {
  readonly key: string
  readonly onError: OnError | undefined
  readonly requests: KeyRequests
  /** Those of this process. A turn ends when the key has come to rest. */
  readonly callers: Callers
  readonly #admission: KeyTurns
  readonly #commands: KeyCommands
  readonly #alarm: KeyAlarm
  readonly #rings: Rings
  readonly #events: KeyEvents
  readonly #counts: KeyCounts
  readonly #shared: KeyRuntimesParts
  #state: LockState | undefined
  #onStep: ((state: LockState) => void) | undefined

  constructor(key: string, shared: KeyRuntimesParts, onError: OnError | undefined) {
    this.key = key
    this.onError = onError
    this.#shared = shared
    this.requests = new KeyRequests(this)
    this.callers = new Callers(this)
    this.#admission = new KeyTurns(this)
    this.#commands = new KeyCommands(this)
    this.#alarm = new KeyAlarm(this)
    this.#rings = new Rings(this)
    this.#events = new KeyEvents(onError)
    this.#counts = new KeyCounts(shared.counts)
  }

  get clock(): Clock {
    return this.#shared.clock
  }

  get store(): LeaseStore {
    return this.#shared.store
  }

  get taps(): RequestTaps {
    return this.#shared.taps
  }

  /** Where the key's record is. */
  get ref(): ObjectRef {
    return this.requests.ref
  }

  /** The protocol's state, once there is one. */
  get state(): LockState | undefined {
    return this.#state
  }

  /** All events of this key in this incarnation. */
  get events$(): Observable<LockEvent> {
    return this.#events.events$
  }

  /** Whether anybody is subscribed to its events. */
  get observed(): boolean {
    return this.#events.observed
  }

  /** The ownership now in force, if one is. */
  get hold(): Hold | undefined {
    return this.#state?.phase.name === "owning" ? this.#state.phase.hold : undefined
  }

  /** When that ownership ends unless it is renewed, in Unix milliseconds of this process's clock. */
  get deadline(): number | undefined {
    const { hold } = this
    if (hold === undefined) return undefined
    const now = this.clock.read()
    return Math.round(now.wall - elapsed(deadlineOf(hold), now))
  }

  /** What is known of time here. */
  get sense(): Sense | undefined {
    return this.#state?.sense
  }

  /** Who owns the key by the last version of the record that is known. */
  get owner(): Owner | undefined {
    return ownerOf(this.#state?.view?.record)
  }

  /** The same for those who wait for it, with how long it has owned. */
  get holder(): Holder | undefined {
    return holderOf(this.#state, this.#glance())
  }

  /** What a waiter asked for and observers were told, while that waiter still waits. */
  get releaseRequest(): ReleaseRequest | undefined {
    if (this.hold === undefined) return undefined
    const { releaseRequest } = this.#events
    return this.#state?.view?.record?.waitingOwnerId === releaseRequest?.waiterId ? releaseRequest : undefined
  }

  /** Whether something is taken back from the store, mostly behind a caller whose wait has ended. */
  get isClearing(): boolean {
    return this.#state?.phase.name === "clearing"
  }

  /** Whether this process may act on the key now. */
  isHeld(): boolean {
    return this.#state !== undefined && isHeld(this.#state, this.#glance())
  }

  /** Steps where the clocks say by now what would change something. */
  compareClocks(): void {
    const { hold } = this
    const reading = this.clock.read()
    const over = hold !== undefined && past(deadlineOf(hold), reading)
    if (over || (this.#state !== undefined && diverged(this.#state.sense, reading))) this.dispatch({ type: "tick" })
  }

  /** A caller that has joined is not the first: it waits in this process. */
  countQueued(): void {
    this.#counts.queued(this.callers.queued > 1)
  }

  /** Begins the attempt whose turn it is. */
  begin(
    config: LockConfig,
    input: Extract<Input, { type: "acquire" }>,
    { listener, onStep, queued }: AttemptFollower,
  ): void {
    this.#events.follow(listener)
    this.#onStep = onStep
    this.#counts.begin(queued)
    this.#admission.begin()
    this.#state = this.#state === undefined ? initialState(config, this.#now()) : { ...this.#state, config }
    this.dispatch(input)
  }

  /** Whether that ownership was the last here, and was left without anybody being able to tell what became of it. */
  mayLeaveAgain(nonce: string): boolean {
    const phase = this.#state?.phase
    return !this.callers.busy && phase?.name === "idle" && phase.left?.hold.nonce === nonce
  }

  /** Leaves the present ownership, or goes on with leaving the last one, whose listener is still the same. */
  leave(note: string | undefined): void {
    if (!this.callers.busy) {
      this.callers.take()
      this.#admission.begin()
    }
    this.dispatch({ type: "release", note })
  }

  /** From now on nobody asks for this runtime: what it knew of others, and of its own past, goes with it. */
  forget(): void {
    this.#state = undefined
  }

  /** This turn's events go to another listener from now on. */
  follow(listener: KeyListener): void {
    this.#events.follow(listener)
  }

  /** What a head says of the present ownership. */
  traced(trace: "possible" | "sure"): void {
    if (this.#state !== undefined) this.#state = traced(this.#state, trace)
  }

  /** @internal Of its callers: a turn begins or ends. */
  onBusy(busy: boolean): void {
    this.#shared.onBusy(this, busy)
  }

  /** @internal Of its callers: one has begun to wait, or waits no more. */
  onChange(): void {
    this.#rearm(this.#glance())
  }

  /** @internal Of its turns at the store. A store that answers at once has no door. */
  door(): Admission | undefined {
    return this.store.prompt === undefined ? admissionTo(this.store, this.clock) : undefined
  }

  /** @internal Of its turns at the store: there is room for what is due. */
  onTurn(slot: Slot): void {
    this.#step({ type: "tick" }, slot)
  }

  /** @internal Of its commands. */
  onAnswer(answer: Input): void {
    this.dispatch(answer)
  }

  /** @internal Of its alarm. */
  onTime(): void {
    this.dispatch({ type: "tick" })
  }

  /** @internal Of its rings. */
  onRing(): void {
    this.dispatch({ type: "ring" })
  }

  /** One step of the protocol, with all that comes of it. Before the first attempt there is nothing to step. */
  dispatch(input: Input): void {
    this.#step(input, undefined)
  }

  /** `given`: room for a request, which is free again where none is due. */
  #step(input: Input, given: Slot | undefined): void {
    if (this.#state === undefined) return given?.free()
    const wasAtRest = this.#atRest && input.type !== "acquire" && input.type !== "release" // these end a rest
    const now = this.#now()
    const { state, commands, events, slot } = this.#admission.step(this.#state, input, now, given)
    this.#state = state
    const looks = commands.some(({ type }) => type === "read")
    this.#rings.follow(state, looks) // before the look is sent, so that it shows what came before the watch
    this.#commands.run(commands, state, slot)
    this.#state = watched(state, this.#rings.hears(state), now)
    this.#rearm(now)
    this.#onStep?.(state)
    this.#counts.step(input, state)
    for (const event of events) this.#tell({ at: now.wall, key: this.key, ownerId: state.config.id, ...event })
    if (!wasAtRest && this.#atRest) this.#events.afterwards(() => this.#rest())
    this.#events.deliver()
    this.#commands.flush()
    this.#rings.answer()
  }

  #tell(event: LockEvent): void {
    this.#counts.event(event)
    this.#events.tell(event)
  }

  #rest(): void {
    this.#onStep = undefined
    this.callers.end()
  }

  get #atRest(): boolean {
    return this.#state === undefined || this.#state.phase.name === "idle"
  }

  #now(): Now {
    return { ...this.clock.read(), fresh: this.clock.id(), draw: this.clock.random() }
  }

  /** For what only asks: chance has no part in it. */
  #glance(): Now {
    return { ...this.clock.read(), fresh: "", draw: 0 }
  }

  #rearm(now: Now): void {
    if (this.#state === undefined) return
    const at = nextWake(this.#state, now, this.#admission.queued)
    this.#alarm.set({ at, background: this.#background, isHeld: this.hold !== undefined }, now)
  }

  /** What a caller waits for keeps the process alive; holding a lease, and clearing up behind a caller, doesn't. */
  get #background(): boolean {
    if (this.callers.waiting) return false
    const phase = this.#state?.phase
    return phase?.name === "owning" || (phase?.name === "clearing" && phase.error === undefined)
  }

  /** The clocks have gone apart. Each key learns of it by a step, so that small steps don't add up to one unseen. */
  onReading(): void {
    this.dispatch({ type: "tick" })
  }
}
