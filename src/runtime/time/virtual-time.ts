/**
 * Virtual time: a clock that stands still until it is told to move, and then runs what is due in one order only:
 * by (time, sequence of `after`), with the ready queue and all promise work run dry after each callback.
 *
 * Not promised: order of anything that waits for real I/O (a file, a socket, `crypto.subtle`). Such work takes an
 * unknown number of turns of the real event loop, so it has no place under virtual time.
 */
import timers from "node:timers"
import { aCount, aFlag, aNumber, aPromise, type OptionChecks, refuseUnknown } from "../input/options.ts"
import { type Clock, delayOf, type Reading, type Timer, type TimerOptions } from "./clock.ts"
import { Heap, type HeapItem } from "./heap.ts"
import { SeededRandom } from "./random.ts"

/** How a virtual clock starts. */
export interface VirtualTimeOptions {
  /** Of `random` and `id`; default 1. */
  readonly seed?: number
  /** The wall clock at the start, in Unix milliseconds; default 1,700,000,000,000. */
  readonly wall?: number
  /** False: a machine whose boot clock can't be read, so that the wall clock stands in; default true. */
  readonly bootClock?: boolean
  /** How many callbacks one call may run before it throws instead of running forever; default 1,000,000. */
  readonly maxSteps?: number
}

const OPTIONS: OptionChecks<VirtualTimeOptions> = {
  seed: aNumber,
  wall: aNumber,
  bootClock: aFlag,
  maxSteps: aCount(1),
}

interface Pending extends HeapItem {
  readonly due: number
  readonly sequence: number
  readonly callback: () => void
  readonly background: boolean
}

const earlier = (a: Pending, b: Pending): boolean => a.due < b.due || (a.due === b.due && a.sequence < b.sequence)

/** As it is now: a simulation traps it, for everybody else, while its runs last. */
const { setImmediate } = timers

/** A real macrotask: all promise work of the moment is done before it settles, however many turns that takes. */
const macrotask = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

const bootedBefore = 600_000

/** A whole world's time, and one process's clock in it (`VirtualHost` makes more of them). */
export class VirtualTime implements Clock {
  /** Named after the seed; undefined where the boot clock can't be read. */
  readonly bootId: string | undefined
  readonly #random: SeededRandom
  readonly #maxSteps: number
  readonly #timers = new Heap<Pending>(earlier)
  readonly #ready: (() => void)[] = []
  #mono = 0
  /** The mono time that the present call advances to. */
  #target = 0
  #wallAhead: number
  #bootAhead = bootedBefore
  #sequence = 0
  #background = 0
  #driven = false
  #pumping = false

  /** A clock that stands at its start. Throws InvalidConfigError. */
  constructor(options: VirtualTimeOptions = {}) {
    refuseUnknown("VirtualTime", options, OPTIONS)
    const { seed = 1, wall = 1_700_000_000_000, bootClock = true, maxSteps = 1_000_000 } = options
    this.#random = new SeededRandom(seed)
    this.#wallAhead = wall
    this.#maxSteps = maxSteps
    this.bootId = bootClock ? `virtual-boot-${seed}` : undefined
  }

