/**
 * The one way an XState actor is started. XState throws an error that nobody observes on a timer, which kills the
 * process; an actor started here always has an error observer, and what is handed out of it is guarded too.
 */
import {
  type Actor,
  type ActorOptions,
  type AnyActor,
  type AnyActorLogic,
  createActor,
  type InputFrom,
  type InspectionEvent,
  type Snapshot,
  type SnapshotFrom,
  type Subscription,
} from "xstate"
import { GuardedObserver, observerOf } from "../observables.ts"
import { type OnError, reporter } from "../report.ts"
import type { Clock } from "../time/clock.ts"
import { xstateClock } from "./xstate-clock.ts"

/** How an actor starts. */
export interface StartActorOptions<L extends AnyActorLogic> {
  readonly clock: Clock
  /** An actor whose XState system it is a part of. Without one it is a system of its own. */
  readonly parent?: AnyActor
  readonly input?: InputFrom<L>
  readonly id?: string
  /** A persisted snapshot to start from. */
  readonly snapshot?: Snapshot<unknown>
  /** Gets every inspection event of the system that it begins; what it throws goes to onError. */
  readonly inspect?: ((event: InspectionEvent) => void) | undefined
  /** Gets every snapshot, the first included: before the actor is handed out. Must not throw. */
  readonly onSnapshot?: (snapshot: SnapshotFrom<L>) => void
  /** Gets the error of an actor that failed, also while it started; without it, standard error does. */
  readonly onError?: OnError | undefined
}

/** Starts an actor on the clock. It never throws: an actor that can't start has the status "error" and is reported. */
export const startActor = <L extends AnyActorLogic>(logic: L, options: StartActorOptions<L>): Actor<L> => {
  const { clock, onError, onSnapshot, inspect, ...rest } = options
  const report = reporter(onError)
  const actorOptions = {
    ...rest,
    clock: xstateClock(clock),
    ...(inspect && { inspect: guardedInspect(inspect, report) }),
  }
  // XState types the options by whether the logic needs input; here that is the caller's to have checked.
  const actor: Actor<L> = createActor(logic as AnyActorLogic, actorOptions as ActorOptions<AnyActorLogic>) as Actor<L>
  actor.subscribe({ ...(onSnapshot && { next: onSnapshot }), error: report })
  actor.start()
  return actor
}

const guardedInspect = (inspect: (event: InspectionEvent) => void, report: OnError) => (event: InspectionEvent) => {
  try {
    inspect(event)
  } catch (error) {
    report(error)
  }
}

const reportedByStartActor = (): void => {}

/** What may be seen of an actor without being able to send to it or stop it. */
export type ActorView<A extends AnyActor> = Pick<A, "id" | "sessionId" | "subscribe" | "getSnapshot" | "select">

/** A read-only view whose observers may throw, or have no error listener, without harm to the process. */
export const actorView = <A extends AnyActor>(actor: A, onError?: OnError): ActorView<A> => {
  const report = reporter(onError)
  const subscribe = (...args: Parameters<typeof observerOf<SnapshotFrom<A>>>): Subscription => {
    const observer = new GuardedObserver(observerOf(...args), report, reportedByStartActor)
    const subscription = actor.subscribe(observer)
    observer.attach(subscription)
    return subscription
  }
  const view = {
    id: actor.id,
    sessionId: actor.sessionId,
    subscribe,
    getSnapshot: () => actor.getSnapshot(),
    // XState's select is written on subscribe and getSnapshot alone, so that it serves this view as it does the actor.
    select: (...args: Parameters<A["select"]>) => actor.select.apply(view, args),
  }
  return view as unknown as ActorView<A>
}
