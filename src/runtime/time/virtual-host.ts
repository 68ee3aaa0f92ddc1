/**
 * One process's clock inside a virtual world: its own wall clock, rate and boot, and its own misfortunes (suspended,
 * stopped, killed), on the timers of a shared `VirtualTime`. Several hosts on one world contend like real processes.
 *
 * Not promised: that a frozen process's promises stand still. Only what reaches it through this clock waits, so
 * whatever answers it (a store's latency, a message) has to come by this clock's `after` or `soon`.
 */
import { aNumber } from "../input/options.ts"
import { type Clock, delayOf, type Reading, type Timer, type TimerOptions } from "./clock.ts"
import type { VirtualTime } from "./virtual-time.ts"

/** How a host's clocks differ from the world's. */
export interface VirtualHostOptions {
  /**
   * Names its boot; hosts with one name share a boot id, like processes of one machine, and with one rate its boot
   * clock. Default "host".
   */
  readonly name?: string
  /** How far its wall clock is ahead of the world's, in ms; default 0. */
  readonly wallOffset?: number
  /** How fast its clocks go: 1.05 is 5 % fast; default 1. */
  readonly rate?: number
  /** False: its boot clock can't be read, so that the wall clock stands in; default true. */
  readonly bootClock?: boolean
  /**
   * How far its boot clock is ahead of what the name stands for, in ms: its uptime is made up, unnoticed; default 0.
   */
  readonly bootAhead?: number
}

interface HostTimer {
  readonly due: number
  readonly callback: () => void
  readonly options: TimerOptions
  /** Undefined once it has run, was cancelled, or its process was killed. */
  world: Timer | undefined
}

/** Below this many ms two times are one: what is left of a wait after a conversion between rates is rounding. */
const rounding = 1e-6

/** A process in a virtual world. It lives until `kill`. */
export class VirtualHost implements Clock {
  /** Named after the host's name; undefined where its boot clock can't be read. */
  readonly bootId: string | undefined
  readonly #world: VirtualTime
  readonly #rate: number
  readonly #born: number
  readonly #pending = new Set<HostTimer>()
  #wallAhead: number
  #bootAhead: number
  #slept = 0
  /** The latest time that a timer was due which has run: by rounding, the clock might not be there yet. */
  #reached = 0
  #frozenSince: number | undefined
  #sleeping = false
  #dead = false
  #held: (() => void)[] = []

  constructor(world: VirtualTime, options: VirtualHostOptions = {}) {
    const { name = "host", wallOffset = 0, rate = 1, bootClock = true, bootAhead = 0 } = options
    const now = world.read()
    this.#world = world
    this.#rate = rate
    this.#born = now.mono
    this.#wallAhead = now.wall + wallOffset
    // as if it had gone at this rate since the world began
    this.#bootAhead = now.boot + bootAhead + (rate - 1) * now.mono
    this.bootId = bootClock ? `virtual-boot-${name}` : undefined
  }

  /** This process's clocks as they stand, readable also while it is stopped. */
  read(): Reading {
    const elapsed = this.#elapsed()
    const wall = elapsed + this.#wallAhead
    const boot = this.bootId === undefined ? wall : elapsed + this.#bootAhead
    return { wall, mono: this.mono(), boot }
  }

  /** Its monotonic clock alone. */
  mono(): number {
    return Math.max(this.#reached, this.#elapsed() - this.#sleptUntilNow())
  }

  /** The world's next number in [0,1). */
  random(): number {
    return this.#world.random()
  }

  /** The world's next id. */
  id(): string {
    return this.#world.id()
  }

  /** Runs callback `ms` later by this process's monotonic clock, and not before it is running. */
  after(ms: number, callback: () => void, options: TimerOptions = {}): Timer {
    const timer: HostTimer = { due: this.mono() + delayOf(ms), callback, options, world: undefined }
    if (!this.#dead) this.#arm(timer)
    return { cancel: () => this.#forget(timer) }
  }

  /** Runs callback on the world's ready queue, or when this process runs again. */
  soon(callback: () => void): void {
    this.#world.soon(() => this.#whenAwake(callback))
  }

  /** This host's wall clock jumps by `ms` (either sign). */
  stepWall(ms: number): void {
    aNumber("the step of the wall clock", ms)
    this.#wallAhead += ms
  }

  /** Stops the process as SIGSTOP does: its clocks go on, nothing of it runs until `resume`. */
  pause(): void {
    this.#frozenSince ??= this.#elapsed()
  }

  /** Suspends its machine: as `pause`, but the monotonic clock stands still too. */
  sleep(): void {
    if (this.#frozenSince !== undefined) return
    this.pause()
    this.#sleeping = true
  }

  /** Ends `pause` or `sleep`: what came due meanwhile runs now, in the order in which it came due. */
  resume(): void {
    if (this.#frozenSince === undefined) return
    this.#slept = this.#sleptUntilNow()
    this.#frozenSince = undefined
    this.#sleeping = false
    const held = this.#held
    this.#held = []
    for (const callback of held) this.soon(callback)
  }

  /** Ends the process as SIGKILL does: nothing of it ever runs again. */
  kill(): void {
    this.#dead = true
    this.#held = []
    for (const timer of this.#pending) this.#forget(timer)
  }

  /** Timers that have neither run nor been cancelled. */
  get pendingTimers(): number {
    return this.#pending.size
  }

  /** Ms on this host's clocks since it was made, suspended or not. */
  #elapsed(): number {
    return (this.#world.mono() - this.#born) * this.#rate
  }

  #sleptUntilNow(): number {
    return this.#slept + (this.#sleeping ? this.#elapsed() - this.#frozenSince! : 0)
  }

  #arm(timer: HostTimer): void {
    const left = (timer.due - this.mono()) / this.#rate
    timer.world = this.#world.after(left, () => this.#whenAwake(() => this.#elapse(timer)), timer.options)
    this.#pending.add(timer)
  }

  #elapse(timer: HostTimer): void {
    if (timer.world === undefined) return
    if (timer.due - this.mono() > rounding) return this.#arm(timer)
    this.#forget(timer)
    this.#reached = Math.max(this.#reached, timer.due)
    timer.callback()
  }

  #forget(timer: HostTimer): void {
    timer.world?.cancel()
    timer.world = undefined
    this.#pending.delete(timer)
  }

  #whenAwake(callback: () => void): void {
    if (this.#dead) return
    if (this.#frozenSince === undefined) callback()
    else this.#held.push(callback)
  }
}
