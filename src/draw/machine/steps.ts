/**
 * The steps that a configuration allows, guards aside: the transitions of one event, or of none, in regions beside each
 * other.
 */
import type { Configuration } from "./configuration.ts"
import { type ChartEdge, type ChartGraph, isWithin, stateOf } from "./graph.ts"

/** Transitions that are taken at once. */
export type MachineStep = readonly ChartEdge[]

/**
 * Of steps of one configuration: with many regions that hear of one event there are more than anybody wants to look at.
 */
const MOST_STEPS = 512

/** All steps by transitions that `counts` accepts. */
export function combinations(
  graph: ChartGraph,
  active: Configuration,
  counts: (edge: ChartEdge) => boolean,
): readonly MachineStep[] {
  const byTrigger = new Map<string, ChartEdge[]>()
  for (const edge of graph.edges.values()) {
    if (!active.has(edge.source) || !counts(edge) || (isOfDone(edge) && !isDone(graph, active, edge.source))) continue
    const edges = byTrigger.get(edge.descriptor) ?? []
    byTrigger.set(edge.descriptor, [...edges, edge])
  }
  return [...byTrigger.values()].flatMap((edges) => subsets(graph, edges)).slice(0, MOST_STEPS)
}

/** What follows by itself when a state is done. */
export const isOfDone = ({ descriptor }: ChartEdge): boolean => descriptor.startsWith("xstate.done.state.")

/** A state is done in a final child, or once all its regions are. */
function isDone(graph: ChartGraph, active: Configuration, path: string): boolean {
  const { type, children } = stateOf(graph, path)
  const inside = children.map((child) => stateOf(graph, child)).filter((child) => child.type !== "history")
  if (type === "parallel") return inside.every((child) => isDone(graph, active, child.path))
  return inside.some((child) => child.type === "final" && active.has(child.path))
}

/** Every choice of transitions, at least one, of which none leaves what another begins in. */
function subsets(graph: ChartGraph, edges: readonly ChartEdge[]): readonly MachineStep[] {
  let steps: readonly MachineStep[] = []
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
