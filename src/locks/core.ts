/**
 * The shell around the protocol for one key of one incarnation: gives the reducer time and chance, runs its commands
 * against the store as supervised Effects with deadlines, arms its next wake on the shared schedule, and publishes its
 * events. Decides nothing about the lease. Attempts of one process take their turns here.
 */
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type { Clock, Reading } from "../runtime/clock.ts"
import { Fibers } from "../runtime/fibers.ts"
import { Hub } from "../runtime/observables.ts"
import type { OnError } from "../runtime/report.ts"
import { scheduleOf, type Wake } from "../runtime/schedule.ts"
import { watchClocks } from "../runtime/watch-clocks.ts"
import { LockError, StoreUnavailableError } from "./errors.ts"
import { encodeName } from "./keys.ts"
import type { LockEvent } from "./lock.ts"
import { requestDeadline } from "./options.ts"
import { isHeld } from "./protocol/authority.ts"
import { initialState, nextWake, step } from "./protocol/reducer.ts"
import type { Command, Hold, Input, LockConfig, LockState, ReadResult, WriteResult } from "./protocol/state.ts"
import { diverged, type Now } from "./protocol/time.ts"
import { RECORD_LIMIT } from "./record.ts"
import type { LeaseStore, ObjectRef, ReadAnswer } from "./store.ts"

/** A request's own deadline is the store's to keep; the shell waits this much longer before it stops believing in it. */
const GRACE = 250

type Send<A> = (options: { readonly deadline: number; readonly signal: AbortSignal }) => Promise<A>

/** One key of one incarnation on one store. */
export class KeyCore {
  readonly key: string
  readonly clock: Clock
  readonly #store: LeaseStore
  readonly #ref: ObjectRef
  readonly #hub: Hub<LockEvent>
  readonly #fibers: Fibers
  readonly #wake: Wake
  readonly #flights = new Map<number, Fiber.Fiber<unknown, unknown>>()
  readonly #turns: (() => void)[] = []
  #state: LockState | undefined
  #taken = false
  #watch: Disposable | undefined
  /** Called when the key comes to rest, and when it leaves it: who is at rest need not be kept. */
  readonly #onBusy: (busy: boolean) => void

  constructor(
    key: string,
    store: LeaseStore,
    clock: Clock,
    onError: OnError | undefined,
    onBusy: (busy: boolean) => void,
  ) {
    this.key = key
    this.clock = clock
    this.#store = store
    this.#ref = { area: "leases", name: encodeName(key) }
    this.#hub = new Hub(onError)
    this.#fibers = new Fibers(clock, onError, { background: true })
    this.#wake = scheduleOf(clock).wake(() => this.dispatch({ type: "tick" }))
    this.#onBusy = onBusy
  }

  /** All events of this key in this incarnation. */
  get events$(): Hub<LockEvent>["observable"] {
    return this.#hub.observable
  }

  /** The ownership now in force, if one is. */
  get hold(): Hold | undefined {
    return this.#state?.phase.name === "owning" ? this.#state.phase.hold : undefined
  }

  /** When the lease in the record ends, in Unix milliseconds of the store's time; 0 where none is known. */
  get expiresAt(): number {
    return this.#state?.view?.record?.expiresAt ?? 0
  }

  /** Whether an attempt or an ownership is under way in this process. */
  get busy(): boolean {
    return this.#taken
  }

  /** Whether this process may act on the key now. */
  isHeld(): boolean {
    return this.#state !== undefined && isHeld(this.#state, { ...this.clock.read(), fresh: "", draw: 0 })
  }

  /**
   * Calls `start` once no other attempt of this process is under way, in the order of calls. The turn ends when the key
   * has come to rest. The result gives up a turn that has not begun; afterwards it does nothing.
   */
  join(start: () => void): () => void {
    this.#turns.push(start)
    this.#nextTurn()
    return () => {
      const index = this.#turns.indexOf(start)
      if (index >= 0) this.#turns.splice(index, 1)
    }
  }

  /** Begins the attempt whose turn it is. */
  begin(config: LockConfig, input: Extract<Input, { type: "acquire" }>): void {
    this.#state = this.#state === undefined ? initialState(config, this.#now()) : { ...this.#state, config }
    this.dispatch(input)
  }

