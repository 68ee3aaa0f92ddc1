/**
 * Moves virtual time for as long as a call waits for it, and no further: several calls share one course of time, and
 * one may be made from inside another. Owns when time moves; what happens then is the world's.
 *
 * Not promised: that time stands still for a test that waits for something real while one of its calls still waits
 * here.
 */
import type { VirtualTime } from "../../runtime/time/virtual-time.ts"

interface TimeWait {
  /** Settles with the promise that is waited for, and never rejects. */
  readonly settled: Promise<void>
  /** What is waited for has settled. */
  over: boolean
  /** Lets the caller go on: once time stands, so that the caller may move it otherwise. */
  readonly rest: PromiseWithResolvers<void>
}

/** Who moves the time of a world. Nobody else may while a call waits. */
export class Mover {
  readonly #time: VirtualTime
  readonly #waits = new Set<TimeWait>()
  #news = Promise.withResolvers<void>()
  #reached: (() => void)[] = []
  #moving = false

  constructor(time: VirtualTime) {
    this.#time = time
  }

  /**
   * Lets time pass until the promise settles, and settles as it does. Rejects with what a timer's callback throws, and
   * when nothing is left that could settle it.
   */
  async run<A>(promise: Promise<A>): Promise<A> {
    const settle = (): void => void (wait.over = true)
    const wait: TimeWait = { settled: promise.then(settle, settle), over: false, rest: Promise.withResolvers() }
    this.#waits.add(wait)
    this.#news.resolve()
    void this.#move()
    await wait.rest.promise
    return promise
  }

  /** Lets `ms` pass, and settles all that is due by then. Rejects with what a timer's callback throws. */
  advance(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#time.after(ms, () => {
      this.#reached.push(resolve)
      this.#news.resolve()
    })
    return this.run(promise)
  }

  async #move(): Promise<void> {
    if (this.#moving) return
    this.#moving = true
    try {
      while (this.#waits.size > 0) await this.#moveToNews()
    } catch (error) {
      for (const { rest } of this.#waits) rest.reject(error)
      this.#waits.clear()
    } finally {
      this.#moving = false
    }
  }

  /** On to where a call has what it waits for, or another call comes. */
  async #moveToNews(): Promise<void> {
    this.#news = Promise.withResolvers()
    const settled = Array.from(this.#waits, (wait) => wait.settled)
    await this.#time.runUntil(Promise.race([this.#news.promise, ...settled]))
    if (this.#reached.length > 0) await this.#settleMoment()
    for (const wait of this.#waits) {
      if (!wait.over) continue
      this.#waits.delete(wait)
      wait.rest.resolve()
    }
  }

  /** Other timers are due at the very moment to which a call advances. */
  async #settleMoment(): Promise<void> {
    const reached = this.#reached.splice(0)
    await this.#time.advance(0)
    for (const settle of reached) settle()
  }
}
