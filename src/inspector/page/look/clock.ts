/**
 * The page's only way to time, but for frames: clock and timers. Everything else takes times as arguments.
 * Not promised: that timers run while the tab is hidden; browsers slow them down.
 */

/** Unix milliseconds by this machine's clock. */
export const wallNow = (): number => Date.now()

/** Hours, minutes, seconds and milliseconds of a moment, in the reader's own time zone; null for what is no moment. */
export function timeParts(at: number): readonly [number, number, number, number] | null {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return null
  return [date.getHours(), date.getMinutes(), date.getSeconds(), date.getMilliseconds()]
}

/** Milliseconds that never go back, for durations. */
export const ticks = (): number => performance.now()

/** Runs once after so many milliseconds; the result cancels it. */
export function after(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}

/** Runs every so many milliseconds; the result ends it. */
export function every(ms: number, run: () => void): () => void {
  const timer = setInterval(run, ms)
  return () => clearInterval(timer)
}
