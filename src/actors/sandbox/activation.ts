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
import { orAbort, quiet } from "../../runtime/races.ts"
import type { OnError } from "../../runtime/report.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import { traced } from "../../trace/calls.ts"
import type { LiveTrace } from "../../trace/live/live-trace.ts"
import type { Ends } from "../../trace/worker-lines.ts"
import type { DefinitionParts } from "../api/definition.ts"
import type { HookLimit, HookLimits, HookName, LimitOption } from "../api/hooks.ts"
import { type Inspected, inspectedBy } from "../api/inspected.ts"
import { handingOff } from "../api/problems.ts"
import type { HookContext, RunContext } from "../api/sandbox.ts"
import { END_REASONS } from "../chart/reasons.ts"
import type { EndReason } from "../chart/types.ts"
import type { CheckpointCodec } from "../checkpoints/content/codec.ts"
import type { CheckpointWriter } from "../checkpoints/writer.ts"
import { SavedState } from "./saved-state.ts"
import type { SandboxTally } from "./tally.ts"
import { hookContext, leaseView } from "./work/contexts.ts"
import { HookRuns } from "./work/hook-runs.ts"
import { Routine } from "./work/routine.ts"
import { Turns } from "./work/turns.ts"

/** What an activation is made of. */
export interface ActivationParts {
  /** As the user knows it. */
  readonly key: string
  readonly lockKey: string
  readonly definition: DefinitionParts
  readonly clock: Clock
  readonly lease: Lease
  readonly writer: CheckpointWriter
  readonly codec: CheckpointCodec<unknown, unknown>
  readonly report: OnError
  /** What hooks may take, in milliseconds. */
  readonly limits: HookLimits
  /** Counts what is done. */
  readonly tally: SandboxTally
  readonly trace: LiveTrace
  /** A hook goes on past its limit. Must not throw. */
  readonly onOverrun: (error: HookOverrunError) => void
  /** Nobody has used it for `idleAfter`. */
  readonly onIdle: () => void
  /** A checkpoint was taken, and is written from now on. */
  readonly onWrite: () => void
  /** A later owner has claimed the head: whatever the lease says of itself, it is lost. */
  readonly onFenced: (error: unknown) => void
}

export class Activation {
  readonly lease: Lease
  readonly view: LeaseView
  readonly turns: Turns
  readonly commits: SavedState["commits"]
  readonly hooks: HookRuns
  readonly #parts: ActivationParts
  readonly #saved: SavedState
  /** What restore and run are begun under. */
  readonly #ending: LatchedAbort
  /** The process is to end. */
  readonly #departing = new AbortController()
  #state: { readonly value: unknown } | undefined
  /** Restore, then run. */
  #work: Promise<void> = Promise.resolve()
  #routine: Routine | undefined
  #closing: Promise<void> | undefined
  /** `inspectState` failed the last time: its errors are reported once, however often somebody looks. */
  #inspectionFailed = false

