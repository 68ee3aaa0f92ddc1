/** One seed: its plan run twice, the traces compared, what happened judged. */
import type { TraceLine } from "../../inspector/trace.ts"
import { TraceHash } from "../../runtime/hash.ts"
import { type FleetParts, runFleet } from "./fleet.ts"
import type { Plan } from "./plan.ts"
import { Reached } from "./sometimes.ts"
import { setTraps } from "./traps.ts"

/** What went against an invariant. */
export interface Problem {
  readonly invariant: string
  readonly message: string
}

/** What came of one run. */
export interface Run {
  readonly hash: string
  readonly lines: number
  readonly requests: number
  /** Simulated time, in milliseconds. */
  readonly ms: number
  readonly problems: readonly Problem[]
  /** What it came to. */
  readonly reached: ReadonlySet<string>
}

/** Runs a plan once, under traps. */
export async function runOnce<S, C>(
  plan: Plan,
  parts: Pick<FleetParts<S, C>, "sandbox" | "workload" | "afterwards" | "budget">,
  onLine: (line: TraceLine) => void = () => {},
): Promise<Run> {
  const hash = new TraceHash()
  const problems: Problem[] = []
  const reached = new Reached()
  let lines = 0
  let requests = 0
  using traps = setTraps()
  using _shallow = shallowStacks()
  const ms = await runFleet(plan, {
    ...parts,
    onLine: (line) => {
      lines++
      if (line.kind === "request") requests++
      hash.add(line)
      reached.line(line)
      onLine(line)
    },
    onFailure: (invariant, message) => void problems.push({ invariant, message }),
  })
  const trapped = traps.calls.map(({ what, caller }) => ({
    invariant: "no time and chance of the machine's own",
    message: `${what} was called by ${caller}`,
  }))
  return { hash: hash.hex(), lines, requests, ms, problems: unique([...trapped, ...problems]), reached: reached.names }
}

/** Each once: what is wrong all the time would otherwise be all that a report says. */
const unique = (problems: readonly Problem[]): readonly Problem[] => [
  ...new Map(problems.map((problem) => [`${problem.invariant}: ${problem.message}`, problem])).values(),
]

/** Errors are made by the thousand, and looked at hardly ever: their stacks cost more than all else about them. */
function shallowStacks(): Disposable {
  const usual = Error.stackTraceLimit
  Error.stackTraceLimit = 4
  return { [Symbol.dispose]: () => void (Error.stackTraceLimit = usual) }
}
