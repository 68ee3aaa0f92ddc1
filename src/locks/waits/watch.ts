/**
 * The events of one observed call, from its start to its ending. They come in order, each after the step that caused
 * it, so that no observer changes a step. `progress` comes by itself while the call waits.
 *
 * A watch keeps no process alive, and has no event after its ending.
 */
import { millis, shown } from "../../runtime/input/options.ts"
import { type OnError, reporter } from "../../runtime/report.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import { scheduleOf, type Wake } from "../../runtime/time/schedule.ts"
import { InvalidConfigError, LockCancelledError, LockTimeoutError } from "../api/errors.ts"
import type { LockWaitEvent, LockWaitObserver, WaitingFor } from "../api/wait-observer.ts"
import type { Holder } from "../engine/holder.ts"
import type { AcquireSettings } from "../engine/options.ts"

/** The wait of a call: for which key, and for how long at most. */
export interface WatchedWait {
  readonly key: string
  readonly limitMs: number
  readonly source: string
  /** When the call came, by the monotonic clock. */
  readonly from: number
}

/** Says who has the key, whenever it is asked. */
export type AskHolder = () => Holder | undefined

/** An event before it is stamped. */
type UnstampedEvent = LockWaitEvent extends infer E
  ? E extends LockWaitEvent
    ? Omit<E, keyof EventStamp | "retries">
    : never
  : never
type EventStamp = Pick<LockWaitEvent, "at" | "wait" | "key" | "elapsedMs" | "remainingMs" | "limitMs" | "source">

const CALLBACKS = ["waitStarted", "retry", "progress", "acquired", "timedOut", "cancelled", "failed"] as const
const LEAST_PROGRESS = 10

/** A call for a key. */
export interface ObservedCall {
  readonly key: string
  readonly settings: AcquireSettings
  /** When it came, by the monotonic clock. */
  readonly from: number
  readonly onError: OnError | undefined
}

/** Watches a call for a key, where somebody observes it. Throws InvalidConfigError for what is no observer. */
export function watchOf(
  observer: LockWaitObserver | undefined,
  clock: Clock,
  { key, settings: { budgetMs: limitMs = Infinity, budgetSource }, from, onError }: ObservedCall,
): WaitWatch | undefined {
  if (observer === undefined) return undefined
  return new WaitWatch(observer, clock, { key, limitMs, source: budgetSource.name, from }, onError)
}

export class WaitWatch {
  readonly #observer: LockWaitObserver
  readonly #clock: Clock
  readonly #watched: WatchedWait
  readonly #report: OnError
  readonly #id: string
  readonly #every: number
  readonly #tick: Wake
  #waitingFor: WaitingFor = "store"
  #ask: AskHolder = () => undefined
  #started = false
  #over = false
  #retries = 0
  /** Who was seen to have the key, and since when, by the monotonic clock. */
  #seen: { readonly ownerId: string; readonly token: number; readonly since: number } | undefined

  /** Throws InvalidConfigError for what is no observer. */
  constructor(observer: LockWaitObserver, clock: Clock, watched: WatchedWait, onError: OnError | undefined) {
    this.#every = progressOf(observer)
    this.#observer = observer
    this.#clock = clock
    this.#watched = watched
    this.#report = reporter(onError)
    this.#id = clock.id()
    this.#tick = scheduleOf(clock).wake(() => this.#progress(), { background: true })
    this.#tick.set(clock.mono() + this.#every)
  }