  constructor(parts: ActivationParts) {
    this.#parts = parts
    this.lease = parts.lease
    this.view = leaseView(parts.lease)
    const { clock, lockKey, lease, onOverrun } = parts
    this.turns = new Turns(lockKey)
    this.hooks = new HookRuns({
      ...{ key: lockKey, clock, onOverrun },
      isLost: () => lease.signal.aborted,
      onBegin: (hook, reason) => this.#told(hook, reason),
      onEnd: (hook, failed) => {
        if (hook === "use") parts.tally[failed ? "usesFailed" : "uses"]++
      },
    })
    const { hooks, turns } = this
    this.#saved = new SavedState({ ...parts, hooks, turns, state: () => this.#state?.value })
    this.commits = this.#saved.commits
    this.#ending = anySignal(parts.lease.signal)
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
    const inspected = inspectedBy(ask, failed, this.#parts.trace.values)
    this.#inspectionFailed = inspected.machine === null
    return inspected
  }

  /** Whether the work was asked to end. */
  get ending(): AbortSignal {
    return this.#ending.signal
  }

  /** Claims what is saved and builds the state; rejects with why there is none. For a removal there is never one. */
  restore(purpose: "run" | "remove"): Promise<void> {
    return this.#start(purpose === "run" ? this.#restore() : this.#claim())
  }

  /** Settles as `run` does. `onBegin` is called when that begins. It doesn't begin where the lease is over by time. */
  run(onBegin: () => void): Promise<void> {
    const begin = async (signal: AbortSignal): Promise<void> => {
      onBegin()
      await this.#run(signal)
    }
    return this.#start(this.hooks.run({ hook: "run", under: [this.ending] }, begin))
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
   * Asks the work to end: no use begins any more, and the signals of restore and run abort. Idempotent. A wait for a
   * hidden owner goes on, since the next owner would have to begin it anew. Only a drain ends it.
   */
  end(reason: EndReason, error: () => Error): void {
    if (END_REASONS[reason].endsManager) this.#departing.abort()
    this.turns.closeToUses(error)
    this.#routine?.stop()
    this.#ending.abort(error())
  }

  /**
   * Settles when restore, run, every turn and every other hook have ended. From now on they have `settleWithin` for
   * that. The signal of a use aborts once that is over. Never rejects.
   */
  async settled(): Promise<void> {
    this.hooks.limitAll(this.#limit("settleWithin"))
    await this.#work.catch(() => {})
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

  #start(work: Promise<void>): Promise<void> {
    this.#work = quiet(work)
    return work
  }

  async #claim(): Promise<void> {
    await this.#saved.claim(this.ending, this.#departing.signal)
  }

  /** Where a state comes after the limit it is kept, so that it is closed. */
  async #restore(): Promise<void> {
    const { definition, tally } = this.#parts
    try {
      const claimed = await this.#saved.claim(this.ending, this.#departing.signal)
      const { run } = this.hooks.series({ under: [this.ending], limit: this.#limit("restoreWithin") })
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
    const { definition, clock, onIdle } = this.#parts
    const { idleAfter, checkpointEvery, hooks } = definition
    const isBusy = (): boolean => this.turns.busy || this.turns.waiting > 0
    const onCheckpoint = (): Promise<void> => this.commits.request("periodic").catch(this.#report)
    this.#routine = new Routine(clock, { idleAfter, checkpointEvery, isBusy, onIdle, onCheckpoint })
    await hooks.run?.(this.#state?.value, this.#runContext(signal))
    this.#routine.finished()
  }

  async #close(reason: EndReason): Promise<void> {
    this.commits.close(this.#whyOver(reason)) // nothing more is stored but what is being written already
    this.#ending[Symbol.dispose]()
    if (this.#state === undefined) return
    const { value } = this.#state
    const { definition } = this.#parts
    const call = { hook: "close", under: [], limit: this.#limit("closeWithin"), reason } as const
    const close = async (signal: AbortSignal): Promise<void> => definition.hooks.close?.(value, { reason, signal })
    const { result, ended } = this.hooks.start(call, close)
    void result.catch(this.#report)
    await ended
    this.#state = undefined
  }

  /** Writes into a trace that somebody reads that a hook begins. A `run` that the definition lacks has no line. */
  #told(hook: HookName, reason: string | undefined): Ends | undefined {
    const { trace, lockKey: key, definition } = this.#parts
    if (trace.lines === undefined || (hook === "run" && definition.hooks.run === undefined)) return undefined
    const work = hook === "codec" ? "schema" : hook
    return trace.lines.begins({ key, token: this.lease.token, work, ...(reason !== undefined && { reason }) })
  }

  #whyOver(reason: EndReason): Error {
    return handingOff(this.#parts.lockKey, reason)
  }

  /** Reports an error that no call rejects with. An overrun was reported when its limit was over. */
  readonly #report = (error: unknown): void => {
    if (!this.hooks.isOverrun(error)) this.#parts.report(error)
  }

  #context(signal: AbortSignal): HookContext {
    const { key, clock } = this.#parts
    return hookContext({ key, clock, lease: this.view }, signal)
  }

  #limit(option: LimitOption): HookLimit {
    return this.hooks.limit(option, this.#parts.limits[option])
  }

  #runContext(signal: AbortSignal): RunContext {
    return {
      ...this.#context(signal),
      turn: async (fn) => {
        aFunction("fn", fn)
        this.turns.refuseInside("turn")
        this.ending.throwIfAborted()
        const inTurn = () => this.hooks.run({ hook: "turn", under: [this.ending] }, fn)
        const value = await this.turns.run(inTurn, { from: "own", signal: this.ending })
        this.lease.signal.throwIfAborted() // by time: what fn did may have been done by two
        return value
      },
      checkpoint: async () => {
        this.turns.refuseInside("checkpoint")
        const { lockKey: key, trace } = this.#parts
        const saved = (): Promise<void> => orAbort(this.commits.request("manual"), this.ending)
        await traced(trace, () => ({ call: "checkpoint", key }), saved)
      },
    }
  }
}
