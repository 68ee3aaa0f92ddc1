/**
 * Where the user's code begins, and how it is watched: one place for every hook, every use and every turn of a sandbox.
 * Code begins only while its lease is held by time. It has a signal and a limit, counted from its begin or from when it
 * was asked to end. Once the limit is over its signal aborts, its caller is rejected, and it counts as overdue until it
 * has really ended.
 *
 * Not promised: that code ends because its signal aborts. What may not happen before all of it has ended waits for
 * `idle`.
 */
import * as Effect from "effect/Effect"
import type { Fiber } from "effect/Fiber"
import type { HookOverrunError, LockTimeoutError } from "../../../locks/api/errors.ts"
import type { Fibers } from "../../../runtime/bridges/fibers.ts"
import { Deferred } from "../../../runtime/deferred.ts"
import { anySignal, type LatchedAbort } from "../../../runtime/latch-signal.ts"
import { quiet } from "../../../runtime/races.ts"
import type { Clock } from "../../../runtime/time/clock.ts"
import type { Ends } from "../../../trace/worker-lines.ts"
import type { HookLimit, HookName, LimitOption } from "../../api/hooks.ts"
import { goesOn, ranOver } from "../../api/problems.ts"

/** What is begun. */
export interface HookCall {
  readonly hook: HookName
  /** It doesn't begin once one of these has aborted, and its own signal aborts with the first of them. */
  readonly under: readonly (AbortSignal | undefined)[]
  /** From its begin on. Without one it has none until it is asked to end. */
  readonly limit?: HookLimit | undefined
  /** Why it is called, for the trace. */
  readonly reason?: string | undefined
}

/** A piece of the user's code, given the signal that it is to obey. */
export type HookFn<A> = (signal: AbortSignal) => A | PromiseLike<A>

/** Code that was begun. */
export interface HookRun<A> {
  /** Settles as the code does; rejects with HookOverrunError once the limit that it began with is over. */
  readonly result: Promise<A>
  /** Settles when it has really ended. Never rejects. */
  readonly ended: Promise<void>
}

/** Several hooks, one after another. */
export interface HookSeries {
  /** Begins fn; settles as `result` of its run does. */
  readonly run: <A>(hook: HookName, fn: HookFn<A>, reason?: string) => Promise<A>
  /** Settles when all that were begun so far have really ended. Never rejects. */
  readonly ended: () => Promise<void>
}

/** Whose hooks they are. None of these may throw. */
export interface HookOwner {
  /** Whether another owner may be at work already: for messages. */
  isLost(): boolean
  /** A limit is over; called each time, before the caller of the hook is rejected. */
  onOverrun(error: HookOverrunError): void
  /** A hook begins. The result is called when it has really ended, with its error where it threw. */
  onBegin(hook: HookName, reason: string | undefined): Ends | undefined
  /** A hook has really ended; `failed`: it threw. */
  onEnd(hook: HookName, failed: boolean): void
}

/** One that is in progress. */
interface Open {
  readonly hook: HookName
  readonly abort: LatchedAbort
  readonly fail: ((error: Error) => void) | undefined
  /** Tells a trace how it ended. */
  readonly ends: Ends | undefined
  limit: HookLimit | undefined
  /** Waits for the limit to be over. */
  waiting: Fiber<void> | undefined
  overrun: HookOverrunError | undefined
}

/** Nothing is in progress: most sandboxes, most of the time. */
const NONE: readonly Open[] = []

export class HookRuns {
  /** For messages. */
  readonly #key: string
  readonly #fibers: Fibers
  readonly #clock: Clock
  readonly #owner: HookOwner
  #open = NONE
  /** The errors of limits that were over. */
  #overruns: WeakSet<object> | undefined
  /** The limit of code that has no other, once all was asked to end. */
  #leaving: HookLimit | undefined
  #idle: Deferred<void> | undefined

  constructor(key: string, fibers: Fibers, clock: Clock, owner: HookOwner) {
    this.#key = key
    this.#fibers = fibers
    this.#clock = clock
    this.#owner = owner
  }

