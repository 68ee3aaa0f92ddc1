/** Times as people read them. */

/** A length of time, in its largest unit or two: `4.2 s`, `3 min 20 s`, `2 h 5 min`. */
export function span(ms: number): string {
  const seconds = Math.abs(ms) / 1000
  if (seconds < 60) return `${Number(seconds.toFixed(1))} s`
  const whole = Math.round(seconds)
  if (whole < 3600) return two(Math.floor(whole / 60), "min", whole % 60, "s")
  const minutes = Math.round(whole / 60)
  return minutes < 48 * 60
    ? two(Math.floor(minutes / 60), "h", minutes % 60, "min")
    : two(Math.floor(minutes / 1440), "d", Math.round((minutes % 1440) / 60), "h")
}

const two = (a: number, unit: string, b: number, smaller: string): string =>
  b === 0 ? `${a} ${unit}` : `${a} ${unit} ${b} ${smaller}`

/** A moment, and how far it is from `now` if that is known: `2026-01-31T12:00:00Z (in 20 s)`. */
export function moment(at: number, now: number | undefined): string {
  const text = instantText(at)
  if (now === undefined) return text
  return at >= now ? `${text} (in ${span(at - now)})` : `${text} (${span(now - at)} ago)`
}

let formatter: Intl.DateTimeFormat | undefined

/** Made at its first use: to load the system's locales takes milliseconds. */
const utc = (): Intl.DateTimeFormat =>
  (formatter ??= new Intl.DateTimeFormat("sv-SE", { timeZone: "UTC", dateStyle: "short", timeStyle: "medium" }))

/** The last moment that a Date can be, in Unix ms (ECMAScript). The first is as far before 1970. */
const LAST = 8.64e15

/** A moment in UTC, to the second. It may be any number: records of others are shown by it. */
export const instantText = (ms: number): string =>
  `${utc().format(Math.max(-LAST, Math.min(ms, LAST)) || 0)}Z`.replace(" ", "T")
