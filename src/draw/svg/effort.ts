/**
 * Whether a machine is too entangled for the layout that looks best. That one takes a time that grows with the cube of
 * what is beside each other and recurses as deep: 60 states with 120 lines between them took 68 s. The machine alone
 * decides, never the time it took, so that every runtime draws alike.
 */
import { type ChartGraph, lineageOf, stateOf } from "../machine/graph.ts"
import type { Link } from "./links.ts"

/** States in one state, times the lines among and into them: up to here the best layout takes about a second. */
const MOST = 700

/** Whether the states of one state are too many and have too many lines. */
export function isEntangled(graph: ChartGraph, links: readonly Link[]): boolean {
  const lines = new Map<string, number>()
  for (const { source, target } of links) {
    const [from, to] = [lineageOf(graph, source), lineageOf(graph, target)]
    const shared = from.filter((path, index) => path === to[index])
    for (const path of new Set([...from, ...to])) {
      const isAbove = shared.includes(path) && path !== shared.at(-1)
      if (!isAbove) lines.set(path, (lines.get(path) ?? 0) + 1)
    }
  }
  return [...lines].some(([path, count]) => stateOf(graph, path).children.length * count > MOST)
}