  /** The clocks as they stand. */
  read(): Reading {
    const wall = this.#mono + this.#wallAhead
    return { wall, mono: this.#mono, boot: this.bootId === undefined ? wall : this.#mono + this.#bootAhead }
  }

  /** The monotonic clock alone. */
  mono(): number {
    return this.#mono
  }

  /** The seed's next number in [0,1). */
  random(): number {
    return this.#random.next()
  }

  /** The seed's next id. */
  id(): string {
    return this.#random.id()
  }

  /** Runs callback when time has been advanced by `ms`; background matters to `runUntilIdle` alone. */
  after(ms: number, callback: () => void, options: TimerOptions = {}): Timer {
    const due = this.#mono + delayOf(ms)
    const pending = { due, sequence: this.#sequence++, callback, background: options.background ?? false, position: -1 }
    this.#timers.push(pending)
    if (pending.background) this.#background++
    return { cancel: () => this.#remove(pending) }
  }

  /**
   * Runs callback on the next turn, in order. Ready callbacks run by themselves (one to a real macrotask) while no call
   * advances time, so that a promise that needs only them settles without help; time never moves by itself.
   */
  soon(callback: () => void): void {
    this.#ready.push(callback)
    this.#pump()
  }

  /** Timers that have neither run nor been cancelled, background ones included. */
  get pendingTimers(): number {
    return this.#timers.size
  }

  /** Those of them that wouldn't keep a process alive. */
  get pendingBackground(): number {
    return this.#background
  }

  /**
   * Lets `ms` pass: settles everything runnable now, then fires each timer at its own time, settling after each.
   * Rejects with what a callback throws; the clock then stands at that callback's time, and a later call goes on.
   */
  async advance(ms: number): Promise<void> {
    aNumber("the time to advance by", ms)
    await this.#drive(this.#advancing(ms))
  }

  /** `advance` without the promise work: for code that is synchronous throughout. Throws what a callback throws. */
  advanceSync(ms: number): void {
    aNumber("the time to advance by", ms)
    this.#take()
    try {
      for (const _ of this.#advancing(ms)) continue
    } finally {
      this.#giveBack()
    }
  }

  /**
   * Fires timers, however late they are due, until none is left that would keep a process alive; background timers run
   * where they come due on the way. Rejects with what a callback throws.
   */
  async runUntilIdle(): Promise<void> {
    await this.#drive(this.#steps((due) => due < Infinity && this.#timers.size > this.#background))
  }

  /**
   * Fires timers until the promise settles, and settles as it does. Rejects with an error when nothing is left that
   * could settle it, and with what a callback throws.
   */
  async runUntil<A>(promise: PromiseLike<A>): Promise<A> {
    aPromise("what runUntil waits for", promise)
    let settled = false
    const settle = (): void => void (settled = true)
    promise.then(settle, settle)
    await this.#drive(this.#steps((due) => due < Infinity && !settled))
    if (!settled)
      throw new Error("virtual time: no timer is left and the promise is still pending; nothing can settle it")
    return promise
  }

  /** The wall clock jumps by `ms` (either sign), as when an operator or NTP sets it. */
  stepWall(ms: number): void {
    aNumber("the step of the wall clock", ms)
    this.#wallAhead += ms
  }

  /** The machine sleeps for `ms`: wall and boot clock go on, the monotonic clock and with it all timers don't. */
  suspend(ms: number): void {
    aNumber("the time to suspend for", ms)
    this.#wallAhead += ms
    this.#bootAhead += ms
  }

  /** The event loop is blocked for `ms`: all clocks go on, no timer runs; what came due meanwhile runs late. */
  stall(ms: number): void {
    aNumber("the time to stall for", ms)
    this.#mono += ms
    this.#target += ms
  }

  *#advancing(ms: number): Generator<void> {
    this.#target = this.#mono + delayOf(ms)
    yield* this.#steps((due) => due <= this.#target)
    this.#mono = this.#target
  }

  /** Runs one callback between yields: ready ones first, then the next timer as long as it `mayFire`. */
  *#steps(mayFire: (due: number) => boolean): Generator<void> {
    for (let steps = 0; ; steps++) {
      yield
      if (steps > this.#maxSteps) throw new Error(`virtual time: no rest after ${this.#maxSteps} callbacks (maxSteps)`)
      const ready = this.#ready.shift()
      if (ready !== undefined) {
        ready()
        continue
      }
      const next = this.#timers.peek()
      if (next === undefined || !mayFire(next.due)) return
      this.#fire(next)
    }
  }

  #fire(timer: Pending): void {
    this.#remove(timer)
    this.#mono = Math.max(this.#mono, timer.due)
    timer.callback()
  }

  #remove(timer: Pending): void {
    if (timer.position < 0) return
    this.#timers.remove(timer)
    if (timer.background) this.#background--
  }

  async #drive(steps: Generator<void>): Promise<void> {
    this.#take()
    try {
      for (const _ of steps) await macrotask()
    } finally {
      this.#giveBack()
    }
  }

  #take(): void {
    if (this.#driven) throw new Error("virtual time is being advanced already; await that call before the next one")
    this.#driven = true
  }

  #giveBack(): void {
    this.#driven = false
    this.#pump()
  }

  #pump(): void {
    if (this.#driven || this.#pumping || this.#ready.length === 0) return
    this.#pumping = true
    setImmediate(() => {
      this.#pumping = false
      if (this.#driven) return
      try {
        this.#ready.shift()?.()
      } finally {
        this.#pump()
      }
    })
  }
}
