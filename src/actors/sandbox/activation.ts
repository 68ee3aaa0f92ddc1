/**
 * One activation of a sandbox, from its lease to its end. Holds the live state and all that runs on it (restore, run,
 * uses, checkpoints), and knows when all of that has ended. The chart says when each of these happens. `hook-runs.ts`
 * says how the user's code is begun and limited.
 *
 * Not promised: that work ends because it is asked to.
 */
import type { HookOverrunError } from "../../locks/api/errors.ts"
import type { Lease, LeaseView, ReleaseResult } from "../../locks/api/lock.ts"
import { aFunction } from "../../runtime/input/options.ts"
import { anySignal, type LatchedAbort } from "../../runtime/latch-signal.ts"
import { orAbort } from "../../runtime/races.ts"
import { traced } from "../../trace/calls.ts"
import type { Ends } from "../../trace/worker-lines.ts"
import type { HookLimit, HookName, LimitOption } from "../api/hooks.ts"
import { type Inspected, inspectedBy } from "../api/inspected.ts"
import { handingOff } from "../api/problems.ts"
import type { HookContext, RunContext } from "../api/sandbox.ts"
import { END_REASONS } from "../chart/reasons.ts"
import type { EndReason } from "../chart/types.ts"
import type { Claimed } from "../checkpoints/writer.ts"
import type { RuntimeParts, Surroundings } from "./runtime-parts.ts"
import { SavedState, type SavedStateListener } from "./saved-state.ts"
import { hookContext, LeaseOnly } from "./work/contexts.ts"
import { type HookOwner, HookRuns } from "./work/hook-runs.ts"
import { Routine } from "./work/routine.ts"
import { Turns } from "./work/turns.ts"

/** Hears of an activation. None of these may throw. */
export interface ActivationListener extends SavedStateListener {
  /** A hook goes on past its limit. */
  onOverrun(error: HookOverrunError): void
  /** Nobody has used it for `idleAfter`. */
  onIdle(): void
}

export class Activation implements HookOwner {
  readonly lease: Lease
  readonly view: LeaseView
  readonly turns: Turns
  readonly hooks: HookRuns
  readonly #around: Surroundings
  readonly #parts: RuntimeParts
  readonly #listener: ActivationListener
  readonly #saved: SavedState
  /** Why the work has to end, once it has. */
  #whyEnding: (() => Error) | undefined
  /** What `run` is given hangs on it, also once run has returned. Aborts where the work has to end. */
  #ending: LatchedAbort | undefined
  /** While the head is claimed. Aborts where the process is to end. */
  #departing: AbortController | undefined
  #state: { readonly value: unknown } | undefined
  /** Restore, then run: settles when it has ended. Never rejects. */
  #work: Promise<void> | undefined
  #routine: Routine | undefined
  #closing: Promise<void> | undefined
  /** `inspectState` failed the last time: its errors are reported once, however often somebody looks. */
  #inspectionFailed = false

  constructor(lease: Lease, around: Surroundings, parts: RuntimeParts, listener: ActivationListener) {
    this.lease = lease
    this.view = new LeaseOnly(lease)
    this.turns = new Turns(parts.lockKey)
    this.hooks = new HookRuns(parts.lockKey, around.fibers, around.clock, this)
    this.#around = around
    this.#parts = parts
    this.#listener = listener
    this.#saved = new SavedState(this, around, parts)
  }

  /** Asks for checkpoints. */
  get commits(): SavedState["commits"] {
    return this.#saved.commits
  }

  /** The durable calls that it remembers. */
  get calls(): SavedState["calls"] {
    return this.#saved.calls
  }

  get lockKey(): string {
    return this.#parts.lockKey
  }

  /** The live state. */
  get state(): unknown {
    return this.#state?.value
  }