  /** The error of the first one that goes on past its limit; undefined where none does. */
  get overrun(): HookOverrunError | undefined {
    for (const { overrun } of this.#open) if (overrun !== undefined) return overrun
    return undefined
  }

  /** Which hook that is. */
  get stuck(): HookName | undefined {
    for (const { overrun, hook } of this.#open) if (overrun !== undefined) return hook
    return undefined
  }

  /** The error for a wait that ends while one goes on within its limit; undefined where none with a limit does. */
  get goingOn(): LockTimeoutError | undefined {
    for (const { hook, limit } of this.#open)
      if (limit !== undefined) return goesOn(this.#key, hook, limit, limit.ms - (limit.until - this.#clock.mono()))
    return undefined
  }

  /** A limit that begins now. */
  limit(option: LimitOption, ms: number): HookLimit {
    return { option, ms, until: this.#clock.mono() + ms }
  }

  /** Begins fn, at once. Throws the reason of the signal that forbids it, by time: then nothing of fn has run. */
  start<A>({ hook, under, limit, reason }: HookCall, fn: HookFn<A>): HookRun<A> {
    // One look, and the last thing before it begins: after a stop a second one may find that the lease is over.
    const abort = anySignal(...under)
    if (abort.signal.aborted) {
      abort[Symbol.dispose]()
      throw abort.signal.reason as Error
    }
    const { promise, resolve, reject } = Promise.withResolvers<A>()
    const fail = limit && reject
    const ends = this.#owner.onBegin(hook, reason)
    const open: Open = { hook, abort, fail, ends, limit: undefined, waiting: undefined, overrun: undefined }
    this.#open = [...this.#open, open]
    const until = limit ?? this.#leaving
    if (until !== undefined) this.#arm(open, until)
    const ended = this.#follow(open, fn, resolve, reject)
    return { result: quiet(promise), ended }
  }

  /** Begins fn; settles as `result` of its run does. */
  async run<A>(call: HookCall, fn: HookFn<A>): Promise<A> {
    return this.start(call, fn).result
  }

  /** Hooks that follow each other, under the same signals and one limit. */
  series({ under, limit }: Omit<HookCall, "hook">): HookSeries {
    const endings: Promise<void>[] = []
    return {
      run: async (hook, fn, reason) => {
        const { result, ended } = this.start({ hook, under, limit, reason }, fn)
        endings.push(ended)
        return result
      },
      ended: async () => void (await Promise.all(endings)),
    }
  }

  /** Whether the error is an overrun of one of these hooks. */
  isOverrun(error: unknown): boolean {
    return this.#overruns?.has(error as object) === true
  }

  /**
   * Limits all code, as it was asked to end. Code in progress keeps a limit of its own that ends sooner; where that is
   * over already it gets this one anew. Code that is yet to begin has this limit where it brings none.
   */
  limitAll(limit: HookLimit): void {
    this.#leaving = limit
    for (const open of this.#open) {
      const isSooner = open.waiting === undefined || open.limit!.until > limit.until
      if (isSooner) this.#arm(open, limit)
    }
  }

  /** Settles when nothing is in progress. Never rejects. */
  async idle(): Promise<void> {
    while (this.#open.length > 0) await (this.#idle ??= new Deferred()).promise
  }

  async #follow<A>(
    open: Open,
    fn: HookFn<A>,
    resolve: (value: A) => void,
    reject: (error: unknown) => void,
  ): Promise<void> {
    try {
      const value = await fn(open.abort.signal)
      this.#end(open)
      resolve(value)
    } catch (error) {
      this.#end(open, { error })
      reject(error)
    }
  }

  #end(open: Open, failed?: { readonly error: unknown }): void {
    const others = this.#open.filter((other) => other !== open)
    this.#open = others.length === 0 ? NONE : others
    open.ends?.(failed)
    this.#owner.onEnd(open.hook, failed !== undefined)
    open.waiting?.interruptUnsafe()
    open.abort[Symbol.dispose]()
    if (others.length > 0) return
    this.#idle?.resolve()
    this.#idle = undefined
  }

  #arm(open: Open, limit: HookLimit): void {
    open.waiting?.interruptUnsafe()
    open.limit = limit
    const over = Effect.sync(() => this.#over(open, limit))
    open.waiting = this.#fibers.fork(Effect.delay(over, Math.max(0, limit.until - this.#clock.mono())))
  }

  #over(open: Open, { option, ms }: HookLimit): void {
    const error = ranOver(this.#key, open.hook, option, ms, this.#owner.isLost())
    open.waiting = undefined
    open.overrun = error
    this.#overruns ??= new WeakSet()
    this.#overruns.add(error)
    open.abort.abort(error)
    this.#owner.onOverrun(error)
    open.fail?.(error)
  }
}
