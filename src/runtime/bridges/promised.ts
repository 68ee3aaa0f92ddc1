/**
 * Code made of promises, as a fiber of Effect's. An interruption aborts the signal that the code was given. The fiber
 * ends when the code has ended, since no signal can make it: what waits for the fiber waits for the truth.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type { Fibers } from "./fibers.ts"

export class Promised {
  /** Until it has ended. */
  #fiber: Fiber.Fiber<void> | undefined
  #reason: unknown

  /** Starts the code at once. What it rejects with is reported as the fibers' failures are. */
  constructor(fibers: Fibers, start: (signal: AbortSignal) => Promise<void>) {
    this.#fiber = fibers.fork(interruptible(start, () => this.#reason))
    this.#fiber.addObserver(() => (this.#fiber = undefined))
  }

  /** Aborts the code's signal with the reason; once. Nothing where the code has ended. */
  interrupt(reason?: unknown): void {
    this.#reason ??= reason
    this.#fiber?.interruptUnsafe()
  }

  /**
   * Settles when the code has ended in order, or with `over` once `ms` are over. The code goes on then. Code that has
   * rejected says nothing more: the limit is how one learns of that.
   */
  within(ms: number, over: () => void): Effect.Effect<void> {
    if (this.#fiber === undefined) return Effect.void
    const ended = Effect.flatMap(Fiber.await(this.#fiber), (exit) => (hasDied(exit) ? Effect.never : Effect.void))
    return Effect.timeoutOrElse(ended, { duration: ms, orElse: () => Effect.sync(over) })
  }
}

const hasDied = (exit: Exit.Exit<void>): boolean => Exit.isFailure(exit) && Cause.hasDies(exit.cause)

const interruptible = (start: (signal: AbortSignal) => Promise<void>, why: () => unknown): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const abort = new AbortController()
    const ended = start(abort.signal)
    ended.then(
      () => resume(Effect.void),
      (error: unknown) => resume(Effect.die(error)),
    )
    return Effect.suspend(() => {
      abort.abort(why())
      return Effect.promise(() => ended)
    })
  })