  /** The machine in its state, where its definition names one and there is a state. Never throws. */
  inspected(): Inspected | undefined {
    const { hooks } = this.#parts.definition
    const state = this.#state
    if (hooks.inspectState === undefined || state === undefined) return undefined
    const ask = (): unknown => hooks.inspectState?.(state.value)
    const failed = (error: unknown): void => {
      if (!this.#inspectionFailed) this.#report(error)
    }
    const inspected = inspectedBy(ask, failed, this.#around.trace.values)
    this.#inspectionFailed = inspected.machine === null
    return inspected
  }

  /** Throws why the work has to end, where it has. */
  refuseEnding(): void {
    if (this.#whyEnding !== undefined) throw this.#whyEnding()
    this.lease.signal.throwIfAborted()
  }

  /**
   * Claims what is saved and builds the state; rejects with why there is none. For a removal there is never one. Ends
   * early where the signal aborts.
   */
  restore(purpose: "run" | "remove", signal: AbortSignal): Promise<void> {
    return this.#start(purpose === "run" ? this.#restore(signal) : this.#claim(signal).then(() => {}))
  }

  /**
   * Settles as `run` does, which is given the signal. `onBegin` is called when that begins. It doesn't begin where the
   * lease is over by time.
   */
  run(signal: AbortSignal, onBegin: () => void): Promise<void> {
    const begin = async (ends: AbortSignal): Promise<void> => {
      onBegin()
      await this.#run(ends)
    }
    return this.#start(this.hooks.run({ hook: "run", under: [signal, this.lease.signal] }, begin))
  }

  /** Runs fn on the state as one use; `uses.ts` has the rest of it. */
  async onState<A>(
    fn: (state: unknown, context: HookContext) => A | Promise<A>,
    caller: AbortSignal | undefined,
  ): Promise<A> {
    const call = { hook: "use", under: [this.lease.signal, caller] } as const
    try {
      return await this.hooks.run(call, async (signal) => fn(this.#state?.value, this.#context(signal)))
    } finally {
      this.#routine?.touched()
    }
  }

  /**
   * The work has to end: no use begins any more. Only a drain lets the uses run that wait for their turn, as this
   * process can't have the sandbox for them again. Idempotent. A wait for a hidden owner goes on, since the next owner
   * would have to begin it anew. Only a drain ends it.
   */
  end(reason: EndReason, error: () => Error): void {
    const { endsManager } = END_REASONS[reason]
    if (endsManager) this.#departing?.abort()
    this.#whyEnding ??= error
    if (endsManager) this.turns.closeToLaterUses(error)
    else this.turns.closeToUses(error)
    this.#routine?.stop()
    this.#ending?.abort(error())
  }

  /** The uses that a drain let wait for their turn have waited long enough. */
  refuseQueued(): void {
    if (this.#whyEnding !== undefined) this.turns.closeToUses(this.#whyEnding)
  }

  /**
   * Settles when restore, run, every turn and every other hook have ended. From now on they have `settleWithin` for
   * that. The signal of a use aborts once that is over. Never rejects.
   */
  async settled(): Promise<void> {
    this.hooks.limitAll(this.#limit("settleWithin"))
    await this.#work
    do {
      await this.turns.idle()
      await this.hooks.idle()
    } while (this.turns.busy)
  }

  /**
   * Stores the last checkpoint, or a tombstone instead. No checkpoint that was asked for before may follow a tombstone.
   */
  async save(reason: EndReason): Promise<void> {
    if (END_REASONS[reason].lastWrite !== "tombstone") return this.commits.request("handoff")
    await this.#saved.remove(this.#whyOver(reason))
  }

  /** Ends the lease; saves nothing more. A grant tells the next owner how the head was left. */
  release(): Promise<ReleaseResult> {
    return this.lease.release({ note: this.#saved.left })
  }

  /** Rejects all who wait for a checkpoint, and saves nothing more. Settles when writes under way have ended. */
  stopSaving(error: Error): Promise<void> {
    return this.#saved.close(error)
  }

  /**
   * Closes the state if there is one, once, and reports what `close` throws. Call it only after `settled`. Settles when
   * that has ended, however long it takes. Never rejects. No checkpoint of a state that is being closed is stored.
   */
  close(reason: EndReason): Promise<void> {
    return (this.#closing ??= this.#close(reason))
  }

  isLost(): boolean {
    return this.lease.signal.aborted
  }

  onWrite(): void {
    this.#listener.onWrite()
  }

  onFenced(error: unknown): void {
    this.#listener.onFenced(error)
  }

  onOverrun(error: HookOverrunError): void {
    this.#listener.onOverrun(error)
  }

  /** Writes into a trace that somebody reads that a hook begins. A `run` that the definition lacks has no line. */
  onBegin(hook: HookName, reason: string | undefined): Ends | undefined {
    const { lockKey: key, definition } = this.#parts
    const { lines } = this.#around.trace
    if (lines === undefined || (hook === "run" && definition.hooks.run === undefined)) return undefined
    const work = hook === "codec" ? "schema" : hook
    return lines.begins({ key, token: this.lease.token, work, ...(reason !== undefined && { reason }) })
  }

  onEnd(hook: HookName, failed: boolean): void {
    if (hook === "use") this.#around.tally[failed ? "usesFailed" : "uses"]++
  }

  #start(work: Promise<void>): Promise<void> {
    this.#work = work.catch(() => {})
    return work
  }

  async #claim(signal: AbortSignal): Promise<Claimed> {
    this.#departing = new AbortController()
    const ends = anySignal(signal, this.lease.signal)
    try {
      return await this.#saved.claim(ends.signal, this.#departing.signal)
    } finally {
      ends[Symbol.dispose]()
      this.#departing = undefined
    }
  }

  /** Where a state comes after the limit it is kept, so that it is closed. */
  async #restore(ends: AbortSignal): Promise<void> {
    const { definition } = this.#parts
    const { tally } = this.#around
    try {
      const claimed = await this.#claim(ends)
      const { run } = this.hooks.series({ under: [ends, this.lease.signal], limit: this.#limit("restoreWithin") })
      const checkpoint = await this.#saved.decode(claimed, run)
      await run("restore", async (signal) => {
        const value: unknown = await definition.hooks.restore({ ...this.#context(signal), checkpoint })
        this.#state = { value }
      })
      tally.restores++
    } catch (error) {
      tally.restoresFailed++
      throw error
    }
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { hooks } = this.#parts.definition
    this.#routine = this.#newRoutine()
    if (hooks.run !== undefined) {
      // Nobody waits for this timer: a process doesn't end while there is one.
      const alive = this.#around.keepsAlive ? this.#around.clock.after(Infinity, () => {}) : undefined
      try {
        await hooks.run(this.#state?.value, this.#runContext(signal))
      } finally {
        alive?.cancel()
      }
    }
    this.#routine?.finished()
  }

  #newRoutine(): Routine | undefined {
    const { idleAfter, checkpointEvery } = this.#parts.definition
    if (idleAfter === undefined && checkpointEvery === undefined) return undefined
    const onIdle = (): void => this.#listener.onIdle()
    const isBusy = (): boolean => this.turns.busy || this.turns.waiting > 0
    const onCheckpoint = (): Promise<void> =>
      this.commits.request("periodic").catch((error: unknown) => this.#report(error))
    return new Routine(this.#around.clock, { idleAfter, checkpointEvery, isBusy, onIdle, onCheckpoint })
  }

  async #close(reason: EndReason): Promise<void> {
    this.commits.close(this.#whyOver(reason)) // nothing more is stored but what is being written already
    this.#ending?.[Symbol.dispose]()
    if (this.#state === undefined) return
    const { value } = this.#state
    const { definition } = this.#parts
    const call = { hook: "close", under: [], limit: this.#limit("closeWithin"), reason } as const
    const close = async (signal: AbortSignal): Promise<void> => definition.hooks.close?.(value, { reason, signal })
    const { result, ended } = this.hooks.start(call, close)
    void result.catch((error: unknown) => this.#report(error))
    await ended
    this.#state = undefined
  }

  #whyOver(reason: EndReason): Error {
    return handingOff(this.#parts.lockKey, reason)
  }

  /** Reports an error that no call rejects with. An overrun was reported when its limit was over. */
  #report(error: unknown): void {
    if (!this.hooks.isOverrun(error)) this.#around.report(error)
  }

  #context(signal: AbortSignal): HookContext {
    return hookContext({ key: this.#parts.key, clock: this.#around.clock, lease: this.view }, signal)
  }

  #limit(option: LimitOption): HookLimit {
    return this.hooks.limit(option, this.#around.limits[option])
  }

  #runContext(signal: AbortSignal): RunContext {
    this.#ending = anySignal(this.lease.signal)
    const ending = this.#ending.signal
    return {
      ...this.#context(signal),
      turn: async (fn) => {
        aFunction("fn", fn)
        this.turns.refuseInside("turn")
        ending.throwIfAborted()
        const inTurn = () => this.hooks.run({ hook: "turn", under: [ending] }, fn)
        const value = await this.turns.run(inTurn, { from: "own", signal: ending })
        this.lease.signal.throwIfAborted() // by time: what fn did may have been done by two
        return value
      },
      checkpoint: async () => {
        this.turns.refuseInside("checkpoint")
        const { trace } = this.#around
        const saved = (): Promise<void> => orAbort(this.commits.request("manual"), ending)
        await traced(trace, () => ({ call: "checkpoint", key: this.#parts.lockKey }), saved)
      },
    }
  }
}
