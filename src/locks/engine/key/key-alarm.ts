/**
 * When a key's runtime has to step by itself: at the time that its protocol names, on the clock's shared schedule, and
 * when the clocks have gone apart while the key is held. Decides neither: the runtime says for when, and the protocol
 * what follows.
 */
import type { Clock, Reading } from "../../../runtime/time/clock.ts"
import { scheduleOf, type Wake } from "../../../runtime/time/schedule.ts"
import { type ClockListener, watchClocks } from "../../../runtime/time/watch-clocks.ts"

/** What an alarm calls. `onReading`: the clocks have gone apart while the key is held. */
export interface AlarmParts extends ClockListener {
  readonly clock: Clock
  /** The time that was set has come. */
  onTime(): void
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
  readonly #parts: AlarmParts
  readonly #wake: Wake
  #isCompared = false

  constructor(parts: AlarmParts) {
    this.#parts = parts
    this.#wake = scheduleOf(parts.clock).wake(() => parts.onTime())
  }

  /** In place of what was set before. `reading`: by which the state was judged that it is set for. */
  set({ at, background, isHeld }: AlarmSetting, reading: Reading): void {
    if (at === undefined) this.#wake.clear()
    else this.#wake.set(at, { background })
    const clocks = watchClocks(this.#parts.clock)
    if (isHeld && this.#isCompared) clocks.note(reading)
    else if (isHeld) clocks.add(this.#parts, reading)
    else if (this.#isCompared) clocks.delete(this.#parts)
    this.#isCompared = isHeld
  }
}