  /** The call has to wait, or waits for something else now. */
  waits(waitingFor: WaitingFor, ask: AskHolder): void {
    this.#waitingFor = waitingFor
    this.#ask = ask
    if (this.#over || this.#started) return
    this.#started = true
    this.#tell({ type: "waitStarted", ...this.#waiting() })
  }

  /** It looks again. */
  looks(): void {
    if (this.#over || !this.#started) return
    this.#retries++
    this.#tell({ type: "retry", ...this.#waiting() })
  }

  /** Observes a wait that is a part of this one: all its events are this one's too, but for the ending. */
  readonly part: LockWaitObserver = {
    waitStarted: (event) => this.waits(event.waitingFor, () => holderIn(event)),
    retry: (event) => {
      this.waits(event.waitingFor, () => holderIn(event))
      this.looks()
    },
    progress: (event) => this.waits(event.waitingFor, () => holderIn(event)),
    acquired: () => {
      this.#waitingFor = "process"
      this.#ask = () => undefined
    },
  }

  /** The call has the key. */
  acquired(lease?: { readonly token: number }): void {
    this.#end({ type: "acquired", waited: this.#started, ...(lease && { token: lease.token }) })
  }

  /** The call ends without the key. */
  readonly failed = (error: unknown): void => {
    const waited = this.#started
    if (error instanceof LockTimeoutError) this.#end({ type: "timedOut", waited, error })
    else if (error instanceof LockCancelledError) this.#end({ type: "cancelled", waited, error })
    else this.#end({ type: "failed", waited, error })
  }

  /**
   * A call that has come no further by the first tick waits: for the store, unless something else is known. Ticks wake
   * the processor: an observer without `progress` gets no more of them.
   */
  #progress(): void {
    if ("progress" in this.#observer) this.#tick.set(this.#clock.mono() + this.#every)
    if (this.#started) this.#tell({ type: "progress", ...this.#waiting() })
    else this.waits(this.#waitingFor, this.#ask)
  }

  #end(ending: UnstampedEvent): void {
    if (this.#over) return
    this.#over = true
    this.#tick.clear()
    this.#tell(ending)
  }

  #waiting(): { readonly waitingFor: WaitingFor } & Partial<Holder> {
    const known = this.#ask()
    if (known === undefined) return { waitingFor: this.#waitingFor }
    const { holder, heldMs = this.#seenFor(known) } = known
    return { waitingFor: this.#waitingFor, holder, heldMs: Math.round(heldMs) }
  }

  #seenFor({ holder: { ownerId, token } }: Holder): number {
    const now = this.#clock.mono()
    if (this.#seen?.ownerId !== ownerId || this.#seen.token !== token) this.#seen = { ownerId, token, since: now }
    return now - this.#seen.since
  }

  #tell(unstamped: UnstampedEvent): void {
    const event = { ...this.#stamp(), ...unstamped, retries: this.#retries } as LockWaitEvent
    // The step that caused it ends first. Reading a method may run the observer's code too, and so is guarded.
    void Promise.resolve(event)
      .then((heard) => {
        const hear = this.#observer[heard.type] as ((event: LockWaitEvent) => unknown) | undefined
        return hear?.call(this.#observer, heard)
      })
      .catch(this.#report)
  }

  #stamp(): EventStamp {
    const { key, limitMs, source, from } = this.#watched
    const { wall, mono } = this.#clock.read()
    const elapsed = mono - from
    const remainingMs = Math.max(0, Math.round(limitMs - elapsed))
    return { at: wall, wait: this.#id, key, elapsedMs: Math.round(elapsed), remainingMs, limitMs, source }
  }
}

const holderIn = ({ holder, heldMs }: Partial<Holder>): Holder | undefined =>
  holder && { holder, ...(heldMs !== undefined && { heldMs }) }

function progressOf(observer: LockWaitObserver): number {
  if (typeof observer !== "object" || observer === null) refuse(`observer is ${shown(observer)}`)
  for (const name of CALLBACKS) {
    if (observer[name] !== undefined && typeof observer[name] !== "function")
      refuse(`${name} of the observer is no function`)
  }
  const { progressEvery = "1 s" } = observer
  const every = millis("progressEvery", progressEvery)
  if (every < LEAST_PROGRESS) refuse(`progressEvery of the observer is ${every} ms, less than ${LEAST_PROGRESS} ms`)
  return every
}

function refuse(message: string): never {
  throw new InvalidConfigError({
    message,
    next: "Give an observer with some of the methods of LockWaitObserver, such as logWaits(console.error)",
  })
}
