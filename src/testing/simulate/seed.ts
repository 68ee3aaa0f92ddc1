/**
 * One seed: its plan run, once more where that is asked for, and judged; where it fails, fewer faults that fail too,
 * and the report.
 */
import { type StateLine, TRACE_VERSION, type TraceLine } from "../../trace/trace.ts"
import type { Violation } from "../invariants/mod.ts"
import type { SimulationSettings } from "./options.ts"
import { failureOf, type SimulationError } from "./plan/failure.ts"
import { drawPlan, type Plan } from "./plan/plan.ts"
import { shrink } from "./plan/shrink.ts"
import { type Run, runOnce } from "./run/run.ts"

/** What a seed has shown. */
export interface SeedResult {
  readonly seed: number
  readonly run: Run
  readonly error: SimulationError | undefined
}

/** Runs a seed. What fails is in the result. `onState` gets the states of its first run. */
export async function runSeed<S, C>(
  seed: number,
  settings: SimulationSettings<S, C>,
  onState?: (line: StateLine) => void,
): Promise<SeedResult> {
  const plan = planOf(seed, settings)
  const first = await runOnce(plan, { ...settings, onState })
  // The same lines would say the same again.
  const second = settings.isTwice(seed) ? await runOnce(plan, { ...settings, invariants: [] }) : first
  const violations = first.hash === second.hash ? first.violations : [...first.violations, unlike(first, second)]
  const error = violations.length === 0 ? undefined : await failed(plan, violations, settings)
  return { seed, run: first, error }
}

/** What befalls the fleet under a seed. */
export function planOf<S, C>(seed: number, settings: SimulationSettings<S, C>): Plan {
  const plan = drawPlan(seed, settings)
  return settings.script === undefined ? plan : { ...plan, faults: settings.script }
}

const unlike = (first: Run, second: Run): Violation => ({
  invariant: "the same seed gives the same run",
  message: `of two runs one is ${first.lines} lines with the hash ${first.hash}, the other ${second.lines} with ${second.hash}`,
  ...{ at: 0, line: 0, workers: [] },
})

async function failed<S, C>(
  plan: Plan,
  violations: readonly Violation[],
  settings: SimulationSettings<S, C>,
): Promise<SimulationError> {
  const { shrinkFor, reports, commit, rerun } = settings
  const broken = violations[0]!.invariant
  const fails = async (faults: Plan["faults"]): Promise<boolean> =>
    (await runOnce({ ...plan, faults }, settings)).violations.some(({ invariant }) => invariant === broken)
  const least = { ...plan, faults: shrinkFor > 0 ? await shrink(plan.faults, fails, shrinkFor) : plan.faults }
  const lines: TraceLine[] = []
  const again = await runOnce(least, settings, (line) => lines.push(line))
  return failureOf({
    header: { kind: "trace", version: TRACE_VERSION, source: "simulated", seed: plan.seed, commit: commit ?? null },
    ...{ plan: least, lines, reports, commit },
    drawn: plan.faults.length,
    violations: again.violations.some(({ invariant }) => invariant === broken) ? again.violations : violations,
    rerun: rerun(plan.seed),
  })
}
