/** The client's only way to time: it runs in browsers too, which lack what the workers' clock is made of. */

/** Unix milliseconds by this machine's clock. */
export const wallNow = (): number => Date.now()

/** Milliseconds that never go back. */
export const ticks = (): number => performance.now()

/** Settles after so many milliseconds, or as soon as the signal aborts. Never rejects. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener("abort", end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener("abort", end)
    if (signal.aborted) end()
  })
}

/** Runs once after so many milliseconds; the result cancels it. */
export function after(ms: number, run: () => void): () => void {
  if (ms === Infinity) return () => {}
  const timer = setTimeout(run, Math.min(ms, 2 ** 31 - 1))
  return () => clearTimeout(timer)
}

/** Between 0 and 1. */
export const chance = (): number => Math.random()

/** 21 characters that never repeat. */
export const freshId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(21)), (byte) => SIGNS[byte & 63]).join("")

const SIGNS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
