/** A delay in words: milliseconds in the largest unit that says them shortly, anything else by its name. */

/** In milliseconds, the largest first. */
const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1000],
] as const

/** `2 s`, `1.5 h`, `250 ms`, or the delay's name. */
export function formatDelay(delay: unknown): string {
  if (typeof delay !== "number") return typeof delay === "string" ? delay : "inline"
  for (const [unit, ms] of UNITS) {
    const count = delay / ms
    if (count >= 1 && Number.isInteger(count * 10)) return `${count} ${unit}`
  }
  return `${delay} ms`
}
