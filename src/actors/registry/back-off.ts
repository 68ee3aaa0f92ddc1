/**
 * Which keys have failed lately, and how long their next attempt waits: by the Schedule of their definition, one step a
 * failure. Without the wait, all processes in turn would take, fail and release a sandbox whose restore or run throws.
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Pull from "effect/Pull"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import { InvalidConfigError } from "../../locks/api/errors.ts"
import { clockServices } from "../../runtime/bridges/effect-clock.ts"
import type { OnError } from "../../runtime/report.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import type { BackOffSchedule } from "../api/sandbox.ts"

/** Of the usual schedule, in milliseconds. Half of each pause is up to chance, so that processes don't try in step. */
const firstMs = 1000
const longestMs = 60_000
/** A key that hasn't failed for this long after its pause starts anew, in milliseconds: ten times the longest pause. */
const forgetMs = 10 * 60_000

const halfByChance = ({ duration }: { readonly duration: Duration.Duration }): Effect.Effect<number> =>
  Effect.map(Random.next, (chance) => Math.min(longestMs, Duration.toMillis(duration)) * (0.5 + chance / 2))

/** What a definition has that gives none. */
const usual: BackOffSchedule = Schedule.modifyDelay(Schedule.exponential(firstMs), halfByChance)

type Step = (now: number, error: unknown) => Pull.Pull<readonly [unknown, Duration.Duration], never, unknown>

interface Trouble {
  /** Undefined where the schedule can't be stepped. */
  readonly step: Step | undefined
  /** The last pause, in milliseconds. */
  readonly ms: number
  /** Monotonic milliseconds. */
  readonly since: number
  readonly until: number
  readonly error: unknown
}

export class BackOff {
  readonly #clock: Clock
  readonly #report: OnError
  /** In the order of the last failure. */
  readonly #troubles = new Map<string, Trouble>()

  /** `report` gets the errors of schedules. */
  constructor(clock: Clock, report: OnError) {
    this.#clock = clock
    this.#report = report
  }

  /** How long the next attempt has to wait, in milliseconds, and what went wrong the last time. */
  of(key: string): { readonly ms: number; readonly error: unknown } {
    const trouble = this.#troubles.get(key)
    return { ms: Math.max(0, (trouble?.until ?? 0) - this.#mono), error: trouble?.error }
  }

  failed(key: string, schedule: BackOffSchedule | undefined, error: unknown): void {
    this.#forgetOld()
    const before = this.#troubles.get(key)
    const step = before?.step ?? this.#atOnce(Schedule.toStep(schedule ?? usual), key)
    const ms = step === undefined ? longestMs : this.#pause(key, step, before?.ms ?? 0, error)
    const since = this.#mono
    this.#troubles.delete(key)
    this.#troubles.set(key, { step, ms, since, until: since + ms, error })
  }

  succeeded(key: string): void {
    this.#troubles.delete(key)
  }

  get #mono(): number {
    return this.#clock.mono()
  }

  /** A schedule that has ended stays at its last pause. One that can't be stepped has the longest. */
  #pause(key: string, step: Step, last: number, error: unknown): number {
    const pulled: ReturnType<Step> = Effect.suspend(() => step(this.#clock.read().wall, error))
    const stepped = Pull.matchEffect(pulled, {
      onSuccess: ([, pause]) => Effect.succeed(Duration.toMillis(pause)),
      onDone: () => Effect.succeed(last),
      onFailure: Effect.failCause,
    })
    return this.#atOnce(stepped, key) ?? longestMs
  }

  /** What the effect gives at once; undefined where it gives nothing, which is reported. */
  #atOnce<A>(effect: Effect.Effect<A>, key: string): A | undefined {
    const exit = Effect.runSyncExitWith(clockServices(this.#clock))(effect)
    if (Exit.isSuccess(exit)) return exit.value
    const message = `The schedule of the backOff of ${key} failed`
    const next = "Give one that neither fails nor waits"
    this.#report(new InvalidConfigError({ message, next, key, cause: Cause.squash(exit.cause) }))
    return undefined
  }

  #forgetOld(): void {
    for (const [key, { since, until }] of this.#troubles) {
      if (this.#mono - since < forgetMs) return
      if (this.#mono - until >= forgetMs) this.#troubles.delete(key)
    }
  }
}
