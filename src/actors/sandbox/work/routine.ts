/**
 * The routine of a running sandbox: a checkpoint every so often, and leaving when nobody has used it for a while. Both
 * wait on the clock's one schedule, and neither keeps a process alive.
 */
import type { Clock } from "../../../runtime/time/clock.ts"
import { scheduleOf, type Wake } from "../../../runtime/time/schedule.ts"

/** When and what. Times are milliseconds; undefined: never. */
export interface RoutineParts {
  readonly idleAfter: number | undefined
  readonly checkpointEvery: number | undefined
  /** Whether it can't be idle now: a use is in progress or waits. */
  readonly isBusy: () => boolean
  readonly onIdle: () => void
  /** The next one is due only after this one has settled. Never rejects. */
  readonly onCheckpoint: () => Promise<void>
}

export class Routine {
  readonly #clock: Clock
  readonly #parts: RoutineParts
  readonly #idle: Wake
  readonly #periodic: Wake
  /** Its own work goes on: it isn't idle. */
  #working = true
  #stopped = false

  constructor(clock: Clock, parts: RoutineParts) {
    this.#clock = clock
    this.#parts = parts
    const schedule = scheduleOf(clock)
    this.#idle = schedule.wake(() => this.#idled(), { background: true })
    this.#periodic = schedule.wake(() => void this.#checkpoint(), { background: true })
    this.#arm(this.#periodic, parts.checkpointEvery)
  }

  /** `run` has returned: from now on it can be idle. */
  finished(): void {
    this.#working = false
    this.touched()
  }

  /** Somebody used it until now. */
  touched(): void {
    if (!this.#working) this.#arm(this.#idle, this.#parts.idleAfter)
  }

  /** Idempotent. */
  stop(): void {
    this.#stopped = true
    this.#idle.clear()
    this.#periodic.clear()
  }

  #arm(wake: Wake, millis: number | undefined): void {
    if (millis !== undefined && !this.#stopped) wake.set(this.#clock.mono() + millis)
  }

  /** The end of the use that keeps it busy touches it again. */
  #idled(): void {
    if (!this.#parts.isBusy()) this.#parts.onIdle()
  }

  async #checkpoint(): Promise<void> {
    await this.#parts.onCheckpoint()
    this.#arm(this.#periodic, this.#parts.checkpointEvery)
  }
}
