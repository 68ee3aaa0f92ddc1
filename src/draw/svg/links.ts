/**
 * The lines of a drawing: transitions with one source and one target share a line, and each has its own row on it. A
 * transition to several states has a line to each, and its row on the first.
 */
import type { ChartEdge, ChartGraph } from "../machine/graph.ts"

/** A line from one state to another. */
export interface Link {
  readonly source: string
  readonly target: string
  /** All transitions that go this way. */
  readonly edges: readonly ChartEdge[]
  /** Those whose row is on this line. */
  readonly told: readonly ChartEdge[]
}

/** The links of a graph, in the order of its transitions. */
export function linksOf(graph: ChartGraph): readonly Link[] {
  const links = new Map<string, { source: string; target: string; edges: ChartEdge[]; told: ChartEdge[] }>()
  for (const edge of graph.edges.values()) {
    for (const [index, target] of [...new Set(edge.targets)].entries()) {
      const key = JSON.stringify([edge.source, target])
      const link = links.get(key) ?? { source: edge.source, target, edges: [], told: [] }
      link.edges.push(edge)
      if (index === 0) link.told.push(edge)
      links.set(key, link)
    }
  }
  return [...links.values()]
}
