/**
 * The clocks comparison: once a second, while anybody listens, one reading of all three clocks goes to every listener
 * of a clock, so that each finds for itself whether they went apart (a suspended machine, a stepped wall clock).
 *
 * It never keeps a process alive, and a blocked event loop delays it: who must be right by time reads the clock itself.
 */
import type { Clock, Reading } from "./clock.ts"
import { scheduleOf, type Wake } from "./schedule.ts"

const watchMillis = 1000

class ClockWatch {
  readonly #clock: Clock
  readonly #wake: Wake
  readonly #listeners = new Set<(reading: Reading) => void>()

  constructor(clock: Clock) {
    this.#clock = clock
    this.#wake = scheduleOf(clock).wake(() => this.#compare(), { background: true })
  }

  add(listener: (reading: Reading) => void): Disposable {
    const own = (reading: Reading): void => listener(reading) // the same function may listen twice
    this.#listeners.add(own)
    if (this.#wake.due === undefined) this.#arm(this.#clock.read())
    return {
      [Symbol.dispose]: () => {
        this.#listeners.delete(own)
        if (this.#listeners.size === 0) this.#wake.clear()
      },
    }
  }

  #arm(reading: Reading): void {
    this.#wake.set(reading.mono + watchMillis)
  }

  #compare(): void {
    const reading = this.#clock.read()
    this.#arm(reading)
    const errors: unknown[] = []
    for (const listener of [...this.#listeners]) {
      try {
        listener(reading)
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, "a listener of the clocks comparison threw")
  }
}

const watches = new WeakMap<Clock, ClockWatch>()

/**
 * Calls listener with a reading once a second until disposed. A listener that throws doesn't keep the reading from the
 * others; its error is then thrown where timers' errors go.
 */
export const watchClocks = (clock: Clock, listener: (reading: Reading) => void): Disposable => {
  let watch = watches.get(clock)
  if (watch === undefined) {
    watch = new ClockWatch(clock)
    watches.set(clock, watch)
  }
  return watch.add(listener)
}
