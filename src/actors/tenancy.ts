/**
 * One tenancy of a sandbox: from its lease to its end. Holds the live state and everything that runs on it (restore, run,
 * uses, checkpoints), and knows when all of it has ended. When each of these is to happen the chart says.
 *
 * Not promised: that work ends because it is asked to. Whoever waits for `settled` sets the limit.
 */
import type { Lease, LeaseView, ReleaseResult } from "../locks/lock.ts"
import type { Clock } from "../runtime/clock.ts"
import { anySignal, type LatchedAbort } from "../runtime/latch-signal.ts"
import { orAbort, quiet } from "../runtime/races.ts"
import type { OnError } from "../runtime/report.ts"
import type { EndReason } from "./chart-types.ts"
import { Commits } from "./commits.ts"
import { hookContext, leaseView } from "./contexts.ts"
import type { DefinitionParts } from "./definition.ts"
import { handingOff } from "./problems.ts"
import { Routine } from "./routine.ts"
import type { CheckpointReason, HookContext, RunContext } from "./sandbox.ts"
import type { SavedState } from "./saved-state.ts"
import { Turns } from "./turns.ts"

/** What a tenancy is made of. */
export interface TenancyParts {
  /** As the user knows it. */
  readonly key: string
  readonly lockKey: string
  readonly definition: DefinitionParts
  readonly clock: Clock
  readonly lease: Lease
  readonly saved: SavedState
  readonly report: OnError
  /** Nobody has used it for `idleAfter`. */
  readonly onIdle: () => void
  /** `restore` begins this many milliseconds late, since a former owner has to be waited out. */
  readonly onDelay: (ms: number) => void
  /** A later owner has claimed the head: whatever the lease says of itself, it is lost. */
  readonly onFenced: (error: unknown) => void
}

export class Tenancy {
  readonly lease: Lease
  readonly view: LeaseView
  readonly turns: Turns
  readonly commits: Commits<Uint8Array>
  readonly #parts: TenancyParts
  /** What restore and run are given. */
  readonly #ending: LatchedAbort
  readonly #uses = new Set<LatchedAbort>()
  #state: { readonly value: unknown } | undefined
  /** Restore, then run. */
  #work: Promise<void> = Promise.resolve()
  #routine: Routine | undefined
  #closing: Promise<void> | undefined

  constructor(parts: TenancyParts) {
    this.#parts = parts
    this.lease = parts.lease
    this.view = leaseView(parts.lease)
    this.turns = new Turns(parts.lockKey)
    this.commits = new Commits({
      take: (begun) => this.#take(begun),
      write: (bytes) => this.#write(bytes),
    })
    this.#ending = anySignal(parts.lease.signal)
  }

  /** Whether the work was asked to end. */
  get ending(): AbortSignal {
    return this.#ending.signal
  }

  /** Claims what is saved and builds the state; rejects with why there is none. For a removal there is never one. */
  restore(purpose: "run" | "remove"): Promise<void> {
    return this.#start(purpose === "run" ? this.#restore() : this.#claim())
  }

  /** Admits uses and settles with `run`. */
  run(): Promise<void> {
    return this.#start(this.#run())
  }

