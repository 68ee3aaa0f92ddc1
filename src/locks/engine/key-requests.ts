/**
 * The requests of one key to its store, as supervised Effects: the start, a look, and those of the protocol. Each ends
 * within its deadline, even where the store is silent, throws or rejects. Owns no state of the lease.
 *
 * Not promised: that a request that was given up on never reaches the store.
 */
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Schedule from "effect/Schedule"
import { Fibers } from "../../runtime/bridges/fibers.ts"
import type { OnError } from "../../runtime/report.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import { admissionTo, type Slot } from "../admission/admission.ts"
import type { LockError } from "../api/errors.ts"
import { encodeName } from "../api/keys.ts"
import type { Command, Input, ReadResult, WriteResult } from "../protocol/rules/state.ts"
import { RECORD_LIMIT } from "../record.ts"
import {
  DEADLINE_GRACE_MS,
  type LeaseStore,
  type ObjectRef,
  type PromptRequests,
  type ReadAnswer,
  type ReadOptions,
  type RequestOptions,
  type WriteAnswer,
} from "../stores/port.ts"
import { lacksRoom } from "../stores/room.ts"
import { started } from "../stores/start.ts"
import { brokenStore, cancelled, notReady, silentStore } from "./refusals.ts"
import type { RequestTaps, TappedKey } from "./request-taps.ts"

/** How long to wait before a store that failed to start is started again. */
const START_AGAIN = Schedule.min([Schedule.exponential("200 millis"), Schedule.spaced("5 seconds")]).pipe(
  Schedule.jittered,
)

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** How long a look waits for room at the store, in milliseconds: as an acquire does. */
const LOOK_WITHIN = 30_000

/** A command that the store answers. */
export type StoreRequest = Exclude<Command, { type: "abandon" }>

/** A request under way. */
interface RunningRequest {
  readonly slot: Slot | undefined
  fiber: Fiber.Fiber<unknown, unknown> | undefined
}

/** What requests are made with. */
export interface KeyRequestsParts {
  readonly key: string
  readonly store: LeaseStore
  readonly clock: Clock
  readonly onError: OnError | undefined
  /** The listeners to them. */
  readonly taps: RequestTaps
}

/** The requests of one key to one store. */
export class KeyRequests implements TappedKey {
  /** Where the key's record is. */
  readonly ref: ObjectRef
  readonly #parts: KeyRequestsParts
  /** None before the first request that is waited for. */
  #fibers: Fibers | undefined
  /** None while none is under way that is waited for. */
  #flights: Map<number, RunningRequest> | undefined

  constructor(parts: KeyRequestsParts) {
    this.#parts = parts
    this.ref = { area: "leases", name: encodeName(parts.key) }
  }

  get key(): string {
    return this.#parts.key
  }

  get storeName(): string {
    return this.#store.name
  }

