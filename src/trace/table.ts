/** A part of a trace as text, one column for each worker and one for the store, as for the message of a failed test. */
import { aCount, aNumber, aText, type OptionChecks, refuseUnknown } from "../runtime/input/options.ts"
import { lineText } from "./line-text.ts"
import { hasLines, isTraceLine } from "./trace-text.ts"
import type { Trace, TraceLine } from "./trace.ts"

/** Which part. */
export interface TraceTableOptions {
  /** The last line that is shown, counted from 0. Default: the last one. */
  readonly to?: number
  /** How many lines. Default 40. */
  readonly rows?: number
  /** Only lines about this lock key, and those about none. */
  readonly key?: string
  /** The width of a column, in characters. Default 34. */
  readonly width?: number
}

const OPTIONS: OptionChecks<TraceTableOptions> = { to: aNumber, rows: aCount(1), key: aText, width: aCount(1) }

/** The table. Its times are milliseconds since the first line of the trace. Throws InvalidConfigError. */
export function traceTable(trace: Pick<Trace, "lines">, options: TraceTableOptions = {}): string {
  hasLines("the trace", trace)
  refuseUnknown("traceTable", options, OPTIONS)
  const { lines } = trace
  const { to = lines.length - 1, rows = 40, width = 34, key } = options
  const known = lines.filter(isTraceLine)
  const shown = lines
    .slice(0, to + 1)
    .filter(isTraceLine)
    .filter((line) => isAbout(line, key))
    .slice(-rows)
  const workers = [
    ...new Set(known.flatMap((line) => ("worker" in line && line.worker !== null ? [line.worker] : []))),
  ].sort()
  const columns = [...workers, "store and world"]
  const from = known[0]?.at ?? 0
  const header = row("ms", columns, width)
  const body = shown.map((line) => {
    const column = line.kind === "applied" || line.worker === null ? "store and world" : line.worker
    const cells = columns.map((name) => (name === column ? lineText(line) : ""))
    return row(String(Math.round(line.at - from)), cells, width)
  })
  return [header, "-".repeat(header.length), ...body].join("\n")
}

/** Requests and faults are about objects and workers: they are always shown. */
const isAbout = (line: TraceLine, key: string | undefined): boolean =>
  key === undefined || !("key" in line) || line.key === undefined || line.key === key

const row = (time: string, cells: readonly string[], width: number): string =>
  [time.padStart(9), ...cells.map((cell) => cell.slice(0, width).padEnd(width))].join("  ").trimEnd()
