/**
 * A store whose network a test scripts: it wraps a real store and lets chosen requests be lost, their answers be lost,
 * either be late or held until the test says so, or another answer come instead. Everything unscripted passes through.
 *
 * As over a real network, a request that its caller gave up on may still arrive. Owns no object and no clock of its
 * own.
 *
 *     const store = scripted(memoryStore({ clock }), clock)
 *     store.script.onPut(loseAnswer())                       // the next put is applied, its caller hears `unknown`
 *     store.script.onPut({ ...late(8_000), of: /\/head$/ })  // the next put of a head arrives 8 s late
 *     const held = hold()
 *     store.script.onPut(held)
 *     await held.arrived                                     // sent, and not yet at the store
 *     held.deliver()                                         // now it is; its answer waits for held.answer()
 */
import { type LockError, StoreUnavailableError } from "../../src/locks/api/errors.ts"
import type {
  Area,
  CheckpointStore,
  Generation,
  LeaseStore,
  ListOptions,
  ObjectRef,
  ObjectStore,
  Page,
  ReadAnswer,
  ReadOptions,
  RequestOptions,
  StoreCapabilities,
  WriteAnswer,
} from "../../src/locks/stores/port.ts"
import type { Clock } from "../../src/runtime/time/clock.ts"

/** What happens to one request. */
export interface Fault {
  /** Only a request for an object whose name fits takes this fault. */
  readonly of?: RegExp
  /** Before the request reaches the store: milliseconds, a promise to wait for, or it never arrives. */
  readonly before?: number | Promise<void> | "lost"
  /** After it was applied: milliseconds until the answer, a promise to wait for, or it never comes. */
  readonly after?: number | Promise<void> | "lost"
  /** Comes in place of the store's own answer. */
  readonly instead?: ReadAnswer | WriteAnswer
  /** Called when the request is sent. */
  readonly onSent?: () => void
}

/** A fault that the test ends. */
export interface Held extends Fault {
  /** Settles when the request was sent; it hasn't reached the store. */
  readonly arrived: Promise<void>
  /** Lets it reach the store. */
  deliver(): void
  /** Lets its answer go out; delivers it too, if need be. */
  answer(): void
}

/** One request as the store saw it, in the order of sending. Times are milliseconds of the monotonic clock. */
export interface Request {
  readonly op: "read" | "put" | "remove" | "list"
  readonly name: string
  readonly area: Area
  readonly expected?: Generation
  readonly body?: Uint8Array
  readonly sentAt: number
  /** What the caller was told; undefined while it waits. */
  answer?: ReadAnswer | WriteAnswer | Page | Error
  answeredAt?: number
}

/** What a test says about the requests to come, and sees of those that were. Each fault serves one request. */
export interface Script {
  onRead(...faults: Fault[]): void
  onPut(...faults: Fault[]): void
  onRemove(...faults: Fault[]): void
  onList(...faults: Fault[]): void
  /** Faults that no request has taken yet: a test that expects them all taken asserts 0. */
  readonly pending: number
  readonly requests: readonly Request[]
  /** Forgets the faults that no request has taken: from now on everything passes. */
  heal(): void
}

/** The wrapped store. It claims to be fit for both uses: what it does about crashes is the wrapped store's business. */
export interface ScriptedStore extends LeaseStore, CheckpointStore {
  readonly script: Script
}

/** It never arrives, and nobody says so: the caller hears nothing until its deadline. */
export const loseRequest = (): Fault => ({ before: "lost" })
/** It is applied; the caller hears nothing until its deadline. */
export const loseAnswer = (): Fault => ({ after: "lost" })
/** It arrives after `ms`, whether or not its caller still waits. */
export const late = (ms: number): Fault => ({ before: ms })
/** It is applied at once, and answered after `ms`. */
export const lateAnswer = (ms: number): Fault => ({ after: ms })
/** It changes nothing and is answered `refused`. */
export const refuse = (): Fault => ({ before: "lost", instead: { kind: "refused" } })
/** It is applied, and answered `refused`: what a retry below the store makes of its own first copy. */
export const refuseApplied = (): Fault => ({ instead: { kind: "refused" } })
/** It changes nothing and is answered `unknown`, at once. */
export const failPut = (error: LockError = unavailable("scripted")): Fault => ({
  before: "lost",
  instead: { kind: "unknown", error },
})
/** It is applied, and answered `unknown`, at once. */
export const failApplied = (error: LockError = unavailable("scripted")): Fault => ({
  instead: { kind: "unknown", error },
})
/** It changes nothing: the object took another write within its spacing. */
export const throttle = (): Fault => ({
  before: "lost",
  instead: { kind: "unknown", error: unavailable("429"), throttled: true },
})
/** It is applied, and another write came between. */
export const overtake = (): Fault => ({
  instead: { kind: "unknown", error: unavailable("overtaken"), overtaken: true },
})
/** A read that learns nothing, at once. */
export const failRead = (error: LockError = unavailable("scripted")): Fault => ({
  before: "lost",
  instead: { kind: "failed", error },
})

/** It waits for the test, before it arrives and again before it is answered. */
export function hold(): Held {
  const sent = Promise.withResolvers<void>()
  const delivered = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<void>()
  return {
    before: delivered.promise,
    after: answered.promise,
    onSent: sent.resolve,
    arrived: sent.promise,
    deliver: delivered.resolve,
    answer: () => {
      delivered.resolve()
      answered.resolve()
    },
  }
}

/** Wraps `store`. `overrides` change what it says of itself, not what it does. */
export function scripted(
  store: ObjectStore,
  clock: Clock,
  overrides: { readonly name?: string; readonly capabilities?: Partial<StoreCapabilities> } = {},
): ScriptedStore {
  return new Scripted(store, clock, overrides)
}

