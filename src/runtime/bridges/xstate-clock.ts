/** XState's `clock` option on ours: delayed events and transitions of its actors, of any length. */
import type { Clock, Timer } from "../time/clock.ts"

/** What `createActor(…, { clock })` takes. */
export interface XStateClock {
  setTimeout(callback: () => void, ms: number): Timer
  clearTimeout(timer: Timer | undefined): void
}

/** An XState clock whose delays are timers of ours; they keep the process alive, as XState's own do. */
export const xstateClock = (clock: Clock): XStateClock => ({
  setTimeout: (callback, ms) => clock.after(ms, callback),
  clearTimeout: (timer) => timer?.cancel(),
})
