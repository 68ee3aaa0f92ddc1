import { Buffer } from "node:buffer"
/**
 * The one place time, timers and randomness come from: the `Clock` port and its live implementation.
 * Everything above takes a `Clock`, so that the same code runs under virtual time (virtual-time.ts).
 *
 * Not promised: that the wall clock is right or steady, that the monotonic clock counts suspend (on Linux it doesn't),
 * that a timer is on time. A timer is never early, it may be any amount late.
 */
import { randomBytes } from "node:crypto"
import { closeSync, openSync, readFileSync, readSync } from "node:fs"
import { clearTimeout, setImmediate, setTimeout } from "node:timers"

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
  /** Which boot of the machine `Reading.boot` counts from; undefined where the boot clock can't be read. */
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

/** `/proc/uptime` on a descriptor that is opened once and kept: about a microsecond a reading. */
class BootClock {
  readonly #buffer = Buffer.alloc(64)
  #descriptor: number | undefined
  #id: string | undefined
  #offset = 0
  #state: "unopened" | "readable" | "unreadable" = "unopened"

  /** Milliseconds since boot, or the wall clock (from the last good reading on) where they can't be read. */
  read(wall: number): number {
    if (this.#state === "unopened") this.#open()
    if (this.#state === "unreadable") return wall + this.#offset
    const boot = this.#uptime()
    if (boot === undefined) this.#state = "unreadable"
    else this.#offset = boot - wall
    return wall + this.#offset
  }

  get id(): string | undefined {
    if (this.#state === "unopened") this.#open()
    return this.#id
  }

  #open(): void {
    this.#state = "unreadable"
    if (!mayRead("/proc/uptime")) return
    try {
      this.#descriptor = openSync("/proc/uptime", "r")
      this.#id = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()
      this.#state = "readable"
    } catch {
      // Not Linux, or not permitted: the port says that the wall clock stands in.
      if (this.#descriptor !== undefined) closeSync(this.#descriptor)
    }
  }

  #uptime(): number | undefined {
    try {
      const length = readSync(this.#descriptor!, this.#buffer, 0, this.#buffer.length, 0)
      const seconds = Number.parseFloat(this.#buffer.toString("latin1", 0, length))
      return Number.isFinite(seconds) ? Math.round(seconds * 1000) : undefined
    } catch {
      return undefined
    }
  }
}

/** Deno asks at the terminal for a permission it wasn't given; a clock must not make it ask. */
const mayRead = (path: string): boolean => {
  const { Deno: deno } = globalThis as { Deno?: { permissions: { querySync(descriptor: object): { state: string } } } }
  return deno === undefined || deno.permissions.querySync({ name: "read", path }).state === "granted"
}

class LiveClock implements Clock {
  readonly #boot = new BootClock()

  read(): Reading {
    const wall = Date.now()
    return { wall, mono: performance.now(), boot: this.#boot.read(wall) }
  }

  mono(): number {
    return performance.now()
  }

  random(): number {
    return Math.random()
  }

  id(): string {
    return randomBytes(12).toString("base64url")
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
