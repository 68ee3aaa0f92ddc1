/**
 * Who is told of a key's events, and when. The listener whose turn it is comes first, in the step itself; observers
 * come after the step, when it is complete. Events that an observer causes are delivered after the current one.
 */
import type { Observable } from "rxjs"
import { Hub } from "../../../runtime/observables.ts"
import type { OnError } from "../../../runtime/report.ts"
import type { LockEvent } from "../../api/lock.ts"

/** Told of the events of its own turn, each at once. */
export type KeyListener = (event: LockEvent) => void

/** A waiter asks the owner to leave. */
export type ReleaseRequest = Extract<LockEvent, { type: "ReleaseRequested" }>

/** Those of one key of one incarnation. */
export class KeyEvents {
  readonly #onError: OnError | undefined
  /** None until somebody asks for the events. */
  #hub: Hub<LockEvent> | undefined
  /** What follows the step, in order: an event to tell of, or a call. None while nothing does. */
  #outbox: (LockEvent | (() => void))[] | undefined
  #delivering = false
  #listener: KeyListener = () => {}
  #releaseRequest: ReleaseRequest | undefined

  /** `onError` gets what observers throw. */
  constructor(onError: OnError | undefined) {
    this.#onError = onError
  }

  /** All of them, from the subscription on. */
  get events$(): Observable<LockEvent> {
    this.#hub ??= new Hub(this.#onError)
    return this.#hub.observable
  }

  /** Whether anybody is subscribed. */
  get observed(): boolean {
    return this.#hub?.observed === true
  }

  /** The last request of a waiter that observers were told of, since the key was acquired. */
  get releaseRequest(): ReleaseRequest | undefined {
    return this.#releaseRequest
  }

  /** The listener from now on, in place of the one before. */
  follow(listener: KeyListener): void {
    this.#listener = listener
  }

  /** Tells the listener, and observers at the next `deliver`. */
  tell(event: LockEvent): void {
    this.#listener(event)
    this.afterwards(event)
  }

  /** Calls it, or tells of it, at the next `deliver`, after all that observers are told by then. */
  afterwards(next: LockEvent | (() => void)): void {
    if (this.#outbox === undefined) this.#outbox = [next]
    else this.#outbox.push(next)
  }

  /** Does what is left to be done after a step. Called meanwhile it does nothing: what is added is next. */
  deliver(): void {
    if (this.#delivering) return
    this.#delivering = true
    try {
      for (let next = this.#outbox?.shift(); next !== undefined; next = this.#outbox?.shift()) {
        if (typeof next === "function") next()
        else this.#emit(next)
      }
      this.#outbox = undefined
    } finally {
      this.#delivering = false
    }
  }

  #emit(event: LockEvent): void {
    if (event.type === "ReleaseRequested") this.#releaseRequest = event
    else if (event.type === "Acquired") this.#releaseRequest = undefined
    this.#hub?.emit(event)
  }
}
