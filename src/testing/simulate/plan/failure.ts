/** What a simulation says when it has failed: what went wrong, under which faults, and how to see it again. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { timelineHtml } from "../../../inspector/timeline.ts"
import { traceTable } from "../../../trace/table.ts"
import { formatTrace } from "../../../trace/trace-text.ts"
import type { TraceHeader, TraceLine } from "../../../trace/trace.ts"
import type { Violation } from "../../invariants/mod.ts"
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

/** The error for a failure, whose trace and timeline are written to the reports' folder where there is one. */
export function failureOf(parts: FailureParts): SimulationError {
  const { reports, plan, header, lines } = parts
  if (reports !== undefined) {
    const [violation] = parts.violations
    mkdirSync(reports, { recursive: true })
    writeFileSync(`${pathOf(reports, plan)}.ndjson`, formatTrace({ header, lines }))
    const title = `seed ${plan.seed}: ${violation?.invariant ?? "failed"}`
    const page = timelineHtml({ header, lines }, { title, ...(violation !== undefined && { violation }) })
    writeFileSync(`${pathOf(reports, plan)}.html`, page)
  }
  return new SimulationError(parts)
}

const pathOf = (reports: string, { seed }: Plan): string => join(reports, `seed-${seed}`)

/** How many violations are told beside the first. */
const shown = 4
/** How many lines of the trace. */
const tableRows = 30

function messageOf({ plan, drawn, violations, rerun, commit, reports, lines }: FailureParts): string {
  const [first, ...more] = violations
  return [
    `seed ${plan.seed}: ${first?.invariant ?? "failed"}: ${first?.message ?? ""}`,
    ...more.slice(0, shown).map(({ invariant, message }) => `and     ${invariant}: ${message}`),
    ...(more.length > shown ? [`and     ${more.length - shown} more`] : []),
    ...(commit === undefined ? [] : [`commit: ${commit}`]),
    `again:  ${rerun}`,
    `faults: ${plan.faults.length} of ${drawn}`,
    ...plan.faults.map((fault) => `  ${faultText(fault)}`),
    ...(reports === undefined
      ? []
      : [`trace:  ${pathOf(reports, plan)}.ndjson`, `page:   ${pathOf(reports, plan)}.html`]),
    ...(first === undefined ? [] : ["", tableAt(lines, first)]),
  ].join("\n")
}

/** What led to a violation: of a key only what is about it. */
function tableAt(lines: readonly TraceLine[], { line, key }: Violation): string {
  const about = key?.includes("/") === true ? { key } : {}
  return traceTable({ lines }, { rows: tableRows, ...(line >= 0 && { to: line }), ...about })
}

const faultText = (fault: TimedFault): string => JSON.stringify(fault)
