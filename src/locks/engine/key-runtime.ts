/**
 * The shell around the protocol for one key of one incarnation: gives the reducer time and chance, runs its commands, arms
 * its next wake on the shared schedule, and publishes its events. Decides nothing about the lease. Attempts of one process
 * take their turns here.
 *
 * A step is complete before anybody hears of it: first the listener whose turn it is, at once, then every observer. What an
 * observer brings about is told after what it was being told.
 */
import { Hub } from "../../runtime/observables.ts"
import type { Clock, Reading } from "../../runtime/time/clock.ts"
import { scheduleOf, type Wake } from "../../runtime/time/schedule.ts"
import { watchClocks } from "../../runtime/time/watch-clocks.ts"
import { admissionTo, type Slot } from "../admission/admission.ts"
import { KeyTurns } from "../admission/key-turns.ts"
import { countEvent, type Counting } from "../api/counts.ts"
import type { Owner } from "../api/errors.ts"
import type { LockEvent } from "../api/lock.ts"
import { initialState, nextWake, traced, watched } from "../protocol/reducer.ts"
import { deadlineOf, isHeld } from "../protocol/rules/authority.ts"
import type { Hold, Input, LockConfig, LockState } from "../protocol/rules/state.ts"
import { diverged, elapsed, type Now, past, type Sense } from "../protocol/rules/time.ts"
import { ownerOf } from "../record.ts"
import type { Generation, LeaseStore, PromptRequests } from "../stores/port.ts"
import { examined } from "./evidence.ts"
import { type Holder, holderOf } from "./holder.ts"
import { requestDeadline } from "./options.ts"
import { Requests, type RequestsParts } from "./requests.ts"
import { SyncRequests } from "./sync-requests.ts"
import { WakeSource } from "./wake-source.ts"

/** Hears of its own turn's events, each at once. */
export type Listener = (event: LockEvent) => void

/** Who begins an attempt. */
export interface Begun {
  readonly listener: Listener
  /** Sees each state that the turn comes to; it may do nothing but look. */
  readonly onStep: ((state: LockState) => void) | undefined
  /** It has waited in this process, and was counted for it. */
  readonly waited: boolean
}

/** A request to leave, as observers were told of it. */
export type Asked = Extract<LockEvent, { type: "ReleaseRequested" }>

/** What a runtime shares with the others of its incarnation. */
export interface KeyRuntimeParts extends RequestsParts {
  readonly counts: Counting
  /** Called when the key leaves its rest, and when it comes to rest again. */
  readonly onBusy: (busy: boolean) => void
}

/** One key of one incarnation on one store. */
export class KeyRuntime {
  readonly key: string
  readonly clock: Clock
  readonly requests: Requests
  readonly #store: LeaseStore
  readonly #hub: Hub<LockEvent>
  readonly #wake: Wake
  readonly #wakeSource: WakeSource | undefined
  readonly #syncRequests: SyncRequests | undefined
  readonly #turnsAtDoor: KeyTurns
  readonly #turns: (() => void)[] = []
  /** What comes after the present step: tidings for observers, and the next turn. */
  readonly #outbox: (() => void)[] = []
  #delivering = false
  #state: LockState | undefined
  #listener: Listener = () => {}
  #onStep: ((state: LockState) => void) | undefined
  #taken = false
  #callers = 0
  #asked: Asked | undefined
  #watch: Disposable | undefined
  /** It was rung for while a request was under way, which may not show why. */
  #rung = false
  readonly #onBusy: (busy: boolean) => void
  readonly #counts: Counting
  /** Whether the present attempt was counted as one that met another waiter. */
  #contended = false
  /** Whether the caller whose turn it is was counted as one that waits. */
  #waited = false

