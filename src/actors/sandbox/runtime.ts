/**
 * The runtime of one sandbox, from the request for its key to its end. Runs the chart's actor, passes on the lock's
 * events to it, and tells how the sandbox does. Decides nothing: `commands.ts` carries the chart's commands out.
 */
import type { Subscription } from "rxjs"
import type { Actor } from "xstate"
import type { HookOverrunError, LockTimeoutError, Owner } from "../../locks/api/errors.ts"
import type { LockEvent, ReleaseResult } from "../../locks/api/lock.ts"
import { startActor } from "../../runtime/bridges/start-actor.ts"
import { Deferred } from "../../runtime/deferred.ts"
import type { DefinitionParts } from "../api/definition.ts"
import type { SandboxEnding } from "../api/sandbox.ts"
import type { sandboxChart } from "../chart/chart.ts"
import { chartEventOf } from "../chart/lock-events.ts"
import { ruleOf } from "../chart/reasons.ts"
import type { ChartContext, ChartEvent, LeaveReason, SandboxSnapshot } from "../chart/types.ts"
import type { Activation } from "./activation.ts"
import { type Commanding, Commands } from "./commands.ts"
import { endingOf, failureError, isLost, whyNotOpened } from "./endings.ts"
import type { RuntimeParts, Surroundings, Wish } from "./runtime-parts.ts"

/** The least tenure, in milliseconds: a call that waited begins its use before another process's request counts. */
const LEAST_TENURE = 1

export class SandboxRuntime implements Commanding {
  readonly actor: Actor<typeof sandboxChart>
  /** Who owned the key when it began to wait. */
  owner: Owner | undefined
  /** How many calls wait for it to run. They reject with its failure. */
  callers = 0
  /**
   * Since when it is in its state (acquiring, waiting, owning, handingOff, released), in Unix milliseconds of this
   * process.
   */
  since = 0
  /** Since when this process owns it, likewise. */
  ownedSince: number | undefined
  /** Nothing is heard any more: the chart is over. */
  isOver = false

  readonly #around: Surroundings
  readonly #parts: RuntimeParts
  readonly #commands: Commands
  readonly #opened = new Deferred<void>()
  readonly #ended = new Deferred<SandboxEnding>()
  readonly #gone = new Deferred<void>()
  /** Settles with how the release ended; as `unknown` already when the work is stuck. */
  readonly #released = new Deferred<ReleaseResult>()
  readonly #listening: Subscription
  /** Events of a lease that came before its acquire had settled. */
  #early: LockEvent[] | undefined
  #state: string | undefined
  /** Its actor stands: a lock made elsewhere may tell of something while its acquire is called. */
  #hasBegun = false
  #hasRun = false
  #isReported = false

  constructor(around: Surroundings, parts: RuntimeParts, { backOff, limits, acquire }: Wish) {
    this.#around = around
    this.#parts = parts
    const { id, lockKey, purpose, lock } = parts
    const { chart, handlers, clock, report, root } = around
    this.#commands = new Commands(this, around, parts, acquire)
    handlers.set(id, this.#commands) // the chart's first command comes while its actor starts
    const input = { key: lockKey, purpose, backOff, limits }
    this.#listening = lock.events$.subscribe((event) => {
      around.keeper.told(event)
      if (this.#hasBegun) this.#heard(event)
    })
    const onSnapshot = (snapshot: SandboxSnapshot): void => this.#saw(snapshot)
    this.actor = startActor(chart, { id, input, clock, parent: root, onSnapshot, onError: report })
    this.#hasBegun = true
  }

  /** As the user knows it. */
  get key(): string {
    return this.#parts.key
  }

  get lockKey(): string {
    return this.#parts.lockKey
  }

  /** Its definition. */
  get definition(): DefinitionParts {
    return this.#parts.definition
  }

  get snapshot(): SandboxSnapshot {
    return this.actor.getSnapshot()
  }

  /** While it has a lease. */
  get activation(): Activation | undefined {
    return this.#commands.activation
  }

  /** Settles when it runs; rejects with why it will not. */
  get opened(): Promise<void> {
    return this.#opened.promise
  }

  /** Settles once, and never rejects. */
  get ended(): Promise<SandboxEnding> {
    return this.#ended.promise
  }

  /**
   * Settles when nothing of it runs any more in this process: only then may the key be restored anew. Never rejects.
   */
  get gone(): Promise<void> {
    return this.#gone.promise
  }

  /** It admits uses. */
  get isRunning(): boolean {
    return this.snapshot.matches({ owning: { work: "running" } })
  }

  /** Why it is stuck: a hook goes on past its limit. Undefined where none does. */
  get overrun(): Error | undefined {
    return this.activation?.hooks.overrun
  }

  /** The error of a wait for this sandbox while a hook with a limit, such as restore, goes on in it. */
  get goingOn(): LockTimeoutError | undefined {
    return this.activation?.hooks.goingOn
  }

