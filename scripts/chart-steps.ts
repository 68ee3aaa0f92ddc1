/**
 * Which transitions of the sandbox chart lead from one of its innermost states to another: a table for the live page,
 * which has no machine to ask. `npm run page` makes it from the chart.
 */
import { sandboxChart } from "../src/actors/chart/chart.ts"
import { edgesTaken } from "../src/draw/machine/edges-taken.ts"
import { partsOf, stepBetween } from "../src/inspector/live/model/states.ts"
import type { SandboxStateValue } from "../src/trace/state-value.ts"

/** By step, `from>to`: the ids of the transitions that may have led there, and whether each surely did. */
export type ChartSteps = Readonly<Record<string, { readonly ids: readonly string[]; readonly isSure: boolean }>>

const leases = ["healthy", "degraded", "suspect"] as const

/** Every state that the chart can be in. */
const values: readonly SandboxStateValue[] = [
  ...(["backingOff", "trying", "reconciling"] as const).map((acquiring) => ({ acquiring })),
  { waiting: "watching" },
  ...leases.flatMap((lease) => (["restoring", "running"] as const).map((work) => ({ owning: { work, lease } }))),
  ...leases.flatMap((lease) =>
    (["settling", "stuck", "queued", "checkpointing", "releasing"] as const).map((work) => ({
      handingOff: { work, lease },
    })),
  ),
  ...(["clean", "handedOff", "lost", "contended", "timedOut", "cancelled", "failed"] as const).map((released) => ({
    released,
  })),
]

/** Work and lease go on at once: what the lease did meanwhile is a step of its own. */
function isTwofold(from: SandboxStateValue, to: SandboxStateValue): boolean {
  const [before, after] = [partsOf(from), partsOf(to)]
  const isWorkSame = before.top === after.top && before.work === after.work
  return !isWorkSame && after.lease !== null && after.lease !== (before.lease ?? "healthy")
}

/** The table. */
export function chartSteps(): ChartSteps {
  const steps = new Map<string, { ids: Set<string>; isSure: boolean }>()
  for (const from of values) {
    for (const to of values) {
      const step = stepBetween(partsOf(from), partsOf(to))
      if (step === null || isTwofold(from, to)) continue
      const { taken, ambiguous, from: how } = edgesTaken(sandboxChart, from, to)
      if (how !== "step") continue
      const known = steps.get(step)
      const ids = [...taken, ...ambiguous]
      const isSame = known === undefined || ids.every((id) => known.ids.has(id))
      const isSure = ambiguous.length === 0 && isSame && (known?.isSure ?? true)
      steps.set(step, { ids: new Set([...(known?.ids ?? []), ...ids]), isSure })
    }
  }
  return Object.fromEntries([...steps].map(([step, { ids, isSure }]) => [step, { ids: [...ids], isSure }]))
}