  /** One step of the protocol, with all that comes of it; before the first attempt there is nothing to step. */
  dispatch(input: Input): void {
    if (this.#state === undefined) return
    const wasAtRest = this.#atRest
    const { state, commands, events } = step(this.#state, input, this.#now())
    this.#state = state
    for (const command of commands) this.#run(command, state.config)
    this.#rearm(state)
    for (const event of events) {
      const at = this.clock.read().wall
      this.#hub.emit({ at, key: this.key, ownerId: state.config.id, ...event })
    }
    if (!wasAtRest && this.#atRest) this.#rest()
  }

  get #atRest(): boolean {
    return this.#state === undefined || this.#state.phase.name === "idle"
  }

  #nextTurn(): void {
    if (this.#taken) return
    const start = this.#turns.shift()
    if (start === undefined) return
    this.#taken = true
    this.#onBusy(true)
    start()
  }

  #rest(): void {
    if (!this.#taken) return
    this.#taken = false
    this.#onBusy(false)
    this.#nextTurn()
  }

  #now(): Now {
    const reading: Reading = this.clock.read()
    return { ...reading, fresh: this.clock.id(), draw: this.clock.random() }
  }

  /** Waits that a caller waits for keep the process alive; holding a lease does not. */
  #rearm(state: LockState): void {
    const { phase } = state
    const at = nextWake(state, this.#now())
    const background = phase.name === "owning" || (phase.name === "clearing" && phase.error === undefined)
    if (at === undefined) this.#wake.clear()
    else this.#wake.set(at, { background })
    if (!this.#atRest) this.#watch ??= watchClocks(this.clock, (reading) => this.#compare(reading))
    else {
      this.#watch?.[Symbol.dispose]()
      this.#watch = undefined
    }
  }

  /** The reducer compares the clocks at every step; between steps only a divergence is worth one. */
  #compare(reading: Reading): void {
    if (this.#state !== undefined && diverged(this.#state.sense, reading)) this.dispatch({ type: "tick" })
  }

  #run(command: Command, config: LockConfig): void {
    const deadline = requestDeadline(config.ttl)
    switch (command.type) {
      case "abandon":
        this.#flights.get(command.id)?.interruptUnsafe()
        this.#flights.delete(command.id)
        return
      case "read":
        return this.#read(command.id, deadline, command.known)
      case "put": {
        const body = new TextEncoder().encode(command.body)
        return this.#write(command.id, deadline, (options) =>
          this.#store.put(this.#ref, command.expected, body, options),
        )
      }
      case "remove":
        return this.#write(command.id, deadline, (options) => this.#store.remove(this.#ref, command.expected, options))
    }
  }

  #read(id: number, deadline: number, known: string | undefined): void {
    const options = { limit: RECORD_LIMIT, ...(known !== undefined && { known }) }
    this.#request<ReadResult>(
      id,
      deadline,
      async (request) => textOf(await this.#store.read(this.#ref, { ...options, ...request })),
      (error) => ({ kind: "failed", error }),
      (answer) => ({ type: "read", id, answer }),
    )
  }

  #write(id: number, deadline: number, send: Send<WriteResult>): void {
    this.#request<WriteResult>(
      id,
      deadline,
      send,
      (error) => ({ kind: "unknown", error }),
      (answer) => ({ type: "wrote", id, answer }),
    )
  }

  /** One request as a supervised fiber that ends in exactly one input, or is interrupted and ends in none. */
  #request<A>(
    id: number,
    deadline: number,
    send: Send<A>,
    failed: (error: LockError) => A,
    input: (answer: A) => Input,
  ): void {
    const answer = Effect.tryPromise({
      try: (signal) => send({ deadline, signal }),
      catch: (cause) => this.#broken(cause),
    }).pipe(
      Effect.catch((error) => Effect.succeed(failed(error))),
      Effect.timeoutOption(deadline + GRACE),
      Effect.map(Option.getOrElse(() => failed(this.#silent(deadline)))),
      Effect.map((known) => {
        this.#flights.delete(id)
        this.dispatch(input(known))
      }),
    )
    this.#flights.set(id, this.#fibers.fork(answer))
  }

  #broken(cause: unknown): LockError {
    if (cause instanceof LockError) return cause
    return new StoreUnavailableError({
      key: this.key,
      cause,
      message: `The store ${this.#store.name} failed: ${String(cause)}`,
      next: "Look at the cause; a store must answer, not throw",
    })
  }

  #silent(deadline: number): StoreUnavailableError {
    return new StoreUnavailableError({
      key: this.key,
      message: `The store ${this.#store.name} did not answer within ${deadline} ms`,
      next: "Check the store and the way to it",
    })
  }
}

function textOf(answer: ReadAnswer): ReadResult {
  if (answer.kind !== "found") return answer
  const { body, ...rest } = answer
  return { ...rest, text: new TextDecoder().decode(body) }
}
