/**
 * The traces of a chaos run: each process records its own, the run adds what it did to them and what took effect at the
 * server, and afterwards all of them are one, which the invariants of simulations judge.
 *
 * All processes are on one host and read one wall clock, in whole milliseconds. Within one of these a fault comes before
 * the lines of processes, so that what follows from it is behind it; a write that took effect comes after them, so that the
 * request for it is before it. Nobody knows of a write within the millisecond in which it is passed to the server.
 */
import { closeSync, openSync, readFileSync, writeSync } from "node:fs"
import { mergeTraces } from "../../src/inspector/merge.ts"
import { TraceRecorder } from "../../src/inspector/recorder.ts"
import { formatTraceLine, isTraceLine, parseTrace } from "../../src/inspector/trace-text.ts"
import type { AppliedLine, FaultLine, Trace, TraceHeader, TraceLine } from "../../src/inspector/trace.ts"
import { allInvariants, checkTrace, invariants, type Violation } from "../../src/testing/invariants/mod.ts"

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
    const applied = this.#applied.toSorted((a, b) => a.at - b.at) // each was told when its answer was there
    const processes = paths.map((path) => parseTrace(readFileSync(path, "utf8")))
    return mergeTraces([{ header, lines: this.#faults }, ...processes, { header, lines: applied }])
  }
}

/** What of a live trace goes against an invariant. */
export function judgeLive(trace: Trace): readonly Violation[] {
  const first = firstAfterStops(trace)
  return checkTrace(trace, allInvariants).filter(
    ({ invariant, line }) => !(first.has(line) && betweenCheckAndEffect.has(invariant)),
  )
}

/**
 * A process that is stopped between the look at its lease and what it then does is beyond what a lease can promise
 * (docs/protocol.md). Of such a process that is the first line once it goes on. Simulated ones are stopped between turns.
 */
const betweenCheckAndEffect: ReadonlySet<string> = new Set([
  invariants.workUnderLease.name,
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
