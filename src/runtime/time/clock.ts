/**
 * The one place time, timers and randomness come from: the `Clock` port and its live implementation.
 * Everything above takes a `Clock`, so that the same code runs under virtual time (virtual-time.ts).
 *
 * Not promised: that the wall clock is right or steady, that the monotonic clock counts suspend (on Linux it doesn't),
 * that a timer is on time. A timer is never early, it may be any amount late.
 */
import { randomBytes } from "node:crypto"
import process from "node:process"
import { clearTimeout, setImmediate, setTimeout } from "node:timers"
import { BootClock } from "./boot-clock.ts"

/** One reading of a process's clocks, in milliseconds. */
export interface Reading {
  /** Unix milliseconds; may step in either direction. */
  readonly wall: number
  /** Never stepped; may stop while the machine is suspended. */
  readonly mono: number
  /** Counts suspend and is never stepped. Where it can't be read the wall clock stands in. */
  readonly boot: number
}

/** A pending call of `Clock.after`. */
export interface Timer {
  /** Idempotent, also after the callback has run. */
  cancel(): void
}

/** How a timer behaves towards the process. */
export interface TimerOptions {
  /** Doesn't keep the process alive. */
  readonly background?: boolean
}

/** What the rest of leasehold knows of time and chance. */
export interface Clock {
  /** The three clocks, read together. */
  read(): Reading
  /** `read().mono` alone, which costs a tenth: for what only waits. Authority is decided by a whole reading. */
  mono(): number
  /** A number in [0,1). */
  random(): number
  /** A fresh unpredictable id of 16 characters of `[A-Za-z0-9_-]` (virtual: seeded, so the same in every run). */
  id(): string
  /**
   * Runs callback once, `ms` of monotonic time from now at the earliest. Negative and NaN count as 0; delays over
   * 2^31-1 ms are real waits.
   */
  after(ms: number, callback: () => void, options?: TimerOptions): Timer
  /** Runs callback after the current synchronous work and its microtasks, in the order of calls. */
  soon(callback: () => void): void
  /**
   * Which boot of the machine `Reading.boot` counts from; undefined where the boot clock can't be read, and from when a
   * reading shows that this process was moved to another boot or time namespace.
   */
  readonly bootId: string | undefined
}

/** A delay as every clock understands it: NaN and negative are 0. */
export const delayOf = (ms: number): number => (ms > 0 ? ms : 0)

const longestNativeDelay = 2 ** 31 - 1

/** One wait of any length, made of native timers that are short enough and never end before it is over. */
class LiveTimer implements Timer {
  readonly #due: number
  readonly #callback: () => void
  readonly #background: boolean
  #native: ReturnType<typeof setTimeout> | undefined

  constructor(ms: number, callback: () => void, background: boolean) {
    this.#due = performance.now() + ms
    this.#callback = callback
    this.#background = background
    this.#arm(ms)
  }

  #arm(left: number): void {
    this.#native = setTimeout(this.#elapsed, Math.min(Math.ceil(left), longestNativeDelay))
    if (this.#background) this.#native.unref()
  }

  readonly #elapsed = (): void => {
    const left = this.#due - performance.now()
    if (left > 0) return this.#arm(left) // native timers round to their own tick and can be early by one
    this.#native = undefined
    this.#callback()
  }

  cancel(): void {
    clearTimeout(this.#native)
    this.#native = undefined
  }
}

/** A multiple of 3, so that the text has no bits to spare. */
const ID_BYTES = 12

class LiveClock implements Clock {
  readonly #boot = new BootClock("/proc", () => process.uptime())
  /** Drawn in advance: many ids cost little more than one. */
  #chance = randomBytes(0)
  #used = 0

  read(): Reading {
    const [wall, mono] = [Date.now(), performance.now()]
    return { wall, mono, boot: this.#boot.read(wall, mono) }
  }

  mono(): number {
    return performance.now()
  }

  random(): number {
    return Math.random()
  }

  id(): string {
    if (this.#used >= this.#chance.length) {
      this.#chance = randomBytes(ID_BYTES * 128)
      this.#used = 0
    }
    this.#used += ID_BYTES
    return this.#chance.toString("base64url", this.#used - ID_BYTES, this.#used)
  }

  after(ms: number, callback: () => void, options: TimerOptions = {}): Timer {
    return new LiveTimer(delayOf(ms), callback, options.background ?? false)
  }

  soon(callback: () => void): void {
    setImmediate(callback)
  }

  get bootId(): string | undefined {
    return this.#boot.id
  }
}

/** The clock of this process. */
export const liveClock: Clock = new LiveClock()
