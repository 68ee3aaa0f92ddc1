/**
 * The ordered end of a process that serves sandboxes: readiness off, hand over, let answers in flight end, tell, exit.
 * Servers take connections until the drain is over, as an owner that no longer answers can't say what it has done. Each
 * step beside the drain has a limit, so that no hook keeps the process.
 *
 * Not promised: that a step which goes on past its limit is undone. It ends with the process.
 */
import { LockTimeoutError } from "../../locks/api/errors.ts"
import type { Duration } from "../../runtime/input/duration.ts"
import {
  aClock,
  aDuration,
  aFunction,
  anObject,
  millis,
  type OptionChecks,
  refuseUnknown,
} from "../../runtime/input/options.ts"
import { type Answers, type AnsweringServer, answersOf, servers } from "../../runtime/machine/answers.ts"
import {
  onShutdown,
  SHUTDOWN_OPTIONS,
  type ShutdownOptions,
  type ShutdownSignal,
} from "../../runtime/machine/signals.ts"
import { type OnError, reporter } from "../../runtime/report.ts"
import { type Clock, liveClock } from "../../runtime/time/clock.ts"
import type { DrainOptions } from "../api/call-options.ts"
import type { DrainResult } from "../api/manager.ts"

/** What can be drained. */
export interface Drainable {
  /** As `drain` of a manager. */
  drain(options?: DrainOptions): Promise<DrainResult>
}

/** How to drain on a signal. */
export interface DrainOnSignalsOptions extends ShutdownOptions {
  /** What the drain may take. Default: the manager's `killGrace`. */
  readonly grace?: Duration
  /** Called at the signal, to turn readiness off. The drain begins when this has settled. */
  readonly onDraining?: (signal: ShutdownSignal) => void | Promise<void>
  /**
   * What answers requests. These take connections until the drain is over, and then the answers in flight are waited
   * for. Servers of node:http tell each client from the signal on to close its connection. Give a function for a server
   * of another kind, and for streams that would never end; the promise that it returns is waited for.
   */
  readonly servers?: readonly AnsweringServer[]
  /** Gets how the drain went, when no answer is in flight any more. The process ends when this has settled. */
  readonly onDrained?: (result: DrainResult) => void | Promise<void>
  /**
   * What each of `onDraining`, the end of all `servers` and `onDrained` may take; default 5 s. Past that `onError` gets
   * LockTimeoutError, and the next step begins. So the process needs `grace` and three times this between SIGTERM and
   * SIGKILL at most.
   */
  readonly stepWithin?: Duration
  /** What the limits go by; default this process's own. */
  readonly clock?: Clock
}

const OPTIONS: OptionChecks<DrainOnSignalsOptions> = {
  ...SHUTDOWN_OPTIONS,
  grace: aDuration,
  onDraining: aFunction,
  servers,
  onDrained: aFunction,
  stepWithin: aDuration,
  clock: aClock,
}

/** A slow client reads its answer in this time, and the usual 30 s of a kill grace have room for it. */
const STEP_WITHIN: Duration = "5 s"

/** One step after the other. None throws: its errors are reported, and the next one begins. */
class Steps {
  readonly #clock: Clock
  readonly #within: number
  readonly #report: OnError

  constructor(clock: Clock, within: Duration, report: OnError) {
    this.#clock = clock
    this.#within = millis("stepWithin", within)
    this.#report = report
  }

  /** Begins it at once; settles when it has ended, or when its limit is over. */
  async take(what: string, begin: () => unknown): Promise<void> {
    const over = Promise.withResolvers<void>()
    const timer = this.#clock.after(this.#within, () => over.reject(this.#overdue(what)))
    try {
      await Promise.race([over.promise, (async () => begin())()])
    } catch (error) {
      this.#report(error)
    } finally {
      timer.cancel()
    }
  }

  #overdue(what: string): LockTimeoutError {
    const ms = this.#within
    return new LockTimeoutError({
      message: `The process ends while ${what} still goes on, which did not end within ${ms} ms (stepWithin)`,
      next: "Make it faster, or raise stepWithin together with the time between SIGTERM and SIGKILL",
      ...{ waitedMs: ms, limitMs: ms, source: "stepWithin" },
    })
  }
}

/**
 * On the first SIGTERM or SIGINT: calls `onDraining`, drains the manager, lets the `servers` end, calls `onDrained`,
 * and ends the process with 128 + the signal's number. Each waits for the one before. What a step throws goes to
 * `onError`, and the next one begins. Where the drain itself rejects, `onDrained` isn't called. Throws
 * InvalidConfigError. Dispose the result to no longer drain on signals, and to watch the servers no more.
 *
 * Where work is stuck when the grace is over, and on a second signal, the process ends by the signal itself, its
 * threads included. The keys of that work aren't released. They are free once the process is gone, or when their leases
 * run out.
 */
export function drainOnSignals(manager: Drainable, options: DrainOnSignalsOptions = {}): Disposable {
  anObject("Give what SandboxManager.start gave", "drain")("the manager of drainOnSignals", manager)
  refuseUnknown("drainOnSignals", options, OPTIONS)
  const { grace, onDraining, onDrained, servers: given = [], stepWithin, clock = liveClock, ...shutdown } = options
  const report = reporter(shutdown.onError)
  const steps = new Steps(clock, stepWithin ?? STEP_WITHIN, report)
  const answers: readonly Answers[] = given.map((server) => answersOf(server, clock))
  const drain = async (): Promise<DrainResult> => manager.drain(grace === undefined ? {} : { grace })
  const registered = onShutdown(async (signal) => {
    for (const each of answers) each.lastOnes()
    if (onDraining !== undefined) await steps.take("onDraining", () => onDraining(signal))
    const result = await drain().catch((error: unknown) => (report(error), undefined))
    await Promise.all(answers.map((each, index) => steps.take(`servers[${index}]`, () => each.end())))
    if (onDrained !== undefined && result !== undefined) await steps.take("onDrained", () => onDrained(result))
    return result !== undefined && result.stuck.length > 0 ? "stuck" : undefined
  }, shutdown)
  return {
    [Symbol.dispose]() {
      registered[Symbol.dispose]()
      for (const each of answers) each[Symbol.dispose]()
    },
  }
}
