/** One run of a plan: under traps, its trace hashed and judged line by line. */
import { liveClock } from "../../../runtime/time/clock.ts"
import { TraceHash } from "../../../runtime/time/hash.ts"
import type { StateLine, TraceLine } from "../../../trace/trace.ts"
import { servedWithin, waitersAreServed } from "../../invariants/budgets.ts"
import { type Invariant, TraceWatch, type Violation } from "../../invariants/mod.ts"
import { hearRejections } from "../machines/rejections.ts"
import { setTraps } from "../machines/traps.ts"
import type { Plan } from "../plan/plan.ts"
import { ReachedNames } from "../report/sometimes.ts"
import { runFleet, type SimulatedFleetParts } from "./fleet.ts"

/** What came of one run. */
export interface Run {
  readonly hash: string
  readonly lines: number
  readonly requests: number
  /** Simulated time, in milliseconds. */
  readonly ms: number
  readonly violations: readonly Violation[]
  /** What it came to. */
  readonly reached: ReadonlySet<string>
}

/** What a run is made of beside its plan, and what is asked of it. */
export type RunParts<S, C> = Pick<
  SimulatedFleetParts<S, C>,
  "sandbox" | "former" | "workload" | "afterwards" | "budget"
> & {
  readonly invariants: readonly Invariant[]
  /** Gets the states of the trace, as they come. */
  readonly onState?: ((line: StateLine) => void) | undefined
}

/** Runs a plan once, under traps, and watches. Where somebody gets its lines, as for a report, errors have stacks. */
export async function runOnce<S, C>(
  plan: Plan,
  parts: RunParts<S, C>,
  onLine?: (line: TraceLine) => void,
): Promise<Run> {
  const hash = new TraceHash()
  const reached = new ReachedNames()
  const watch = new TraceWatch(parts.invariants.map((each) => (each === waitersAreServed ? servedIn(plan) : each)))
  let lines = 0
  let requests = 0
  let at = 0
  void liveClock.bootId // of this machine, with whose no simulated boot is confused: looked up once, by its own clock
  using traps = setTraps()
  using rejections = hearRejections()
  using _stacks = stacksOf(onLine === undefined ? 0 : 4)
  const ms = await runFleet(plan, {
    ...parts,
    onLine: (line) => {
      lines++
      at = line.at
      if (line.kind === "request") requests++
      if (line.kind === "state") parts.onState?.(line)
      hash.add(line)
      reached.line(line)
      watch.line(line)
      onLine?.(line)
    },
    onFailure: (invariant, message) => void watch.violations.push(ofRun(invariant, message, at, lines - 1)),
  })
  watch.end()
  const trapped = traps.calls.map(({ what, caller }) =>
    ofRun("no time and chance of the machine's own", `${what} was called by ${caller}`, at, lines - 1),
  )
  const unheard = rejections.reasons.map((reason) =>
    ofRun(
      "no unhandled rejection",
      reason instanceof Error ? (reason.stack ?? reason.message) : String(reason),
      at,
      lines - 1,
    ),
  )
  const violations = unique([...trapped, ...unheard, ...watch.violations])
  return { hash: hash.hex(), lines, requests, ms, violations, reached: reached.names }
}

/**
 * Who waits is served once the owner has restored, stayed its time, settled, saved and closed, each hook as slow as it
 * may be and one of them a little slower; or once its lease is over. The rest is requests.
 */
const servedIn = ({ times }: Plan): Invariant =>
  servedWithin(
    times.restoreWithin + times.minTenure + 3 * times.settleWithin + times.checkpointWithin + times.ttl + 15_000,
  )

/** What no line of the trace tells. */
const ofRun = (invariant: string, message: string, at: number, line: number): Violation => ({
  ...{ invariant, message, at, line },
  workers: [],
})

/** Each once: what is wrong all the time would otherwise be all that a report says. */
const unique = (violations: readonly Violation[]): readonly Violation[] => [
  ...new Map(violations.map((each) => [`${each.invariant}: ${each.message}`, each])).values(),
]

/** Errors are made by the thousand, and looked at hardly ever: their stacks cost more than all else about them. */
function stacksOf(frames: number): Disposable {
  const usual = Error.stackTraceLimit
  Error.stackTraceLimit = frames
  return { [Symbol.dispose]: () => void (Error.stackTraceLimit = usual) }
}
