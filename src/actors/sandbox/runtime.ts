/**
 * The runtime of one sandbox, from the request for its key to its end. Runs the chart's actor, carries out its
 * commands, and passes on the lock's events to it. Decides nothing: each command is one supervised Effect, which ends
 * in the one event that the chart waits for.
 */
import * as Effect from "effect/Effect"
import type { Subscription } from "rxjs"
import type { Actor } from "xstate"
import type { HookOverrunError, LockTimeoutError, Owner } from "../../locks/api/errors.ts"
import type { LockEvent, ReleaseResult } from "../../locks/api/lock.ts"
import { startActor } from "../../runtime/bridges/start-actor.ts"
import { quiet } from "../../runtime/races.ts"
import type { DefinitionParts } from "../api/definition.ts"
import { handingOff, lostBefore } from "../api/problems.ts"
import type { SandboxEnding } from "../api/sandbox.ts"
import { endReason, type sandboxChart } from "../chart/chart.ts"
import type { CommandHandlers } from "../chart/commanded.ts"
import { chartEventOf, refusalOf } from "../chart/lock-events.ts"
import { ruleOf } from "../chart/reasons.ts"
import type { ChartContext, ChartEvent, ChartFailure, EndReason, LeaveReason, SandboxSnapshot } from "../chart/types.ts"
import { Activation } from "./activation.ts"
import type { Departure } from "./departures.ts"
import { endingOf, failureError, isLost, whyNotOpened } from "./endings.ts"
import type { RuntimeParts, Surroundings } from "./runtime-parts.ts"

/** The least tenure, in milliseconds: a call that waited begins its use before another process's request counts. */
const LEAST_TENURE = 1

export class SandboxRuntime {
  readonly key: string
  readonly lockKey: string
  readonly actor: Actor<typeof sandboxChart>
  /** Settles when it runs; rejects with why it will not. */
  readonly opened: Promise<void>
  /** Settles once, and never rejects. */
  readonly ended: Promise<SandboxEnding>
  /**
   * Settles when nothing of it runs any more in this process: only then may the key be restored anew. Never rejects.
   */
  readonly gone: Promise<void>
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
  /** Settles when all that it left to do in the store is done. Never rejects; final once `gone` has settled. */
  cleaned: Promise<void> = Promise.resolve()

  readonly #around: Surroundings
  readonly #parts: RuntimeParts
  readonly #cancel = new AbortController()
  readonly #opened = Promise.withResolvers<void>()
  readonly #ended = Promise.withResolvers<SandboxEnding>()
  readonly #gone = Promise.withResolvers<void>()
  /** Settles with how the release ended; as `unknown` already when the work is stuck. */
  readonly #released = Promise.withResolvers<ReleaseResult>()
  readonly #listening: Subscription
  /** Events of a lease that came before its acquire had settled. */
  #early: LockEvent[] = []
  #activation: Activation | undefined
  /** Once its work has ended: its turn to save and leave. */
  #departure: Departure | undefined
  /** How its lease was released, once it was. */
  #result: ReleaseResult | undefined
  #state: string | undefined
  #hasRun = false
  #isReported = false
  #isOver = false

