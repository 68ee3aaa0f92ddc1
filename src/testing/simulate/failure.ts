/** What a simulation says when it has failed: what went wrong, under which faults, and how to see it again. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { formatTrace } from "../../inspector/trace-text.ts"
import type { TraceHeader, TraceLine } from "../../inspector/trace.ts"
import type { Violation } from "../invariants/mod.ts"
import type { Plan, TimedFault } from "./plan.ts"

/** What a failure is made of. */
export interface FailureParts {
  readonly plan: Plan
  /** The drawn faults were so many; the plan's are what was left of them. */
  readonly drawn: number
  readonly violations: readonly Violation[]
  readonly header: TraceHeader
  readonly lines: readonly TraceLine[]
  readonly rerun: string
  readonly commit: string | undefined
  readonly reports: string | undefined
}

/** A simulation found what must not be. Its message is the whole report. */
export class SimulationError extends Error {
  /** The seed that failed. */
  readonly seed: number
  /** What went against which invariant, the first first. */
  readonly violations: readonly Violation[]
  /** The run, with the faults that were left when looking for fewer ended: its `faults` make a `script`. */
  readonly plan: Plan

  /** Writes nothing; `report` does. */
  constructor(parts: FailureParts) {
    super(messageOf(parts))
    this.name = "SimulationError"
    this.seed = parts.plan.seed
    this.violations = parts.violations
    this.plan = parts.plan
  }
}

/** The error for a failure, whose trace is written to the reports' folder where there is one. */
export function failureOf(parts: FailureParts): SimulationError {
  const { reports, plan, header, lines } = parts
  if (reports !== undefined) {
    mkdirSync(reports, { recursive: true })
    writeFileSync(traceFile(reports, plan), formatTrace({ header, lines }))
  }
  return new SimulationError(parts)
}

const traceFile = (reports: string, { seed }: Plan): string => join(reports, `seed-${seed}.ndjson`)

/** How many violations are told beside the first. */
const shown = 4

function messageOf({ plan, drawn, violations, rerun, commit, reports }: FailureParts): string {
  const [first, ...more] = violations
  return [
    `seed ${plan.seed}: ${first?.invariant ?? "failed"}: ${first?.message ?? ""}`,
    ...more.slice(0, shown).map(({ invariant, message }) => `and     ${invariant}: ${message}`),
    ...(more.length > shown ? [`and     ${more.length - shown} more`] : []),
    ...(commit === undefined ? [] : [`commit: ${commit}`]),
    `again:  ${rerun}`,
    `faults: ${plan.faults.length} of ${drawn}`,
    ...plan.faults.map((fault) => `  ${faultText(fault)}`),
    ...(reports === undefined ? [] : [`trace:  ${traceFile(reports, plan)}`]),
  ].join("\n")
}

const faultText = (fault: TimedFault): string => JSON.stringify(fault)
