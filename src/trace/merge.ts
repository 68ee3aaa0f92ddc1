/**
 * The traces of several processes as one. Each has a recorder of its own, which counts its requests, sections and calls
 * from 1, so their numbers are made different; the order is that of the times. Pure.
 *
 * Not promised: the true order of what happened in two processes within the difference of their clocks. Those of one
 * host read one clock, in whole milliseconds.
 */
import { aList, refusal } from "../runtime/input/options.ts"
import { aTrace } from "./trace-text.ts"
import { TRACE_VERSION, type Trace, type TraceHeader, type TraceLine, type UnknownLine } from "./trace.ts"

type AnyLine = TraceLine | UnknownLine

/** A line in its place. */
interface DatedLine {
  readonly at: number
  readonly line: AnyLine
}

/**
 * Joins the traces of one fleet: the lines of each stay in their order, and are put between those of the others by
 * `at`. Lines of one millisecond come in the order in which their traces were given. Ids that lines are joined by are
 * counted anew; torn ends are left out. The header is that of the first; its seed and commit stay where all have the
 * same. Throws InvalidConfigError for no traces at all, and for what is none.
 */
export function mergeTraces(traces: readonly Trace[]): Trace {
  aList("traces", traces)
  for (const [index, trace] of traces.entries()) aTrace(`traces[${index}]`, trace)
  const [first] = traces
  if (first === undefined) throw refusal("There are no traces to merge", "Give at least one trace")
  let taken = 0
  const placed = traces.flatMap(({ lines }) => {
    const before = taken
    taken = lines.reduce((most, line) => Math.max(most, before + (idOf(line) ?? 0)), before)
    return inPlace(lines).map(({ at, line }) => ({ at, line: renumbered(line, before) }))
  })
  return { header: headerOf(first.header, traces), lines: placed.sort((a, b) => a.at - b.at).map(({ line }) => line) }
}

/** Where a clock was set back, and where a line tells no time, it counts as being at the time of the one before it. */
function inPlace(lines: readonly AnyLine[]): readonly DatedLine[] {
  let latest = 0
  return lines.map((line) => {
    const { at } = line
    if (typeof at === "number" && at > latest) latest = at
    return { at: latest, line }
  })
}

function headerOf(first: TraceHeader, traces: readonly Trace[]): TraceHeader {
  const isShared = (field: "seed" | "commit"): boolean => traces.every(({ header }) => header[field] === first[field])
  return {
    ...first,
    version: TRACE_VERSION,
    seed: isShared("seed") ? first.seed : null,
    commit: isShared("commit") ? first.commit : null,
  }
}

function idOf(line: AnyLine): number | undefined {
  return "id" in line && typeof line.id === "number" ? line.id : undefined
}

function renumbered(line: AnyLine, by: number): AnyLine {
  const id = idOf(line)
  return id === undefined || by === 0 ? line : { ...line, id: id + by }
}