  /** Runs fn on the state as one use; `uses.ts` has the rest of it. */
  async onState<A>(
    fn: (state: unknown, context: HookContext) => A | Promise<A>,
    caller: AbortSignal | undefined,
  ): Promise<A> {
    const abort = anySignal(this.lease.signal, caller)
    this.#uses.add(abort)
    try {
      return await fn(this.#state?.value, this.#context(abort.signal))
    } finally {
      this.#uses.delete(abort)
      abort[Symbol.dispose]()
      this.#routine?.touched()
    }
  }

  /** Asks the work to end: no use begins any more, and restore and run see their signal abort. Idempotent. */
  end(error: () => Error): void {
    this.turns.closeToUses(error)
    this.#routine?.stop()
    this.#ending.abort(error())
  }

  /** Asks the use in progress to end too. */
  endUses(error: Error): void {
    for (const abort of this.#uses) abort.abort(error)
  }

  /** Settles when restore, run and every turn have ended. Never rejects. */
  async settled(): Promise<void> {
    await this.#work.catch(() => {})
    await this.turns.idle()
  }

  /** The last checkpoint, or the tombstone instead, which no checkpoint that was asked for before may follow. */
  async save(reason: EndReason): Promise<void> {
    if (reason !== "removed") return this.commits.request("handoff")
    this.#endCommits(reason)
    await this.#parts.saved.remove()
  }

  /** Ends the lease; saves nothing more. A grant tells the next owner how the head was left. */
  release(): Promise<ReleaseResult> {
    return this.lease.release({ note: this.#parts.saved.left })
  }

  /** Rejects whoever waits for a checkpoint, and saves nothing more. Settles when what is under way has ended. */
  stopSaving(error: Error): Promise<void> {
    this.commits.close(error)
    return this.#parts.saved.close()
  }

  /**
   * Closes the state if there is one, once, and reports what `close` throws. Only after `settled`; no checkpoint of
   * a state that is being closed is stored. Never rejects.
   */
  close(reason: EndReason): Promise<void> {
    return (this.#closing ??= this.#close(reason))
  }

  #start(work: Promise<void>): Promise<void> {
    this.#work = quiet(work)
    return work
  }

  async #claim(): Promise<void> {
    await this.#parts.saved.claim(this.ending, this.#parts.onDelay)
  }

  async #restore(): Promise<void> {
    const { saved, definition, onDelay } = this.#parts
    const checkpoint = await saved.decode(await saved.claim(this.ending, onDelay))
    this.ending.throwIfAborted()
    const value: unknown = await definition.hooks.restore({ ...this.#context(this.ending), checkpoint })
    this.#state = { value }
  }

  async #run(): Promise<void> {
    this.ending.throwIfAborted()
    const { definition, clock, report, onIdle } = this.#parts
    const { idleAfter, checkpointEvery, hooks } = definition
    const isBusy = (): boolean => this.turns.busy || this.turns.waiting > 0
    const onCheckpoint = (): Promise<void> => this.commits.request("periodic").catch(report)
    this.#routine = new Routine(clock, { idleAfter, checkpointEvery, isBusy, onIdle, onCheckpoint })
    await hooks.run?.(this.#state?.value, this.#runContext())
    this.#routine.finished()
  }

  /** From now on nothing is stored but what is being written already. */
  #endCommits(reason: EndReason): void {
    this.commits.close(handingOff(this.#parts.lockKey, reason))
  }

  async #close(reason: EndReason): Promise<void> {
    this.#endCommits(reason)
    this.#ending[Symbol.dispose]()
    if (this.#state === undefined) return
    try {
      await this.#parts.definition.hooks.close?.(this.#state.value, { reason })
    } catch (error) {
      this.#parts.report(error)
    }
    this.#state = undefined
  }

  /** Encoded inside of the turn: what `checkpoint` returned may be part of the live state. */
  #take(begun: () => CheckpointReason): Promise<Uint8Array> {
    const { definition, saved } = this.#parts
    const take = async (): Promise<Uint8Array> => {
      this.lease.signal.throwIfAborted() // by time: the process may have been stopped until now
      return saved.encode(await definition.hooks.checkpoint(this.#state?.value, { reason: begun() }))
    }
    return this.turns.run(take, { from: "own" })
  }

  async #write(bytes: Uint8Array): Promise<void> {
    try {
      await this.#parts.saved.write(bytes)
    } catch (error) {
      if (this.#parts.saved.isFenced) this.#parts.onFenced(error)
      throw error
    }
  }

  #context(signal: AbortSignal): HookContext {
    const { key, clock } = this.#parts
    return hookContext({ key, clock, lease: this.view }, signal)
  }

  #runContext(): RunContext {
    return {
      ...this.#context(this.ending),
      turn: async (fn) => {
        this.turns.refuseInside("turn")
        this.ending.throwIfAborted()
        return this.turns.run(fn, { from: "own", signal: this.ending })
      },
      checkpoint: async () => {
        this.turns.refuseInside("checkpoint")
        await orAbort(this.commits.request("manual"), this.ending)
      },
    }
  }
}