  /**
   * Settles once the store has started. With `again`, a start that fails is tried again within `limit` where time can
   * help.
   */
  ready(limit: number, again: boolean, signal: AbortSignal | undefined): Promise<void> {
    let last: LockError | undefined
    const start = Effect.tryPromise({
      try: () => started(this.#store, this.#parts.clock),
      catch: (cause) => (last = this.#broken(cause)),
    })
    const tried = Effect.retry(start, {
      while: (error) => again && error.retryable && !lacksRoom(error),
      schedule: START_AGAIN,
    })
    const orElse = (): Effect.Effect<never, LockError> => Effect.fail(notReady(this.key, this.#store.name, limit, last))
    const within = Effect.timeoutOrElse(tried, { duration: limit, orElse })
    return this.#supervisor.run(signal === undefined ? within : Effect.raceFirst(within, this.#aborted(signal)))
  }

  /** One read beside the protocol, once the store has room for it. */
  async look(deadline: number): Promise<ReadResult> {
    const slot = await admissionTo(this.#store, this.#parts.clock)?.enter(
      "claim",
      this.#parts.clock.mono() + LOOK_WITHIN,
    )
    const answer = await this.#supervisor.run(this.#read(undefined, deadline))
    slot?.answered(errorOf(answer))
    return answer
  }

  /** Sends a request. It ends in exactly one input, or is given up on; its slot is free again by then. */
  run(request: StoreRequest, deadline: number, slot: Slot | undefined, answered: (input: Input) => void): void {
    const { id } = request
    const answer = Effect.map(this.#send(request, deadline), (input) => {
      this.#ended(id)
      slot?.answered(errorOf(input.answer))
      answered(input)
    })
    // Set before it is forked: an answer that comes at once deletes it again.
    const flight: RunningRequest = { slot, fiber: undefined }
    this.#flights ??= new Map()
    this.#flights.set(id, flight)
    flight.fiber = this.#supervisor.fork(answer)
  }

  /** Gives up on a request: its answer is dropped. */
  abandon(id: number): void {
    const flight = this.#ended(id)
    flight?.fiber?.interruptUnsafe()
    flight?.slot?.free()
  }

  /** Sends a request to a store that answers at once, and returns the answer. */
  runNow(store: PromptRequests, request: StoreRequest, deadline: number): Input {
    const { id } = request
    const options = { deadline }
    switch (request.type) {
      case "read": {
        const read = (): ReadAnswer => store.read(this.ref, { ...readOptions(request.known), ...options })
        return { type: "read", id, answer: textOf(this.#parts.taps.now(this, request, deadline, read)) }
      }
      case "put": {
        const body = encoder.encode(request.body)
        const put = (): WriteAnswer => store.put(this.ref, request.expected, body, options)
        return { type: "wrote", id, answer: this.#parts.taps.now(this, request, deadline, put) }
      }
      case "remove": {
        const remove = (): WriteAnswer => store.remove(this.ref, request.expected, options)
        return { type: "wrote", id, answer: this.#parts.taps.now(this, request, deadline, remove) }
      }
    }
  }

  #send(request: StoreRequest, deadline: number): Effect.Effect<Extract<Input, { type: "read" | "wrote" }>> {
    const { id } = request
    return request.type === "read"
      ? Effect.map(this.#read(request.known, deadline), (answer) => ({ type: "read", id, answer }))
      : Effect.map(this.#write(request, deadline), (answer) => ({ type: "wrote", id, answer }))
  }

  #read(known: string | undefined, deadline: number): Effect.Effect<ReadResult> {
    const read = async (request: RequestOptions): Promise<ReadResult> => {
      const ask = (): Promise<ReadAnswer> => this.#store.read(this.ref, { ...readOptions(known), ...request })
      return textOf(await this.#parts.taps.later(this, { type: "read", known }, deadline, ask))
    }
    return this.#within(deadline, read).pipe(
      Effect.catch((error) => Effect.succeed({ kind: "failed" as const, error })),
    )
  }

  #write(request: Exclude<StoreRequest, { type: "read" }>, deadline: number): Effect.Effect<WriteResult> {
    const { expected } = request
    const write = async (options: RequestOptions): Promise<WriteResult> =>
      this.#parts.taps.later(this, request, deadline, () =>
        request.type === "remove"
          ? this.#store.remove(this.ref, expected, options)
          : this.#store.put(this.ref, expected, encoder.encode(request.body), options),
      )
    return this.#within(deadline, write).pipe(
      Effect.catch((error) => Effect.succeed({ kind: "unknown" as const, error })),
    )
  }

  #within<A>(deadline: number, send: (options: RequestOptions) => Promise<A>): Effect.Effect<A, LockError> {
    const answer = Effect.tryPromise({
      try: (signal) => send({ deadline, signal }),
      catch: (cause) => this.#broken(cause),
    })
    const orElse = (): Effect.Effect<never, LockError> => Effect.fail(silentStore(this.key, this.#store.name, deadline))
    return Effect.timeoutOrElse(answer, { duration: deadline + DEADLINE_GRACE_MS, orElse })
  }

  /** Fails once the signal aborts. */
  #aborted(signal: AbortSignal): Effect.Effect<never, LockError> {
    return Effect.callback<never, LockError>((resume) => {
      const aborted = (): void => resume(Effect.fail(cancelled(this.key)))
      signal.addEventListener("abort", aborted, { once: true })
      return Effect.sync(() => signal.removeEventListener("abort", aborted))
    })
  }

  get #store(): LeaseStore {
    return this.#parts.store
  }

  get #supervisor(): Fibers {
    return (this.#fibers ??= new Fibers(this.#parts.clock, this.#parts.onError))
  }

  #ended(id: number): RunningRequest | undefined {
    const flight = this.#flights?.get(id)
    this.#flights?.delete(id)
    if (this.#flights?.size === 0) this.#flights = undefined
    return flight
  }

  #broken(cause: unknown): LockError {
    return brokenStore(this.key, this.#store.name, cause)
  }
}

/** The error that came instead of an answer. One of this object alone says nothing of the store, and doesn't count. */
const errorOf = (answer: ReadResult | WriteResult): LockError | undefined =>
  answer.kind === "failed" || (answer.kind === "unknown" && !answer.throttled) ? answer.error : undefined

const readOptions = (known: string | undefined): Pick<ReadOptions, "limit" | "known"> => ({
  limit: RECORD_LIMIT,
  ...(known !== undefined && { known }),
})

function textOf(answer: ReadAnswer): ReadResult {
  if (answer.kind !== "found") return answer
  const { body, ...rest } = answer
  return { ...rest, text: decoder.decode(body) }
}
