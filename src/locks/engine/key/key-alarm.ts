/**
 * When a key's runtime has to step by itself: at the time that its protocol names, on the clock's shared schedule, and
 * when the clocks have gone apart while the key is held. Decides neither: the runtime says for when, and the protocol
 * what follows.
 */
import type { Clock, Reading } from "../../../runtime/time/clock.ts"
import { scheduleOf, type Wake } from "../../../runtime/time/schedule.ts"
import { watchClocks } from "../../../runtime/time/watch-clocks.ts"

/** What an alarm calls. */
export interface AlarmParts {
  /** The time that was set has come. */
  readonly onTime: () => void
  /** Once a second while the key is held. */
  readonly onReading: (reading: Reading) => void
}

/** What an alarm is set for. */
export interface AlarmSetting {
  /** A time of the monotonic clock; undefined: none. */
  readonly at: number | undefined
  /** The wait for that time doesn't keep the process alive. */
  readonly background: boolean
  /** The key is held. While it isn't, an attempt compares the clocks at each look. */
  readonly isHeld: boolean
}

/** That of one key. */
export class KeyAlarm {
  readonly #clock: Clock
  readonly #onReading: (reading: Reading) => void
  readonly #wake: Wake
  #comparison: Disposable | undefined

  constructor(clock: Clock, { onTime, onReading }: AlarmParts) {
    this.#clock = clock
    this.#onReading = onReading
    this.#wake = scheduleOf(clock).wake(onTime)
  }

  /** In place of what was set before. */
  set({ at, background, isHeld }: AlarmSetting): void {
    if (at === undefined) this.#wake.clear()
    else this.#wake.set(at, { background })
    if (isHeld) this.#comparison ??= watchClocks(this.#clock, this.#onReading)
    else this.#endComparison()
  }

  #endComparison(): void {
    this.#comparison?.[Symbol.dispose]()
    this.#comparison = undefined
  }
}
