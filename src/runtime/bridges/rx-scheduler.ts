/**
 * RxJS's scheduler on our clock, to be passed wherever an operator takes one (`interval(1000, rxScheduler(clock))`).
 */
import { type SchedulerAction, type SchedulerLike, Subscription } from "rxjs"
import type { Clock, Timer } from "../time/clock.ts"

type ScheduledWork<T> = (this: SchedulerAction<T>, state?: T) => void

/**
 * One piece of work, which may schedule itself again. Work that throws is over; its error goes where timers' errors go.
 */
class ClockAction<T> extends Subscription implements SchedulerAction<T> {
  readonly #clock: Clock
  readonly #work: ScheduledWork<T>
  #pending: Timer | undefined

  constructor(clock: Clock, work: ScheduledWork<T>) {
    super(() => this.#pending?.cancel())
    this.#clock = clock
    this.#work = work
  }

  schedule(state?: T, delay = 0): Subscription {
    if (this.closed) return this
    this.#pending?.cancel()
    this.#pending = this.#clock.after(delay, () => this.#run(state))
    return this
  }

  #run(state: T | undefined): void {
    try {
      this.#work.call(this, state)
    } catch (error) {
      this.unsubscribe()
      throw error
    }
  }
}

/**
 * A scheduler whose delays are timers of the clock. Its `now` is the wall clock as it stood when the scheduler was
 * made, plus the monotonic time since, so that a stepped wall clock can't hold up a `debounceTime`.
 */
export const rxScheduler = (clock: Clock): SchedulerLike => {
  const start = clock.read()
  return {
    now: () => start.wall + (clock.mono() - start.mono),
    schedule: <T>(work: ScheduledWork<T>, delay = 0, state?: T): Subscription =>
      new ClockAction(clock, work).schedule(state, delay),
  }
}