const unavailable = (why: string): StoreUnavailableError =>
  new StoreUnavailableError({ message: `The scripted store says: ${why}`, next: "Look at the test's script" })

class Scripted implements ScriptedStore {
  readonly leases = true
  readonly checkpoints = true
  readonly name: string
  readonly script: Script
  readonly #store: ObjectStore
  readonly #clock: Clock
  readonly #capabilities: Partial<StoreCapabilities>
  readonly #faults: Record<Request["op"], Fault[]> = { read: [], put: [], remove: [], list: [] }
  readonly #requests: Request[] = []

  constructor(
    store: ObjectStore,
    clock: Clock,
    overrides: { readonly name?: string; readonly capabilities?: Partial<StoreCapabilities> },
  ) {
    this.#store = store
    this.#clock = clock
    this.name = overrides.name ?? store.name
    this.#capabilities = overrides.capabilities ?? {}
    const faults = this.#faults
    this.script = {
      onRead: (...added) => void faults.read.push(...added),
      onPut: (...added) => void faults.put.push(...added),
      onRemove: (...added) => void faults.remove.push(...added),
      onList: (...added) => void faults.list.push(...added),
      requests: this.#requests,
      heal: () => Object.values(faults).forEach((queue) => queue.splice(0)),
      get pending() {
        return Object.values(faults).reduce((sum, queue) => sum + queue.length, 0)
      },
    }
  }

  get capabilities(): StoreCapabilities {
    return { ...this.#store.capabilities, ...this.#capabilities }
  }

  start(options: RequestOptions): Promise<void> {
    return this.#store.start(options)
  }

  read(ref: ObjectRef, options: ReadOptions): Promise<ReadAnswer> {
    const gaveUp = (error: LockError): ReadAnswer => ({ kind: "failed", error })
    return this.#send({ op: "read", ...ref }, options, () => this.#store.read(ref, this.#patient(options)), gaveUp)
  }

  put(ref: ObjectRef, expected: Generation, body: Uint8Array, options: RequestOptions): Promise<WriteAnswer> {
    const sent = body.slice()
    const send = (): Promise<WriteAnswer> => this.#store.put(ref, expected, sent, this.#patient(options))
    return this.#send({ op: "put", ...ref, expected, body: sent }, options, send, writeGaveUp)
  }

  remove(ref: ObjectRef, expected: Generation, options: RequestOptions): Promise<WriteAnswer> {
    const send = (): Promise<WriteAnswer> => this.#store.remove(ref, expected, this.#patient(options))
    return this.#send({ op: "remove", ...ref, expected }, options, send, writeGaveUp)
  }

  list(area: Area, options: ListOptions): Promise<Page> {
    const gaveUp = (error: LockError): never => {
      throw error
    }
    const send = (): Promise<Page> => this.#store.list(area, this.#patient(options))
    return this.#send({ op: "list", area, name: options.prefix }, options, send, gaveUp)
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  /** Beyond this wrapper a request knows nothing of its caller's patience, so that it can arrive late. */
  #patient<O extends RequestOptions>(options: O): Omit<O, "signal"> & { deadline: number } {
    const { signal: _signal, ...rest } = options
    return { ...rest, deadline: Math.max(options.deadline, 60_000) }
  }

  async #send<A extends ReadAnswer | WriteAnswer | Page>(
    what: Omit<Request, "sentAt">,
    options: RequestOptions,
    send: () => Promise<A>,
    gaveUp: (error: LockError) => A,
  ): Promise<A> {
    const request: Request = { ...what, sentAt: this.#clock.read().mono }
    this.#requests.push(request)
    const fault = this.#take(request)
    const patience = this.#patience(options)
    try {
      const error = await Promise.race([patience.over, this.#deliver(fault, send)])
      const answer = error instanceof StoreUnavailableError ? gaveUp(error) : (error as A)
      request.answer = answer
      return answer
    } catch (error) {
      request.answer = error as Error
      throw error
    } finally {
      patience.end()
      request.answeredAt = this.#clock.read().mono
    }
  }

  #take(request: Request): Fault {
    const queue = this.#faults[request.op]
    const index = queue.findIndex((fault) => fault.of === undefined || fault.of.test(request.name))
    return index < 0 ? {} : queue.splice(index, 1)[0]!
  }

  async #deliver<A>(fault: Fault, send: () => Promise<A>): Promise<A> {
    fault.onSent?.()
    if (fault.before !== "lost") {
      await this.#wait(fault.before)
      const answer = await send()
      if (fault.after === "lost") return new Promise<A>(() => {})
      await this.#wait(fault.after)
      return (fault.instead as A | undefined) ?? answer
    }
    return (fault.instead as A | undefined) ?? new Promise<A>(() => {})
  }

  async #wait(time: number | Promise<void> | undefined): Promise<void> {
    if (typeof time !== "number") return time
    return new Promise((resolve) => void this.#clock.after(time, resolve))
  }

  #patience(options: RequestOptions): { over: Promise<StoreUnavailableError>; end(): void } {
    const { promise, resolve } = Promise.withResolvers<StoreUnavailableError>()
    const timer = this.#clock.after(options.deadline, () => resolve(unavailable("no answer within the deadline")))
    const aborted = (): void => resolve(unavailable("the caller gave up"))
    if (options.signal?.aborted) aborted()
    options.signal?.addEventListener("abort", aborted, { once: true })
    return {
      over: promise,
      end: () => {
        timer.cancel()
        options.signal?.removeEventListener("abort", aborted)
      },
    }
  }
}

const writeGaveUp = (error: LockError): WriteAnswer => ({ kind: "unknown", error })