  constructor(around: Surroundings, parts: RuntimeParts) {
    this.#around = around
    this.#parts = parts
    this.key = parts.key
    this.lockKey = parts.lockKey
    this.opened = quiet(this.#opened.promise)
    this.ended = this.#ended.promise
    this.gone = this.#gone.promise
    const { id, lockKey, purpose, delays, lock } = parts
    const { chart, handlers, clock, report, inspect } = around
    handlers.set(id, this.#commands) // the chart's first command comes while its actor starts
    this.actor = startActor(chart, { id, input: { key: lockKey, purpose, delays }, clock, inspect, onError: report })
    this.#saw(this.snapshot)
    this.#listening = lock.events$.subscribe((event) => this.#onLockEvent(event))
    this.actor.subscribe((snapshot) => {
      this.#saw(snapshot)
      if ("released" in snapshot.value) this.#end(snapshot)
    })
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
    return this.#activation
  }

  /** It admits uses. */
  get isRunning(): boolean {
    return this.snapshot.matches({ owning: { work: "running" } })
  }

  /** Why it is stuck: a hook goes on past its limit. Undefined where none does. */
  get overrun(): Error | undefined {
    return this.#activation?.hooks.overrun
  }

  /** The error of a wait for this sandbox while a hook with a limit, such as restore, goes on in it. */
  get goingOn(): LockTimeoutError | undefined {
    return this.#activation?.hooks.goingOn
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
    return this.#isOver || ("handingOff" in value && /queued|checkpointing/.test(value.handingOff.work))
  }

  /** Why it failed, where it did. */
  get failure(): unknown {
    const { failure } = this.snapshot.context
    return failure && failureError(this.lockKey, failure, this.#parts.delays)
  }

  /** Asks it to end. Idempotent: the first reason counts. */
  leave(reason: LeaveReason): void {
    this.#send({ type: "leave", reason })
  }

  /**
   * Asks it to end. Settles with how its lease was released, or with `unknown` where the work is stuck. Where nobody
   * could tell how an earlier release ended, it is tried again. Never rejects.
   */
  release(): Promise<ReleaseResult> {
    this.leave("released")
    // The promise may have settled while the work was stuck; and what nobody could tell may be told by now.
    return this.#isOver && this.#result !== undefined ? this.#owned.release() : this.#released.promise
  }

  readonly #commands: CommandHandlers = {
    acquire: () =>
      this.#perform(
        () => this.#acquire(),
        (error) => ({ type: "lock.refused", how: refusalOf(error), error }),
      ),
    cancelAcquire: () => this.#cancel.abort(),
    restore: ({ purpose }) =>
      this.#perform(
        () => this.#restore(purpose),
        (error) => this.#unlessOverrun(error, { type: "work.failed", error }),
      ),
    run: () =>
      this.#perform(
        () => this.#run(),
        (error) => ({ type: "work.failed", error }),
      ),
    abortWork: (context, { reason }) => this.#owned.end(reason, () => this.#whyEnded(reason, context)),
    settle: () => this.#perform(() => this.#settle()),
    reportStuck: () => this.#released.resolve("unknown"),
    checkpoint: (context) =>
      this.#perform(
        () => this.#save(endReason(context)),
        (error) => this.#unlessOverrun(error, { type: "checkpoint.failed", error }),
      ),
    reportFailure: ({ failure }) => this.#reportFailure(failure),
    close: (context) => this.#perform(() => this.#close(endReason(context))),
    release: (context) => this.#perform(() => this.#release(endReason(context))),
    abandon: ({ error }) => this.#perform(() => this.#abandon(error)),
  }

  /** Forks an Effect that ends in one event, or in none where the command has none. */
  #perform(start: () => Promise<ChartEvent | undefined>, orElse?: (error: unknown) => ChartEvent | undefined): void {
    const effect =
      orElse === undefined
        ? Effect.promise(start)
        : Effect.match(Effect.tryPromise({ try: start, catch: (error) => error }), {
            onSuccess: (event) => event,
            onFailure: orElse,
          })
    this.#around.fibers.fork(Effect.map(effect, (event) => event && this.#send(event)))
  }

  /** The event of an error, unless it is an overrun: `work.overran` has told the chart of that. */
  #unlessOverrun(error: unknown, event: ChartEvent): ChartEvent | undefined {
    return this.#owned.hooks.isOverrun(error) ? undefined : event
  }

  #send(event: ChartEvent): void {
    if (this.#isOver) return
    this.actor.send(event)
    if (event.type === "lock.acquired") for (const early of this.#early.splice(0)) this.#onLockEvent(early)
  }

  /**
   * Passes on an event of the lock. One that comes before the chart knows of the lease is passed on after
   * `lock.acquired`. One of an earlier lease is dropped.
   */
  #onLockEvent(event: LockEvent): void {
    if (event.type === "Waiting") this.owner = event.owner
    if ("token" in event) {
      const { token } = this.snapshot.context
      if (token === undefined) return void this.#early.push(event)
      if (event.token < token) return
    }
    const passedOn = chartEventOf(event)
    if (passedOn !== undefined) this.#send(passedOn)
  }

  get #owned(): Activation {
    return this.#activation!
  }

  async #acquire(): Promise<ChartEvent | undefined> {
    const { lock, acquire, key, lockKey, definition, writer, codec } = this.#parts
    const { clock, report, limits, tally, trace } = this.#around
    const lease = await lock.acquire({ ...acquire, minTenure: "infinite", signal: this.#cancel.signal })
    if (this.#isOver) return void (await lease.release())
    this.#activation = new Activation({
      ...{ key, lockKey, definition, writer, codec, lease, clock, limits, report, tally, trace },
      onIdle: () => this.leave("idle"),
      onOverrun: (error) => this.#overran(error),
      onWrite: () => this.#departure?.stores(),
      onFenced: (error) => this.#send({ type: "lock.lost", error }),
    })
    return { type: "lock.acquired", token: lease.token }
  }

  async #restore(purpose: ChartContext["purpose"]): Promise<ChartEvent> {
    await this.#owned.restore(purpose)
    return { type: "work.restored", token: this.#owned.lease.token }
  }

  async #run(): Promise<ChartEvent | undefined> {
    await this.#owned.run(() => {
      this.#hasRun = true
      this.#opened.resolve()
      this.#owned.lease.stay(Math.max(LEAST_TENURE, this.#around.minTenure))
    })
    return undefined
  }

  async #settle(): Promise<ChartEvent> {
    const { departures } = this.#around
    await this.#owned.settled()
    if (!departures.hasRoom) this.#send({ type: "work.queued" })
    if (this.#isOver) return { type: "work.settled" }
    this.#departure?.end() // a checkpoint hook that ran over its limit had a turn before
    this.#departure = departures.begin(ruleOf(this.snapshot.context.leaving)?.isForAnother === true)
    await this.#departure.turn
    return { type: "work.settled" }
  }

  async #save(reason: EndReason): Promise<ChartEvent> {
    this.#departure?.hooks()
    await this.#owned.save(reason)
    return { type: "checkpoint.stored" }
  }

  async #close(reason: EndReason): Promise<ChartEvent> {
    this.#departure?.hooks()
    await this.#owned.close(reason)
    return { type: "work.closed" }
  }

  async #release(reason: EndReason): Promise<ChartEvent> {
    this.#departure?.stores()
    this.cleaned = this.#owned.stopSaving(handingOff(this.lockKey, reason))
    this.#result = await this.#owned.release()
    if (this.#result !== "alreadyLost") return { type: "lock.released", result: this.#result }
    const error = lostBefore(this.lockKey, this.#around.clock.read().wall)
    return { type: "lock.released", result: this.#result, error }
  }

  /**
   * After loss the chart is over, but its work may not be. Only once that has ended may this process restore the key.
   */
  async #abandon(error: unknown): Promise<undefined> {
    this.cleaned = this.#owned.stopSaving(error as Error)
    await this.#owned.settled()
    await this.#owned.close("lost")
    await this.#owned.lease.release() // where only the head told of the loss there is still one
    this.#gone.resolve()
    return undefined
  }

  /** Notes a moment of the chart, for a trace that somebody reads and for how long it has been in its state. */
  #saw(snapshot: SandboxSnapshot): void {
    this.#around.trace.lines?.state(snapshot)
    const [state] = Object.keys(snapshot.value)
    if (state === this.#state) return
    this.#state = state
    this.since = this.#around.clock.read().wall
    if (state === "owning") this.ownedSince = this.since
    else if (state === "released") this.ownedSince = undefined
  }

  #whyEnded(reason: EndReason, { error, failure }: ChartContext): Error {
    return reason === "lost" ? (error as Error) : handingOff(this.lockKey, reason, failure?.error)
  }

  /**
   * Reports an overrun at once. Where it is why the sandbox never runs, the calls that wait for that reject with it.
   */
  #overran(error: HookOverrunError): void {
    this.#around.report(error)
    this.#send({ type: "work.overran", error })
    if (this.snapshot.context.failure?.error === error) this.#opened.reject(error)
  }

  /** Reports a failure, once. A call that waits for the sandbox rejects with it instead. */
  #reportFailure(failure: ChartFailure | undefined): void {
    if (failure === undefined || this.#isReported || (failure.during === "restore" && this.callers > 0)) return
    this.#isReported = true
    const isSummedUp = this.#around.sumsUp && ruleOf(this.snapshot.context.leaving)?.endsManager === true
    if (failure.during === "checkpoint" && isSummedUp) return
    this.#around.report(failureError(this.lockKey, failure, this.#parts.delays))
  }

  #end(snapshot: SandboxSnapshot): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#listening.unsubscribe()
    this.#departure?.end()
    this.#around.trace.lines?.forget(this.lockKey)
    this.#around.handlers.delete(this.#parts.id)
    this.#opened.reject(whyNotOpened(snapshot))
    this.#ended.resolve(endingOf(snapshot))
    this.#released.resolve(isLost(snapshot) ? "alreadyLost" : (this.#result ?? "unknown"))
    this.#parts.onEnd({ hasRun: this.#hasRun, failure: snapshot.context.failure })
    if (!isLost(snapshot) || snapshot.context.closed) this.#gone.resolve() // else `abandon` has work to wait for
  }
}
