/**
 * How often each edge of the chart was taken: what the worker counted, or what the lines that are here tell. A line has
 * states alone; where several edges lead from one to the next, each of them counts as one that may have been taken.
 * Pure.
 */
import { chartSteps } from "chart-steps"
import type { LiveRow } from "../../live/model/live-row.ts"
import type { SandboxDetail } from "../../live/model/wire.ts"

/** How often one edge was taken. */
export interface EdgeTimes {
  /** At most so often. */
  readonly most: number
  /** Exactly so often. */
  readonly isSure: boolean
}

/** Counts by edge, and the last ones. */
export interface TakenEdges {
  readonly edges: ReadonlyMap<string, EdgeTimes>
  /** Of several one was taken. */
  readonly last: ReadonlySet<string>
}

/** Of this sandbox. */
export function edgesOf(row: LiveRow, detail: SandboxDetail | null): TakenEdges {
  const edges = new Map<string, EdgeTimes>()
  for (const [name, times] of Object.entries(detail?.edges ?? row.edges)) {
    const { ids, isSure } = idsOf(name)
    for (const id of ids) {
      const known = edges.get(id)
      edges.set(id, { most: (known?.most ?? 0) + times, isSure: isSure && (known?.isSure ?? true) })
    }
  }
  const last = detail?.lastEdge ?? row.lastEdge
  return { edges, last: new Set(last === null ? [] : idsOf(last).ids) }
}

/** None for a step that the chart hasn't: what others tell may be anything. */
const idsOf = (step: string): { readonly ids: readonly string[]; readonly isSure: boolean } =>
  Object.hasOwn(chartSteps, step) ? chartSteps[step]! : { ids: [], isSure: true }
