/**
 * The commands of one sandbox's chart, carried out. Each is one Effect: what it waits for, its limit, and its
 * interruption, which aborts the signal of what was begun. It ends in the one event that the chart waits for. Time is
 * Effect's alone here. What the limits of hooks are is `work/hook-runs.ts`'s business.
 *
 * Not promised: that what is interrupted ends. Its event comes when it has really ended.
 */
import * as Effect from "effect/Effect"
import type { Fiber } from "effect/Fiber"
import type { HookOverrunError } from "../../locks/api/errors.ts"
import type { ReleaseResult } from "../../locks/api/lock.ts"
import { Promised } from "../../runtime/bridges/promised.ts"
import { handingOff, lostBefore } from "../api/problems.ts"
import { endReason } from "../chart/chart.ts"
import type { CommandHandlers } from "../chart/commanded.ts"
import { refusalOf } from "../chart/lock-events.ts"
import { ruleOf } from "../chart/reasons.ts"
import type { ChartCommands, ChartContext, ChartEvent, SandboxSnapshot } from "../chart/types.ts"
import { Activation, type ActivationListener } from "./activation.ts"
import type { Departure } from "./departures.ts"
import type { RuntimeParts, Surroundings, Wish } from "./runtime-parts.ts"

/** Whose commands they are. */
export interface Commanding {
  readonly snapshot: SandboxSnapshot
  /** Nothing is heard any more. */
  readonly isOver: boolean
  send(event: ChartEvent): void
  /** It runs: uses may begin. */
  began(): void
  /** A hook goes on past its limit. */
  overran(error: HookOverrunError): void
  /** Work ignores that it should end. */
  stuck(): void
  /** It failed, and the failure is to be reported. */
  failed(context: ChartContext): void
  /** Nothing of it runs any more. */
  over(): void
}

export class Commands implements CommandHandlers, ActivationListener {
  /** While there is a lease, and after that as long as work goes on. */
  activation: Activation | undefined
  /** How the lease was released, once it was. */
  result: ReleaseResult | undefined
  /** Settles when all that it left to do in the store is done; undefined where that is nothing. Never rejects. */
  cleaned: Promise<void> | undefined
  readonly #chart: Commanding
  readonly #around: Surroundings
  readonly #parts: RuntimeParts
  /** How the lock is asked, until it was. */
  #wish: Wish["acquire"] | undefined
  /** What can be interrupted: the acquire, then restore, then run. */
  #begun: Promised | undefined
  /** The wait that ends by time: the back-off, or the limit of what the lock was asked for. */
  #timed: Fiber<void> | undefined
  /** Once the work has ended: its turn to save and leave. */
  #departure: Departure | undefined

  constructor(chart: Commanding, around: Surroundings, parts: RuntimeParts, wish: Wish["acquire"]) {
    this.#chart = chart
    this.#around = around
    this.#parts = parts
    this.#wish = wish
  }

  backOff({ backOff }: ChartContext): void {
    const over = Effect.sync(() => this.#chart.send({ type: "backOff.over" }))
    this.#await(Effect.delay(over, backOff))
  }

  acquire({ limits }: ChartContext): void {
    this.#begun = this.#perform(
      (signal) => this.#acquire(signal),
      (error) => ({ type: "lock.refused", how: refusalOf(error), error }),
    )
    this.#limit(this.#begun, limits.acquireWithin)
  }

  reconcile({ limits }: ChartContext): void {
    this.#begun?.interrupt()
    this.#limit(this.#begun!, limits.reconcileWithin)
  }

  restore({ purpose }: ChartContext): void {
    this.#begun = this.#perform(
      async (signal) => {
        await this.#owned.restore(purpose, signal)
        return { type: "work.restored", token: this.#owned.lease.token }
      },
      (error) => this.#unlessOverrun(error, { type: "work.failed", error }),
    )
  }

