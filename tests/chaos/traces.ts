/**
 * The traces of a chaos run: each process records its own, the run adds what it did to them and what took effect at the
 * server, and afterwards all of them are one, which the invariants of simulations judge.
 *
 * All processes are on one host and read one wall clock, in whole milliseconds, in which a write can be asked for, take
 * effect and be answered. So what the run knows comes before what processes tell of the same millisecond, since they
 * tell what follows from it; but a write stands behind the request for it, where that is of the same millisecond.
 */
import { closeSync, openSync, readFileSync, writeSync } from "node:fs"
import { TraceRecorder } from "../../src/inspector/recorder.ts"
import { allInvariants, checkTrace, invariants, type Violation } from "../../src/testing/invariants/mod.ts"
import { mergeTraces } from "../../src/trace/merge.ts"
import { formatTraceLine, isTraceLine, parseTrace } from "../../src/trace/trace-text.ts"
import type { AppliedLine, FaultLine, RequestLine, Trace, TraceHeader, TraceLine } from "../../src/trace/trace.ts"

/** Records the trace of one process into a file of its own, a line a write: also one that is killed next is there. */
export class ProcessTrace implements Disposable {
  readonly recorder: TraceRecorder
  readonly #file: number

  constructor(path: string) {
    this.#file = openSync(path, "wx")
    this.recorder = new TraceRecorder({ source: "live", onLine: (line) => this.#write(line) })
    this.#write(this.recorder.header)
  }

  [Symbol.dispose](): void {
    closeSync(this.#file)
  }

  #write(line: TraceLine | TraceHeader): void {
    writeSync(this.#file, formatTraceLine(line))
  }
}

/** What the run itself knows of. */
export class RunTrace {
  readonly recorder: TraceRecorder
  readonly #faults: FaultLine[] = []
  readonly #applied: AppliedLine[] = []

  constructor() {
    this.recorder = new TraceRecorder({ source: "live", onLine: (line) => this.add(line) })
  }

  add(line: TraceLine | undefined): void {
    if (line?.kind === "fault") this.#faults.push(line)
    if (line?.kind === "applied") this.#applied.push(line)
  }

  /** The trace of the whole run. `paths`: of its processes. */
  with(paths: readonly string[]): Trace {
    const { header } = this.recorder
    const applied = new Map(this.#applied.map((line) => [askedAs(line, line.before), line]))
    const processes = paths.map((path) => withApplied(parseTrace(readFileSync(path, "utf8")), applied))
    const others = [...applied.values()].sort((a, b) => a.at - b.at) // each was told when its answer was there
    return mergeTraces([{ header, lines: this.#faults }, { header, lines: others }, ...processes])
  }
}

/** Which request, at which time: of one version only one write takes effect. */
const askedAs = ({ at, worker, op, area, name }: AppliedLine | RequestLine, generation: string | undefined): string =>
  [at, worker, op, area, name, generation].join(" ")

/**
 * Puts each write behind the request for it, where both are of one millisecond, and takes it from those that are left.
 */
function withApplied({ header, lines }: Trace, applied: Map<string, AppliedLine>): Trace {
  const placed = lines.flatMap((line): Trace["lines"] => {
    if (!isTraceLine(line) || line.kind !== "request") return [line]
    const name = askedAs(line, line.generation)
    const write = applied.get(name)
    applied.delete(name)
    return write === undefined ? [line] : [line, write]
  })
  return { header, lines: placed }
}

/**
 * Between the clock that a process decides by and the whole milliseconds that it writes, and from the look to the line,
 * in ms.
 */
const PRECISION = 10

/** A deadline, as far as the lines of a live trace can tell it. It is seconds before anybody else may own the key. */
const roundedUp = (line: Trace["lines"][number]): Trace["lines"][number] =>
  isTraceLine(line) && line.kind === "lock" && line.deadline !== undefined
    ? { ...line, deadline: line.deadline + PRECISION }
    : line

/** What of a live trace goes against an invariant. */
export function judgeLive(trace: Trace): readonly Violation[] {
  const first = firstAfterStops(trace)
  return checkTrace({ lines: trace.lines.map(roundedUp) }, allInvariants).filter(
    ({ invariant, line }) => !(first.has(line) && betweenCheckAndEffect.has(invariant)),
  )
}

/**
 * A process that is stopped between the look at its lease and what it then does is beyond what a lease can promise
 * (docs/protocol.md). Of such a process that is the first line once it goes on. Simulated ones are stopped between
 * turns.
 */
const betweenCheckAndEffect: ReadonlySet<string> = new Set([
  invariants.workUnderLease.name,
  invariants.savesUnderLease.name,
  invariants.aloneAtWork.name,
])

/** The number of the first line that each process wrote after each stop. */
function firstAfterStops({ lines }: Trace): ReadonlySet<number> {
  const found = new Set<number>()
  const resumed = new Set<string>()
  lines.forEach((line, index) => {
    if (!isTraceLine(line) || line.worker === null || line.kind === "applied") return
    if (line.kind === "fault") {
      if (line.fault === "resume") resumed.add(line.worker)
    } else if (resumed.delete(line.worker)) found.add(index)
  })
  return found
}
