/**
 * Where the user's code begins, and how it is watched: one place for every hook, every use and every turn of a sandbox.
 * Code begins only while its lease is held by time. It has a signal and a limit, counted from its begin or from when it
 * was asked to end. Once the limit is over its signal aborts, its caller is rejected, and it counts as overdue until it
 * has really ended.
 *
 * Not promised: that code ends because its signal aborts. What may not happen before all of it has ended waits for
 * `idle`.
 */
import type { HookOverrunError, LockTimeoutError } from "../../../locks/api/errors.ts"
import { anySignal, type LatchedAbort } from "../../../runtime/latch-signal.ts"
import { quiet } from "../../../runtime/races.ts"
import type { Clock, Timer } from "../../../runtime/time/clock.ts"
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

/** Whose hooks they are. */
export interface HookRunsParts {
  /** For messages. */
  readonly key: string
  readonly clock: Clock
  /** Whether another owner may be at work already: for messages. */
  readonly isLost: () => boolean
  /** Called each time that a limit is over, before the caller of the hook is rejected. Must not throw. */
  readonly onOverrun: (error: HookOverrunError) => void
  /**
   * Called when a hook begins. Its result is called when the hook has really ended, with its error where it threw.
   * Neither may throw.
   */
  readonly onBegin?: (hook: HookName, reason: string | undefined) => Ends | undefined
  /** Called when a hook has really ended; `failed`: it threw. Must not throw. */
  readonly onEnd?: (hook: HookName, failed: boolean) => void
}

/** One that is in progress. */
interface Open {
  readonly hook: HookName
  readonly abort: LatchedAbort
  readonly fail: ((error: Error) => void) | undefined
  /** Tells a trace how it ended. */
  readonly ends: Ends | undefined
  limit: HookLimit | undefined
  timer: Timer | undefined
  overrun: HookOverrunError | undefined
}

export class HookRuns {
  readonly #parts: HookRunsParts
  readonly #open = new Set<Open>()
  readonly #overruns = new WeakSet<object>()
  /** The limit of code that has no other, once all was asked to end. */
  #leaving: HookLimit | undefined
  #idle: (() => void)[] = []

  constructor(parts: HookRunsParts) {
    this.#parts = parts
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
    const { key, clock } = this.#parts
    for (const { hook, limit } of this.#open)
      if (limit !== undefined) return goesOn(key, hook, limit, limit.ms - (limit.until - clock.mono()))
    return undefined
  }

  /** A limit that begins now. */
  limit(option: LimitOption, ms: number): HookLimit {
    return { option, ms, until: this.#parts.clock.mono() + ms }
  }

  /** Begins fn, at once. Throws the reason of the signal that forbids it, by time: then nothing of fn has run. */
  start<A>({ hook, under, limit, reason }: HookCall, fn: HookFn<A>): HookRun<A> {
    for (const signal of under) signal?.throwIfAborted()
    const abort = anySignal(...under)
    const { promise, resolve, reject } = Promise.withResolvers<A>()
    const fail = limit && reject
    const ends = this.#parts.onBegin?.(hook, reason)
    const open: Open = { hook, abort, fail, ends, limit: undefined, timer: undefined, overrun: undefined }
    this.#open.add(open)
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
    return this.#overruns.has(error as object)
  }

  /**
   * Limits all code, as it was asked to end. Code in progress keeps a limit of its own that ends sooner; where that is
   * over already it gets this one anew. Code that is yet to begin has this limit where it brings none.
   */
  limitAll(limit: HookLimit): void {
    this.#leaving = limit
    for (const open of this.#open) {
      const isSooner = open.timer === undefined || open.limit!.until > limit.until
      if (isSooner) this.#arm(open, limit)
    }
  }

  /** Settles when nothing is in progress. Never rejects. */
  async idle(): Promise<void> {
    while (this.#open.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
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
    this.#open.delete(open)
    open.ends?.(failed)
    this.#parts.onEnd?.(open.hook, failed !== undefined)
    open.timer?.cancel()
    open.abort[Symbol.dispose]()
    if (this.#open.size === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }

  #arm(open: Open, limit: HookLimit): void {
    const { clock } = this.#parts
    open.timer?.cancel()
    open.limit = limit
    open.timer = clock.after(limit.until - clock.mono(), () => this.#over(open, limit))
  }

  #over(open: Open, { option, ms }: HookLimit): void {
    const { key, isLost, onOverrun } = this.#parts
    const error = ranOver(key, open.hook, option, ms, isLost())
    open.timer = undefined
    open.overrun = error
    this.#overruns.add(error)
    open.abort.abort(error)
    onOverrun(error)
    open.fail?.(error)
  }
}
