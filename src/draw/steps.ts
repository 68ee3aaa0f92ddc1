/** The steps that a configuration allows, guards aside: the transitions of one event, or of none, in regions beside each other. */
import type { Configuration } from "./configuration.ts"
import { type ChartEdge, type ChartGraph, isWithin } from "./graph.ts"

/** Transitions that are taken at once. */
export type Step = readonly ChartEdge[]

/** Of steps of one configuration: with many regions that hear of one event there are more than anybody wants to look at. */
const MOST_STEPS = 512

/** All steps by transitions that `counts` accepts. */
export function combinations(
  graph: ChartGraph,
  active: Configuration,
  counts: (edge: ChartEdge) => boolean,
): readonly Step[] {
  const byTrigger = new Map<string, ChartEdge[]>()
  for (const edge of graph.edges.values()) {
    if (!active.has(edge.source) || !counts(edge)) continue
    const edges = byTrigger.get(edge.descriptor) ?? []
    byTrigger.set(edge.descriptor, [...edges, edge])
  }
  return [...byTrigger.values()].flatMap((edges) => subsets(graph, edges)).slice(0, MOST_STEPS)
}

/** Every choice of transitions, at least one, of which none leaves what another begins in. */
function subsets(graph: ChartGraph, edges: readonly ChartEdge[]): readonly Step[] {
  let steps: readonly Step[] = []
  for (const edge of edges) {
    const joined = steps.filter((step) => step.every((other) => areBeside(graph, edge, other)))
    steps = [...steps, [edge], ...joined.map((step) => [...step, edge])].slice(0, MOST_STEPS)
  }
  return steps
}

const areBeside = (graph: ChartGraph, one: ChartEdge, other: ChartEdge): boolean =>
  !isWithin(graph, one.source, other.source) && !isWithin(graph, other.source, one.source)

/** Whether an event of this type may cause the transition; any, where the type isn't known. */
export function isTriggeredBy({ descriptor }: ChartEdge, event: string | undefined): boolean {
  if (event === undefined || descriptor === event || descriptor === "*") return true
  return descriptor.endsWith(".*") && (event === descriptor.slice(0, -2) || event.startsWith(descriptor.slice(0, -1)))
}
