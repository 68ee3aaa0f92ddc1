/**
 * What a log shows against those who wrote it: two who acted on a key at once, tokens that don't grow, rows that were
 * acknowledged and are gone, rows that are there twice. A pure function of the log and of what is saved in the end.
 *
 * An act counts up to its last step of which it was seen, afterwards, that its lease had stood. So a process that is
 * stopped between a step and the look at its lease is not blamed for it, and one that acts on past its deadline is.
 */
import type { LogLine } from "./log.ts"

/** What a run comes to. */
export interface Verdict {
  readonly handoffs: number
  readonly takeovers: number
  readonly acts: number
  readonly stored: number
  /** Pairs of acts on one key at once. */
  readonly overlaps: readonly string[]
  /** Rows that were acknowledged, and are missing. */
  readonly lost: readonly string[]
  /** Everything else that must not be. */
  readonly problems: readonly string[]
}

type Start = Extract<LogLine, { what: "start" }>

/** Judges a run. `saved`: the rows of each key in the end. */
export function judge(lines: readonly LogLine[], saved: ReadonlyMap<string, readonly string[]>): Verdict {
  const acquired = lines.filter((line) => line.what === "acquired")
  const acts = actsOf(lines)
  const counting = new Set(acts.map(({ start }) => start))
  const stored = lines.filter((line) => line.what === "stored")
  return {
    handoffs: acquired.filter(({ how }) => how === "granted" || how === "reserved").length,
    takeovers: acquired.filter(({ how }) => how === "takeover").length,
    acts: acts.length,
    stored: stored.length,
    overlaps: overlapsOf(acts),
    lost: [...missing(stored, saved), ...steppedBack(lines, counting)],
    problems: [...told(lines), ...tokens(counting), ...twice(saved), ...afterDeath(lines)],
  }
}

/** An act, from the line of its start to that of its last step. */
interface Act {
  readonly start: Start
  readonly from: number
  readonly to: number
}

/** Those that count, in the order of their starts. */
function actsOf(lines: readonly LogLine[]): readonly Act[] {
  const begun = new Map<string, { readonly start: Start; readonly from: number; last: number; to?: number }>()
  lines.forEach((line, index) => {
    if (line.what === "start") begun.set(line.act, { start: line, from: index, last: index })
    else if (line.what === "step") begun.get(line.act)!.last = index
    else if (line.what === "held") begun.get(line.act)!.to = begun.get(line.act)!.last
  })
  return [...begun.values()].flatMap(({ start, from, to }) => (to === undefined ? [] : [{ start, from, to }]))
}

function overlapsOf(acts: readonly Act[]): readonly string[] {
  const found: string[] = []
  const open = new Map<string, Act[]>()
  for (const act of acts) {
    const { key, process } = act.start
    const others = (open.get(key) ?? []).filter(({ to }) => to > act.from)
    for (const other of others)
      if (other.start.process !== process)
        found.push(`${act.start.act} begins on ${key} while ${other.start.act} goes on`)
    open.set(key, [...others, act])
  }
  return found
}

function missing(
  stored: readonly Extract<LogLine, { what: "stored" }>[],
  saved: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  const rows = new Map([...saved].map(([key, list]) => [key, new Set(list)]))
  return stored.filter(({ key, row }) => rows.get(key)?.has(row) !== true).map(({ key, row }) => `${row} of ${key}`)
}

/** An owner that finds fewer rows than were acknowledged before it began. */
function steppedBack(lines: readonly LogLine[], counting: ReadonlySet<LogLine>): readonly string[] {
  const known = new Map<string, number>()
  return lines.flatMap((line) => {
    if (line.what === "stored") known.set(line.key, (known.get(line.key) ?? 0) + 1)
    if (line.what !== "start" || !counting.has(line) || line.rows >= (known.get(line.key) ?? 0)) return []
    return [`${line.act} finds ${line.rows} rows of ${line.key}, where ${known.get(line.key)} were acknowledged`]
  })
}

function tokens(starts: Iterable<Start>): readonly string[] {
  const newest = new Map<string, { readonly token: number; readonly process: string }>()
  return [...starts].flatMap(({ key, token, process, act }) => {
    const { token: top, process: owner } = newest.get(key) ?? { token: -1, process }
    if (token > top) newest.set(key, { token, process })
    if (token < top) return [`${act} acts on ${key} under token ${token}, after ${owner} under ${top}`]
    return token === top && owner !== process ? [`${act} acts on ${key} under the token of ${owner}`] : []
  })
}

const told = (lines: readonly LogLine[]): readonly string[] =>
  lines.flatMap((line) => (line.what === "problem" ? [`${line.process}: ${line.message}`] : []))

/** A function that ran twice. */
function twice(saved: ReadonlyMap<string, readonly string[]>): readonly string[] {
  return [...saved].flatMap(([key, rows]) =>
    rows.filter((row, index) => rows.indexOf(row) !== index).map((row) => `${row} is twice in ${key}`),
  )
}

function afterDeath(lines: readonly LogLine[]): readonly string[] {
  const dead = new Set<string>()
  return lines.flatMap((line) => {
    if (line.what === "dead") dead.add(line.process)
    return line.what === "start" && dead.has(line.process) ? [`${line.act} begins after ${line.process} was dead`] : []
  })
}