  /** It may still come to run. */
  get isOpening(): boolean {
    const { context, value } = this.snapshot
    if (context.leaving !== undefined || context.purpose === "remove") return false
    return "acquiring" in value
      ? value.acquiring !== "reconciling"
      : "waiting" in value || this.snapshot.matches({ owning: { work: "restoring" } })
  }

  /** Its work has ended in order, and its last state isn't known to be stored. */
  get isUnsaved(): boolean {
    const { saved, failure, leaving } = this.snapshot.context
    if (!this.#hasRun || saved === "stored" || ruleOf(leaving)?.lastWrite === "tombstone") return false
    if (failure !== undefined) return failure.during === "checkpoint"
    const { value } = this.snapshot
    return this.isOver || ("handingOff" in value && /queued|checkpointing/.test(value.handingOff.work))
  }

  /** Why it failed, where it did. */
  get failure(): unknown {
    const { key, failure, limits } = this.snapshot.context
    return failure && failureError(key, failure, limits)
  }

  /** Asks it to end. Idempotent: the first reason counts. */
  leave(reason: LeaveReason): void {
    this.send({ type: "leave", reason })
  }

  /**
   * Asks it to end. Settles with how its lease was released, or with `unknown` where the work is stuck. Where nobody
   * could tell how an earlier release ended, it is tried again. Never rejects.
   */
  release(): Promise<ReleaseResult> {
    this.leave("released")
    const { result } = this.#commands
    // The promise may have settled while the work was stuck; and what nobody could tell may be told by now.
    return this.isOver && result !== undefined ? this.activation!.release() : this.#released.promise
  }

  send(event: ChartEvent): void {
    if (this.isOver) return
    this.actor.send(event)
    if (event.type !== "lock.acquired") return
    const early = this.#early ?? []
    this.#early = undefined
    for (const each of early) this.#heard(each)
  }

  began(): void {
    this.#hasRun = true
    this.#opened.resolve()
    this.activation!.lease.stay(Math.max(LEAST_TENURE, this.#around.minTenure))
  }

  /**
   * Reports an overrun at once. Where it is why the sandbox never runs, the calls that wait for that reject with it.
   */
  overran(error: HookOverrunError): void {
    this.#around.report(error)
    this.send({ type: "work.overran", error })
    if (this.snapshot.context.failure?.error === error) this.#opened.reject(error)
  }

  stuck(): void {
    this.#released.resolve("unknown")
  }

  /** Reports a failure, once. A call that waits for the sandbox rejects with it instead. */
  failed({ failure, leaving, key, limits }: ChartContext): void {
    if (failure === undefined || this.#isReported || (failure.during === "restore" && this.callers > 0)) return
    this.#isReported = true
    const isSummedUp = this.#around.sumsUp && ruleOf(leaving)?.endsManager === true
    if (failure.during === "checkpoint" && isSummedUp) return
    this.#around.report(failureError(key, failure, limits))
  }

  over(): void {
    if (this.#gone.isSettled) return // the key may have another runtime by now
    this.#around.keeper.gone(this.#parts, this.#commands.cleaned)
    this.#gone.resolve()
  }

  /**
   * Passes on an event of the lock. One that comes before the chart knows of the lease is passed on after
   * `lock.acquired`. One of an earlier lease is dropped.
   */
  #heard(event: LockEvent): void {
    if (event.type === "Waiting") this.owner = event.owner
    if ("token" in event) {
      const { token } = this.snapshot.context
      if (token === undefined) return void (this.#early ??= []).push(event)
      if (event.token < token) return
    }
    const passedOn = chartEventOf(event)
    if (passedOn !== undefined) this.send(passedOn)
  }

  /** Notes a moment of the chart, for a trace that somebody reads and for how long it has been in its state. */
  #saw(snapshot: SandboxSnapshot): void {
    this.#around.trace.lines?.state(snapshot)
    const [state] = Object.keys(snapshot.value)
    if (state === this.#state) return
    this.#state = state
    this.since = this.#around.clock.read().wall
    if (state === "owning") this.ownedSince = this.since
    else if (state === "released") this.#end(snapshot)
  }

  #end(snapshot: SandboxSnapshot): void {
    this.isOver = true
    this.ownedSince = undefined
    this.#listening.unsubscribe()
    this.#commands.end()
    this.#around.trace.lines?.forget(this.lockKey)
    this.#around.handlers.delete(this.#parts.id)
    this.#opened.reject(whyNotOpened(snapshot))
    this.#ended.resolve(endingOf(snapshot))
    this.#released.resolve(isLost(snapshot) ? "alreadyLost" : (this.#commands.result ?? "unknown"))
    this.#around.keeper.ended(this.#parts, { hasRun: this.#hasRun, failure: snapshot.context.failure })
    if (!isLost(snapshot) || snapshot.context.closed) this.over() // else `abandon` has work to wait for
  }
}
