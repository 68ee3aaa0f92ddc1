/**
 * A machine as an SVG: one file without outside resources, light and dark by the viewer's preference, the same bytes
 * for the same machine on every runtime.
 *
 * For pages that light it up: each state is a group with `data-state` (its path, the root's empty), each transition one
 * with `data-edge` (its id); the classes `lit` and `last` on them change how they look.
 */
import type { AnyStateMachine } from "xstate"
import { countOf, SHARED_NOTE } from "../machine/counts.ts"
import { type ChartGraph, ROOT } from "../machine/graph.ts"
import { readMachine } from "../machine/read-machine.ts"
import { shortened, xml } from "../text/visible.ts"
import { initialBlock, linkBlock, stateBlock } from "./labels.ts"
import { place } from "./layout.ts"
import { linksOf } from "./links.ts"
import { type ChartMarks, marksOf, type SvgOptions } from "./options.ts"
import type { PlacedDrawing } from "./placed.ts"
import { initialGroup, linkGroup, stateGroup } from "./shapes.ts"
import { chartStyle } from "./style.ts"

/** In characters: a machine's name in the title. */
const LONGEST_NAME = 80

/**
 * Draws the machine as SVG. Rejects with InvalidConfigError for what is no machine of XState 5, for options that the
 * machine has no states or transitions for, and where elkjs isn't installed.
 */
export async function toSvg(machine: AnyStateMachine, options: SvgOptions = {}): Promise<string> {
  const graph = readMachine(machine)
  const marks = marksOf(graph, options)
  return rendered(graph, marks, await placed(graph, marks))
}

/** Where everything of such a drawing stands. */
export function placed(graph: ChartGraph, marks: ChartMarks): Promise<PlacedDrawing> {
  const links = linksOf(graph)
  const count = countOf(marks.times)
  const notes = marks.times?.isShared === true ? [SHARED_NOTE] : []
  return place({
    graph,
    links,
    stateBlock: (state) => stateBlock(graph, state, count, state.path === ROOT ? notes : []),
    linkBlock: (link) => linkBlock(link, count),
    initialBlock,
    direction: marks.direction,
  })
}

function rendered(
  graph: ChartGraph,
  marks: ChartMarks,
  { width, height, states, links, initials }: PlacedDrawing,
): string {
  const name = xml(shortened(graph.name, LONGEST_NAME))
  const about = `State chart ${name}: ${graph.states.size - 1} states and ${graph.edges.size} transitions.`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="leasehold-chart" role="img" aria-label="${about}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<title>${name}</title>`,
    `<desc>${about}</desc>`,
    `<style>\n${chartStyle}\n</style>`,
    ...states.map((state) => stateGroup(graph, marks, state)),
    ...initials.map(initialGroup),
    ...links.map((link) => linkGroup(marks, link)),
    "</svg>\n",
  ].join("\n")
}
