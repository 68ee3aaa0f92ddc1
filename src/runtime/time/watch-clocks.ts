/**
 * The clocks comparison: once a second, while anybody listens, one reading of all three clocks shows whether they went
 * apart (a suspended machine, a stepped wall clock). Then it goes to every listener of the clock, so that each finds
 * for itself what that means. As long as they agree nobody is called: there may be 10,000 listeners.
 *
 * It never keeps a process alive, and a blocked event loop delays it: who must be right by time reads the clock itself.
 */
import type { Clock, Reading } from "./clock.ts"
import { scheduleOf, type Wake } from "./schedule.ts"

const watchMillis = 1000
/**
 * The clocks agree while they are at most so much further apart than when the listeners were last called, in ms. A
 * quarter of the least that a listener acts on (1 s, in locks/protocol/rules/time.ts), so that small steps don't add up
 * to one unseen.
 */
const APART_MS = 250

/** Called with a reading once the clocks have gone apart. */
export interface ClockListener {
  onReading(reading: Reading): void
}

/** The comparison of one clock's clocks. Get it by `watchClocks`. */
export class ClockWatch {
  readonly #clock: Clock
  readonly #wake: Wake
  readonly #listeners = new Set<ClockListener>()
  /** How far the clocks were apart when the listeners were last called, or the first came. In ms. */
  #apart = 0
  /** A listener has had a reading of its own that the others have yet to learn of. */
  #isNoted = false

  constructor(clock: Clock) {
    this.#clock = clock
    this.#wake = scheduleOf(clock).wake(() => this.#compare(), { background: true })
  }

  /** A listener from now on. `reading`: the one that it knows. */
  add(listener: ClockListener, reading: Reading): void {
    if (this.#listeners.size === 0) {
      this.#agree(reading)
      this.#arm(reading)
    }
    this.#listeners.add(listener)
    this.note(reading)
  }

  /** A listener no more. Idempotent. */
  delete(listener: ClockListener): void {
    if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#wake.clear()
  }

  /** A listener goes by this reading of its own: it is called, too, should the clocks go back to where they were. */
  note(reading: Reading): void {
    if (this.#isFar(reading)) this.#isNoted = true
  }

  #arm(reading: Reading): void {
    this.#wake.set(reading.mono + watchMillis)
  }

  #compare(): void {
    const reading = this.#clock.read()
    this.#arm(reading)
    if (!this.#isNoted && !this.#isFar(reading)) return
    this.#agree(reading)
    const errors: unknown[] = []
    for (const listener of [...this.#listeners]) {
      try {
        listener.onReading(reading)
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, "a listener of the clocks comparison threw")
  }

  #agree({ boot, mono }: Reading): void {
    this.#apart = boot - mono
    this.#isNoted = false
  }

  #isFar({ boot, mono }: Reading): boolean {
    return Math.abs(boot - mono - this.#apart) > APART_MS
  }
}

const watches = new WeakMap<Clock, ClockWatch>()

/**
 * The clock's one comparison. A listener that throws doesn't keep the reading from the others; its error is then thrown
 * where timers' errors go.
 */
export const watchClocks = (clock: Clock): ClockWatch => {
  let watch = watches.get(clock)
  if (watch === undefined) {
    watch = new ClockWatch(clock)
    watches.set(clock, watch)
  }
  return watch
}