  constructor(key: string, store: LeaseStore, parts: KeyRuntimeParts) {
    const { clock, onError, counts, onBusy } = parts
    this.key = key
    this.clock = clock
    this.#store = store
    this.#counts = counts
    this.#onBusy = onBusy
    this.requests = new Requests(key, store, parts)
    this.#hub = new Hub(onError)
    this.#wake = scheduleOf(clock).wake(() => this.dispatch({ type: "tick" }))
    this.#syncRequests = this.#syncRequestsOf(store.prompt)
    this.#turnsAtDoor = new KeyTurns(
      () => (store.prompt === undefined ? admissionTo(store, clock) : undefined),
      (slot) => this.#dispatch({ type: "tick" }, slot),
      onError,
    )
    if (store.watch !== undefined)
      this.#wakeSource = new WakeSource(store, this.requests.ref, (generation) => this.#ring(generation))
  }

  /** All events of this key in this incarnation. */
  get events$(): Hub<LockEvent>["observable"] {
    return this.#hub.observable
  }

  /** Whether anybody hears of its events. */
  get observed(): boolean {
    return this.#hub.observed
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
  get asked(): Asked | undefined {
    if (this.hold === undefined) return undefined
    return this.#state?.view?.record?.waitingOwnerId === this.#asked?.waiterId ? this.#asked : undefined
  }

  /** Whether an attempt or an ownership is under way in this process. */
  get busy(): boolean {
    return this.#taken
  }

  /** Whether something is taken back from the store, mostly behind a caller whose wait has ended. */
  get isClearing(): boolean {
    return this.#state?.phase.name === "clearing"
  }

  /** Whether this process may act on the key now. */
  isHeld(): boolean {
    return this.#state !== undefined && isHeld(this.#state, this.#glance())
  }

  /** Sees to it that what the clocks say by now is known: a step where it would change something, and none where not. */
  look(): void {
    this.#compare(this.clock.read())
  }

  /**
   * Calls `start` once no other attempt of this process is under way, in the order of calls. The turn ends when the key
   * has come to rest. The result gives up a turn that has not begun; afterwards it does nothing.
   */
  join(start: () => void): () => void {
    this.#turns.push(start)
    this.#nextTurn()
    this.#rearm(this.#glance())
    return () => {
      const index = this.#turns.indexOf(start)
      if (index < 0) return
      this.#turns.splice(index, 1)
      this.#rearm(this.#glance())
    }
  }

  /** A caller has to wait in this process; `behind` another who does already. */
  waits(behind: boolean): void {
    this.#counts.waits++
    if (behind) this.#counts.contention++
  }

  /** The caller whose turn it is has to wait for another process; once, and not again where it waited here before. */
  #waits(): void {
    if (!this.#waited) this.#counts.waits++
    this.#waited = true
  }

  /** How many callers of this process wait for their turn. */
  get waiting(): number {
    return this.#turns.length
  }

  /** Begins the attempt whose turn it is. */
  begin(config: LockConfig, input: Extract<Input, { type: "acquire" }>, { listener, onStep, waited }: Begun): void {
    this.#listener = listener
    this.#onStep = onStep
    this.#waited = waited
    this.#turnsAtDoor.begin()
    this.#state = this.#state === undefined ? initialState(config, this.#now()) : { ...this.#state, config }
    this.dispatch(input)
  }

  /** Whether that ownership was the last here, and was left without anybody being able to tell what became of it. */
  mayLeaveAgain(nonce: string): boolean {
    const phase = this.#state?.phase
    return !this.#taken && phase?.name === "idle" && phase.left?.hold.nonce === nonce
  }

  /** Leaves the present ownership, or goes on with leaving the last one: its listener is still whoever heard its end. */
  leave(note: string | undefined): void {
    if (!this.#taken) {
      this.#take()
      this.#turnsAtDoor.begin()
    }
    this.dispatch({ type: "release", note })
  }

  /** From now on nobody asks for this runtime: what it knew of others, and of its own past, goes with it. */
  forget(): void {
    this.#state = undefined
  }

  /** From now on this turn's events are for another to hear. */
  follow(listener: Listener): void {
    this.#listener = listener
  }

  /** Waits with a caller, for whom the process stays alive. */
  async attend<A>(promise: Promise<A>): Promise<A> {
    this.#callers++
    this.#rearm(this.#glance())
    try {
      return await promise
    } finally {
      this.#callers--
      this.#rearm(this.#glance())
    }
  }

  /** One step of the protocol, with all that comes of it; before the first attempt there is nothing to step. */
  dispatch(input: Input): void {
    this.#dispatch(input, undefined)
  }

  /** `slot`: room for a request, which is free again where none is due. */
  #dispatch(input: Input, slot: Slot | undefined): void {
    if (this.#state === undefined) return slot?.free()
    const wasAtRest = this.#atRest && input.type !== "acquire" && input.type !== "release" // these end a rest
    const now = this.#now()
    const { state, commands, events, slot: room } = this.#turnsAtDoor.step(this.#state, input, now, slot)
    this.#state = state
    for (const command of commands) {
      if (this.#syncRequests !== undefined) this.#syncRequests.add(command)
      else if (command.type === "abandon") this.requests.abandon(command.id)
      else this.requests.run(command, requestDeadline(state.config.ttl), room, (answer) => this.#answered(answer))
    }
    if (this.#wakeSource?.follow(state) === true) this.#rung = true
    this.#state = watched(state, this.#wakeSource?.hears === true, now)
    this.#rearm(now)
    this.#onStep?.(state)
    this.#count(input, state)
    for (const event of events) this.#tell({ at: now.wall, key: this.key, ownerId: state.config.id, ...event })
    if (!wasAtRest && this.#atRest) this.#outbox.push(() => this.#rest())
    this.#deliver()
    this.#syncRequests?.flush()
    this.#hearRing()
  }

  /** What a head says of the present ownership. */
  traced(trace: "possible" | "sure"): void {
    if (this.#state !== undefined) this.#state = traced(this.#state, trace)
  }

  #syncRequestsOf(store: PromptRequests | undefined): SyncRequests | undefined {
    if (store === undefined) return undefined
    return new SyncRequests(
      this.clock,
      (request) => this.requests.prompt(store, request, requestDeadline(this.#state!.config.ttl)),
      (answer) => this.#answered(answer),
    )
  }

  #answered(answer: Input): void {
    const { oracle } = this.#store
    if (answer.type !== "read" || oracle === undefined) return this.dispatch(answer)
    const { key } = this
    const bootId = this.#state?.config.bootId ?? null
    this.dispatch(examined(oracle, answer, { key, bootId, view: this.#state?.view }))
  }

  /** Something happened to the record, or to its owner's process. A version that is known is no news: most are writes of mine. */
  #ring(generation: Generation | undefined): void {
    if (generation !== undefined && generation === this.#state?.view?.generation) return
    this.#rung = true
    this.#hearRing()
  }

  /** What a request under way will show may be older than what rang. */
  #hearRing(): void {
    if (!this.#rung || this.#state?.flight !== undefined) return
    this.#rung = false
    this.dispatch({ type: "ring" })
  }

  #count(input: Input, { phase, view, config }: LockState): void {
    if (input.type === "acquire") this.#contended = false
    if (input.type === "wrote" && input.answer.kind === "unknown" && input.answer.throttled) this.#counts.throttled++
    const other = view?.record?.waitingOwnerId ?? config.id
    if (this.#contended || phase.name !== "seeking" || phase.waiting || other === config.id) return
    this.#contended = true
    this.#counts.contention++
    this.#waits()
  }

  get #atRest(): boolean {
    return this.#state === undefined || this.#state.phase.name === "idle"
  }

  #tell(event: LockEvent): void {
    if (event.type === "Waiting") this.#waits()
    else countEvent(this.#counts, event)
    this.#listener(event)
    this.#outbox.push(() => {
      if (event.type === "ReleaseRequested") this.#asked = event
      else if (event.type === "Acquired") this.#asked = undefined
      this.#hub.emit(event)
    })
  }

  #deliver(): void {
    if (this.#delivering) return
    this.#delivering = true
    for (let next = this.#outbox.shift(); next !== undefined; next = this.#outbox.shift()) next()
    this.#delivering = false
  }

  #nextTurn(): void {
    if (this.#taken) return
    const start = this.#turns.shift()
    if (start === undefined) return
    this.#take()
    start()
  }

  #take(): void {
    this.#taken = true
    this.#onBusy(true)
  }

  #rest(): void {
    this.#taken = false
    this.#onStep = undefined
    this.#onBusy(false)
    this.#nextTurn()
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
    const at = nextWake(this.#state, now, this.#turnsAtDoor.queued)
    if (at === undefined) this.#wake.clear()
    else this.#wake.set(at, { background: this.#background })
    // Whoever asks for the key compares at each look.
    if (this.hold !== undefined) this.#watch ??= watchClocks(this.clock, (reading) => this.#compare(reading))
    else {
      this.#watch?.[Symbol.dispose]()
      this.#watch = undefined
    }
  }

  /** What a caller waits for keeps the process alive; holding a lease, and clearing up behind a caller, doesn't. */
  get #background(): boolean {
    if (this.#turns.length > 0 || this.#callers > 0) return false
    const phase = this.#state?.phase
    return phase?.name === "owning" || (phase?.name === "clearing" && phase.error === undefined)
  }

  /** The reducer compares the clocks at every step; between steps only what it would act on is worth one. */
  #compare(reading: Reading): void {
    const { hold } = this
    const over = hold !== undefined && past(deadlineOf(hold), reading)
    if (over || (this.#state !== undefined && diverged(this.#state.sense, reading))) this.dispatch({ type: "tick" })
  }
}