  run(): void {
    this.#begun = this.#perform(
      async (signal) => {
        await this.#owned.run(signal, () => this.#chart.began())
        return undefined
      },
      (error) => ({ type: "work.failed", error }),
    )
  }

  abortWork(context: ChartContext, { reason }: ChartCommands["abortWork"]): void {
    const { lockKey } = this.#parts
    const why = (): Error =>
      reason === "lost" ? (context.error as Error) : handingOff(lockKey, reason, context.failure?.error)
    this.#owned.end(reason, why)
    this.#begun?.interrupt(why())
  }

  settle(): void {
    this.#perform(async () => {
      await this.#settle()
      return { type: "work.settled" }
    })
  }

  reportStuck(): void {
    this.#chart.stuck()
  }

  checkpoint(context: ChartContext): void {
    this.#perform(
      async () => {
        this.#departure?.hooks()
        await this.#owned.save(endReason(context))
        return { type: "checkpoint.stored" }
      },
      (error) => this.#unlessOverrun(error, { type: "checkpoint.failed", error }),
    )
  }

  reportFailure(context: ChartContext): void {
    this.#chart.failed(context)
  }

  close(context: ChartContext): void {
    this.#perform(async () => {
      this.#departure?.hooks()
      await this.#owned.close(endReason(context))
      return { type: "work.closed" }
    })
  }

  release(context: ChartContext): void {
    const releasing = this.#perform(
      () => this.#release(context),
      (error) => this.#unreleased(error),
    )
    this.#limit(releasing, context.limits.releaseWithin)
  }

  /**
   * After loss the chart is over, but its work may not be. Only once that has ended may this process restore the key.
   */
  abandon({ error }: ChartContext): void {
    this.#perform(async () => {
      this.cleaned = this.#owned.stopSaving(error as Error)
      await this.#owned.settled()
      await this.#owned.close("lost")
      // Where only the head told of the loss there is still a lease.
      await this.#owned.lease.release().catch((thrown: unknown) => this.#around.report(thrown))
      this.#chart.over()
      return undefined
    })
  }

  /** The chart is over: nothing waits by time any more, and others may leave. */
  end(): void {
    this.#timed?.interruptUnsafe()
    this.#departure?.end()
  }

  onOverrun(error: HookOverrunError): void {
    this.#chart.overran(error)
  }

  onIdle(): void {
    this.#chart.send({ type: "leave", reason: "idle" })
  }

  onWrite(): void {
    this.#departure?.stores()
  }

  onFenced(error: unknown): void {
    this.#chart.send({ type: "lock.lost", error })
  }

  get #owned(): Activation {
    return this.activation!
  }

  /** Begins what ends in one event, or in none where the command has none. */
  #perform(
    start: (signal: AbortSignal) => Promise<ChartEvent | undefined>,
    orElse?: (error: unknown) => ChartEvent | undefined,
  ): Promised {
    return new Promised(this.#around.fibers, async (signal) => {
      const event = await (orElse === undefined ? start(signal) : start(signal).catch(orElse))
      if (event !== undefined) this.#chart.send(event)
    })
  }

  #limit(begun: Promised, ms: number): void {
    this.#await(begun.within(ms, () => this.#chart.send({ type: "lock.overran" })))
  }

  /** One at a time: what the chart waits for next has a limit of its own. */
  #await(waiting: Effect.Effect<void>): void {
    this.#timed?.interruptUnsafe()
    const timed = this.#around.fibers.fork(waiting)
    this.#timed = timed
    timed.addObserver(() => {
      if (this.#timed === timed) this.#timed = undefined // what has ended takes no room
    })
  }

  /** The event of an error, unless it is an overrun: `work.overran` has told the chart of that. */
  #unlessOverrun(error: unknown, event: ChartEvent): ChartEvent | undefined {
    return this.#owned.hooks.isOverrun(error) ? undefined : event
  }

  /** A lock that was made elsewhere broke its contract: a release never rejects. */
  #unreleased(error: unknown): ChartEvent {
    this.#around.report(error)
    this.result = "unknown"
    return { type: "lock.released", result: "unknown", error }
  }

  async #acquire(signal: AbortSignal): Promise<ChartEvent | undefined> {
    const wish = this.#wish
    this.#wish = undefined
    const lease = await this.#parts.lock.acquire({ ...wish, minTenure: "infinite", signal })
    if (this.#chart.isOver) return void (await lease.release())
    this.activation = new Activation(lease, this.#around, this.#parts, this)
    return { type: "lock.acquired", token: lease.token }
  }

  async #settle(): Promise<void> {
    const { departures } = this.#around
    await this.#owned.settled()
    if (!departures.hasRoom) this.#chart.send({ type: "work.queued" })
    if (this.#chart.isOver) return
    this.#departure?.end() // a checkpoint hook that ran over its limit had a turn before
    this.#departure = departures.begin(ruleOf(this.#chart.snapshot.context.leaving)?.isForAnother === true)
    await this.#departure.turn
  }

  async #release(context: ChartContext): Promise<ChartEvent> {
    const { lockKey } = this.#parts
    this.#departure?.stores()
    this.cleaned = this.#owned.stopSaving(handingOff(lockKey, endReason(context)))
    this.result = await this.#owned.release()
    if (this.result !== "alreadyLost") return { type: "lock.released", result: this.result }
    const error = lostBefore(lockKey, this.#around.clock.read().wall)
    return { type: "lock.released", result: this.result, error }
  }
}
