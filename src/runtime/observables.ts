/**
 * Observables that survive their observers. RxJS rethrows what an observer throws on a timer of its own, which kills
 * the process; here such an observer is reported and unsubscribed, and the others go on. What is piped from a guarded
 * observable is guarded too; what is made around one (`merge(events$, …)`) is the maker's own, as in plain RxJS.
 */
import { Observable, type Observer, type Operator, ReplaySubject, Subject, Subscriber, type Subscription } from "rxjs"
import { type OnError, reporter } from "./report.ts"

type Next<A> = ((value: A) => void) | null | undefined
type ErrorListener = ((error: unknown) => void) | null | undefined
type CompleteListener = (() => void) | null | undefined

/** An observer in front of a user's: it never throws, and is left for good once the user's has thrown. */
export class GuardedObserver<A> implements Observer<A> {
  /** None once it has thrown. */
  #user: Partial<Observer<A>> | undefined
  readonly #report: OnError
  readonly #unobserved: OnError
  #subscription: { unsubscribe(): void } | undefined

  /** `unobserved` gets an error of the source that the user's observer doesn't listen for, or no longer. */
  constructor(observer: Partial<Observer<A>>, report: OnError, unobserved: OnError = report) {
    this.#user = observer
    this.#report = report
    this.#unobserved = unobserved
  }

  /** Says what to unsubscribe when the user's observer throws; at once if it has thrown already. */
  attach(subscription: { unsubscribe(): void }): void {
    this.#subscription = subscription
    if (this.#user === undefined) subscription.unsubscribe()
  }

  next(value: A): void {
    this.#guard((user) => user.next?.(value))
  }

  error(error: unknown): void {
    if (this.#user?.error === undefined) this.#unobserved(error)
    else this.#guard((user) => user.error?.(error))
  }

  complete(): void {
    this.#guard((user) => user.complete?.())
  }

  #guard(call: (user: Partial<Observer<A>>) => void): void {
    if (this.#user === undefined) return
    try {
      call(this.#user)
    } catch (error) {
      this.#user = undefined
      this.#subscription?.unsubscribe()
      this.#report(error)
    }
  }
}

/** The arguments of a `subscribe` as one observer. */
export const observerOf = <A>(
  observerOrNext?: Partial<Observer<A>> | Next<A>,
  error?: ErrorListener,
  complete?: CompleteListener,
): Partial<Observer<A>> => {
  if (typeof observerOrNext === "object" && observerOrNext !== null) return observerOrNext
  return { ...(observerOrNext && { next: observerOrNext }), ...(error && { error }), ...(complete && { complete }) }
}

class GuardedObservable<A> extends Observable<A> {
  readonly #report: OnError

  constructor(source: Observable<A>, report: OnError) {
    super((subscriber) => source.subscribe(subscriber))
    this.#report = report
  }

  override subscribe(
    observerOrNext?: Partial<Observer<A>> | Next<A>,
    error?: ErrorListener,
    complete?: CompleteListener,
  ): Subscription {
    // RxJS's own subscribers (an operator's, firstValueFrom's) handle what is thrown after them.
    if (observerOrNext instanceof Subscriber) return super.subscribe(observerOrNext)
    const observer = new GuardedObserver(observerOf(observerOrNext, error, complete), this.#report)
    const subscription = super.subscribe(observer)
    observer.attach(subscription)
    return subscription
  }

  /** What `pipe` builds on: overridden, as the only way to stay with what is derived. */
  override lift<R>(operator?: Operator<A, R>): Observable<R> {
    return new GuardedObservable(super.lift(operator), this.#report)
  }
}

/** The same observable, whose observers may throw: such an observer is reported to onError and unsubscribed. */
export const guarded = <A>(observable: Observable<A>, onError?: OnError): Observable<A> =>
  new GuardedObservable(observable, reporter(onError))

/**
 * A source of events. `emit` never throws, and every observer sees all events in the order in which they were emitted,
 * also those that another observer emits while it is told of one.
 */
export class Hub<A> {
  readonly #subject: Subject<A>
  readonly #report: OnError
  /** What is to be told after what is told now. None while nothing is. */
  #queue: A[] | undefined
  #delivering = false
  #isComplete = false

  constructor(onError?: OnError, subject: Subject<A> = new Subject()) {
    this.#report = reporter(onError)
    this.#subject = subject
  }

  /** All that is emitted from the subscription on. */
  get observable(): Observable<A> {
    return guarded(this.#subject, this.#report)
  }

  /** Whether anybody is subscribed. */
  get observed(): boolean {
    return this.#subject.observed
  }

  /** Tells every observer; after `complete` nobody. */
  emit(value: A): void {
    if (this.#isComplete) return
    if (this.#delivering) (this.#queue ??= []).push(value)
    else this.#deliver(value)
  }

  /** Completes every observer, those of later subscriptions included. */
  complete(): void {
    this.#isComplete = true
    if (!this.#delivering) this.#end()
  }

  #deliver(first: A): void {
    this.#delivering = true
    this.#tell(first)
    while (this.#queue !== undefined) {
      const next = this.#queue
      this.#queue = undefined
      next.forEach((value) => this.#tell(value))
    }
    this.#delivering = false
    if (this.#isComplete) this.#end()
  }

  #tell(value: A): void {
    try {
      this.#subject.next(value)
    } catch (error) {
      this.#report(error) // a Subscriber of the user's own making, which RxJS doesn't guard
    }
  }

  #end(): void {
    try {
      this.#subject.complete()
    } catch (error) {
      this.#report(error)
    }
  }
}

/** A current value and its changes: a subscriber gets the current value first, also after `complete`. */
export class StateHub<A> {
  readonly observable: Observable<A>
  readonly #hub: Hub<A>
  #value: A

  constructor(initial: A, onError?: OnError) {
    this.#hub = new Hub(onError, new ReplaySubject<A>(1))
    this.observable = this.#hub.observable
    this.#value = initial
    this.#hub.emit(initial)
  }

  /** What was set last. */
  get value(): A {
    return this.#value
  }

  /** Whether anybody is subscribed. */
  get observed(): boolean {
    return this.#hub.observed
  }

  /** Makes it the current value and tells every observer. */
  set(value: A): void {
    this.#value = value
    this.#hub.emit(value)
  }

  /** Completes every observer; the last value stays. */
  complete(): void {
    this.#hub.complete()
  }
}
