/** XState's `clock` option on ours: delayed events and transitions of its actors, of any length. */
import type { Clock, Timer } from "../time/clock.ts"

/** What `createActor(…, { clock })` takes. */
export interface XStateClock {
  setTimeout(callback: () => void, ms: number): Timer
  clearTimeout(timer: Timer | undefined): void
}

/** One a clock, for there may be 100,000 actors on it. */
const made = new WeakMap<Clock, XStateClock>()

/** An XState clock whose delays are timers of ours; they keep the process alive, as XState's own do. */
export const xstateClock = (clock: Clock): XStateClock => {
  const known = made.get(clock)
  if (known !== undefined) return known
  const own: XStateClock = {
    setTimeout: (callback, ms) => clock.after(ms, callback),
    clearTimeout: (timer) => timer?.cancel(),
  }
  made.set(clock, own)
  return own
}
