/** The states of the sandbox chart as paths, for counting and drawing. Pure; it runs in a browser too. */
import type { SandboxStateValue } from "../../../trace/state-value.ts"

/** The states at the top of the chart, in the order in which a sandbox comes through them. */
export const TOP_STATES = ["acquiring", "waiting", "owning", "handingOff", "released"] as const

/** One of them. */
export type TopState = (typeof TOP_STATES)[number]

/** A value in its parts: `inner` of a state without regions, `work` and `lease` of one with them. */
export interface StateParts {
  readonly top: TopState
  readonly inner: string | null
  readonly work: string | null
  readonly lease: string | null
}

/** The same parts for the same value: there are few values, and many sandboxes. */
const known = new Map<string, StateParts>()

/** What a value says. `acquiring` for one that this release doesn't know. */
export function partsOf(value: SandboxStateValue): StateParts {
  const text = JSON.stringify(value)
  let parts = known.get(text)
  if (parts === undefined) {
    parts = read(value)
    if (known.size < MOST_VALUES) known.set(text, parts)
  }
  return parts
}

/** The chart has some 30 values; what others write may be anything. */
const MOST_VALUES = 200

function read(value: object): StateParts {
  const [[name, inner] = ["acquiring", ""]] = Object.entries(value)
  const top = TOP_STATES.find((state) => state === name) ?? "acquiring"
  if (typeof inner !== "object" || inner === null) return { top, inner: textOf(inner), work: null, lease: null }
  const { work, lease } = inner as { work?: unknown; lease?: unknown }
  return { top, inner: null, work: textOf(work), lease: textOf(lease) }
}

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null)

/** The innermost states that are active: `owning.work.running`, `owning.lease.healthy`. */
export function leavesOf({ top, inner, work, lease }: StateParts): readonly string[] {
  if (work !== null) return [`${top}.work.${work}`, `${top}.lease.${lease ?? "healthy"}`]
  return [inner === null ? top : `${top}.${inner}`]
}

/**
 * The step between two values, as `from>to` with their innermost states; null where nothing changed. Where both regions
 * changed it is that of the work.
 */
export function stepBetween(before: StateParts, after: StateParts): string | null {
  const [from, fromLease] = leavesOf(before)
  const [to, toLease] = leavesOf(after)
  if (from !== to) return `${from}>${to}`
  return fromLease === toLease ? null : `${fromLease}>${toLease}`
}
