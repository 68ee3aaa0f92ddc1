/**
 * Supervised fibers: Effects forked on a clock from outside of any Effect, none of whose failures is silent, and which
 * can all be ended together.
 */
import * as Cause from "effect/Cause"
import type * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import { type OnError, reporter } from "../report.ts"
import type { Clock, TimerOptions } from "../time/clock.ts"
import { runForkOn } from "./effect-clock.ts"

/** The fibers of one owner (a lock, a manager). */
export class Fibers {
  readonly #fork: <A, E>(effect: Effect.Effect<A, E>) => Fiber.Fiber<A, E>
  readonly #report: OnError
  readonly #running = new Set<Fiber.Fiber<unknown, unknown>>()

  /** With `background: true` the fibers' sleeps don't keep the process alive. */
  constructor(clock: Clock, onError?: OnError, options?: TimerOptions) {
    this.#fork = runForkOn(clock, options)
    this.#report = reporter(onError)
  }

  /** How many fibers haven't ended. */
  get size(): number {
    return this.#running.size
  }

  /** Starts the effect at once. Every failure and defect of it is reported to onError; an interruption isn't one. */
  fork<A, E>(effect: Effect.Effect<A, E>): Fiber.Fiber<A, E> {
    const fiber = this.#start(effect)
    fiber.addObserver((exit) => {
      if (Exit.isFailure(exit)) for (const error of errorsOf(exit.cause)) this.#report(error)
    })
    return fiber
  }

  /**
   * Starts the effect at once and settles with it: rejects with its failure or defect, and with an error of Effect's
   * when it is interrupted. Nothing is reported to onError, since the caller is told.
   */
  run<A, E>(effect: Effect.Effect<A, E>): Promise<A> {
    return new Promise((resolve, reject) => {
      this.#start(effect).addObserver((exit) => {
        if (Exit.isSuccess(exit)) resolve(exit.value)
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- an Effect may fail with anything
        else reject(Cause.squash(exit.cause))
      })
    })
  }

  /** Interrupts every fiber now; settles when all have ended, those in uninterruptible regions included. */
  async interruptAll(): Promise<void> {
    const ended = [...this.#running].map((fiber) => {
      fiber.interruptUnsafe()
      return new Promise<void>((resolve) => void fiber.addObserver(() => resolve()))
    })
    await Promise.all(ended)
  }

  #start<A, E>(effect: Effect.Effect<A, E>): Fiber.Fiber<A, E> {
    const fiber = this.#fork(effect)
    this.#running.add(fiber)
    fiber.addObserver(() => this.#running.delete(fiber))
    return fiber
  }
}

const errorsOf = (cause: Cause.Cause<unknown>): unknown[] =>
  cause.reasons.flatMap((reason) => {
    if (Cause.isFailReason(reason)) return [reason.error]
    return Cause.isDieReason(reason) ? [reason.defect] : []
  })
