/**
 * Where each state, line and text of a drawing stands. The graph and its blocks of text go to elkjs as boxes and edges;
 * what comes back is plain geometry, rounded to half a pixel. Texts in the head of a state that has others in it are
 * moved to where no line goes through them.
 *
 * Not promised: that a later elkjs lays out the same way. The version is pinned for that.
 */
import type { ElkExtendedEdge, ElkNode, ElkPoint, LayoutOptions } from "elkjs"
import { type ChartGraph, type ChartState, ROOT, stateOf } from "../machine/graph.ts"
import { isEntangled } from "./effort.ts"
import { layOut } from "./elk.ts"
import { type Point, type Rect, round } from "./geometry.ts"
import { placeHead } from "./heads.ts"
import type { Block } from "./labels.ts"
import type { Link } from "./links.ts"
import type { PlacedBlock, PlacedDrawing, PlacedInitial, PlacedLine, PlacedLink } from "./placed.ts"

/** Everything that is to be placed. */
export interface LayoutDraft {
  readonly graph: ChartGraph
  readonly links: readonly Link[]
  /** The texts of a state. */
  readonly stateBlock: (state: ChartState) => Block
  /** The texts of a line; undefined where it has none. */
  readonly linkBlock: (link: Link) => Block | undefined
  /** The texts on the way to a first state, likewise. */
  readonly initialBlock: (state: ChartState) => Block | undefined
  readonly direction: "down" | "right"
}

/** In pixels. */
export const DOT_RADIUS = 5
/** In pixels, around the states in a state. */
const INSIDE = 16
/** In pixels, around the whole drawing. */
const OUTSIDE = 8

const EVERYWHERE: LayoutOptions = {
  "elk.algorithm": "layered",
  "elk.hierarchyHandling": "INCLUDE_CHILDREN",
  "elk.edgeRouting": "ORTHOGONAL",
  "elk.json.shapeCoords": "ROOT",
  "elk.json.edgeCoords": "ROOT",
  "elk.layered.cycleBreaking.strategy": "DEPTH_FIRST",
  "elk.layered.edgeLabels.centerLabelPlacementStrategy": "SPACE_EFFICIENT_LAYER",
  // In pixels. Lines stand close, since each has its text on it; boxes are farther apart.
  "elk.spacing.nodeNode": "20",
  "elk.spacing.edgeNode": "12",
  "elk.spacing.edgeEdge": "9",
  "elk.spacing.nodeSelfLoop": "12",
  "elk.layered.spacing.nodeNodeBetweenLayers": "18",
  "elk.layered.spacing.edgeNodeBetweenLayers": "11",
  "elk.layered.spacing.edgeEdgeBetweenLayers": "7",
}

/** The first is narrower and has straighter lines, the second is for machines that the first takes minutes for. */
const PLACEMENTS = {
  best: { "elk.layered.nodePlacement.strategy": "NETWORK_SIMPLEX" },
  fast: { "elk.layered.nodePlacement.strategy": "BRANDES_KOEPF" },
} as const satisfies Record<string, LayoutOptions>

/** The line goes through the middle of its text, which has a ground of its own: nobody asks whose text it is. */
const ON_THE_LINE: LayoutOptions = { "elk.edgeLabels.inline": "true", "elk.edgeLabels.placement": "CENTER" }

/** Places everything. Rejects with InvalidConfigError where elkjs isn't installed. */
export async function place(draft: LayoutDraft): Promise<PlacedDrawing> {
  const first = read(draft, await layOut(elkGraph(draft, new Set())), new Set())
  if (first.crowded.size === 0) return first.placed
  // elkjs leads lines around boxes, not around the heads of boxes: a head without room is made a box of its own.
  return read(draft, await layOut(elkGraph(draft, first.crowded)), first.crowded).placed
}

/** Reads a layout. `boxed` heads have boxes of their own; `crowded` are those for which there is no room. */
function read(
  draft: LayoutDraft,
  root: ElkNode,
  boxed: ReadonlySet<string>,
): { placed: PlacedDrawing; crowded: Set<string> } {
  const boxes = boxesOf(root)
  const lines = linesOf(root)
  const links = draft.links.map((link, index) => placedLink(draft, link, lines.get(`link ${index}`)))
  const initials = initialsOf(draft, boxes, lines)
  const all = [...links, ...initials].map(({ points }) => points)
  const crowded = new Set<string>()
  const states = [...draft.graph.states.values()].map((state) => {
    const box = found(boxes.get(state.path), state.path)
    const block = draft.stateBlock(state)
    const own = boxed.has(state.path) ? boxes.get(headOf(state.path)) : undefined
    const head = own ?? (state.children.length === 0 ? middle(box, block) : placeHead(box, block, all))
    if (head === undefined) crowded.add(state.path)
    return { state, box, head: { x: head?.x ?? box.x, y: head?.y ?? box.y, block }, depth: depthOf(draft.graph, state) }
  })
  const size = { width: round(root.width ?? 0), height: round(root.height ?? 0) }
  return { placed: { ...size, states, links, initials }, crowded }
}

function elkGraph(draft: LayoutDraft, boxed: ReadonlySet<string>): ElkNode {
  const placement = isEntangled(draft.graph, draft.links) ? PLACEMENTS.fast : PLACEMENTS.best
  const options = { ...EVERYWHERE, ...placement, "elk.direction": draft.direction.toUpperCase() }
  const links = draft.links.map((link, index) => edge(`link ${index}`, link.source, link.target, draft.linkBlock(link)))
  const initials = [...draft.graph.states.values()].flatMap((state) =>
    state.initial === undefined
      ? []
      : [edge(`initial ${state.path}`, dotOf(state.path), state.initial, draft.initialBlock(state))],
  )
  return {
    id: "drawing",
    layoutOptions: { ...options, "elk.padding": padding(OUTSIDE, OUTSIDE) },
    children: [node(draft, stateOf(draft.graph, ROOT), options, boxed)],
    edges: [...links, ...initials],
  }
}

const nodeOf = (path: string): string => `state ${path}`
const dotOf = (path: string): string => `dot ${path}`

const headOf = (path: string): string => `head ${path}`

/** A head comes before the states below it. */
const FIRST: LayoutOptions = { "elk.layered.layering.layerConstraint": "FIRST" }

function node(draft: LayoutDraft, state: ChartState, options: LayoutOptions, boxed: ReadonlySet<string>): ElkNode {
  const { width, height } = draft.stateBlock(state)
  const id = nodeOf(state.path)
  if (state.children.length === 0) return { id, width, height }
  const isBoxed = boxed.has(state.path)
  const children = state.children.map((path) => node(draft, stateOf(draft.graph, path), options, boxed))
  const dot = { id: dotOf(state.path), width: 2 * DOT_RADIUS, height: 2 * DOT_RADIUS }
  const head = { id: headOf(state.path), width, height, layoutOptions: FIRST }
  return {
    id,
    children: [...(isBoxed ? [head] : []), ...(state.initial === undefined ? [] : [dot]), ...children],
    layoutOptions: {
      ...options,
      "elk.padding": padding(isBoxed ? INSIDE : height + INSIDE / 2, INSIDE),
      "elk.nodeSize.constraints": "MINIMUM_SIZE",
      "elk.nodeSize.minimum": `(${width},${height + INSIDE})`,
    },
  }
}

const padding = (top: number, other: number): string => `[top=${top},left=${other},bottom=${other},right=${other}]`

function edge(id: string, source: string, target: string, block: Block | undefined): ElkExtendedEdge {
  const labels =
    block === undefined ? [] : [{ text: id, width: block.width, height: block.height, layoutOptions: ON_THE_LINE }]
  const sources = [source.startsWith("dot ") && id.startsWith("initial ") ? source : nodeOf(source)]
  return { id, sources, targets: [nodeOf(target)], labels }
}

function boxesOf(root: ElkNode): ReadonlyMap<string, Rect> {
  const boxes = new Map<string, Rect>()
  const visit = ({ id, x = 0, y = 0, width = 0, height = 0, children = [] }: ElkNode): void => {
    boxes.set(id.startsWith("state ") ? id.slice("state ".length) : id, {
      ...{ x: round(x), y: round(y), width: round(width), height: round(height) },
    })
    for (const child of children) visit(child)
  }
  for (const child of root.children ?? []) visit(child)
  return boxes
}

function linesOf(root: ElkNode): ReadonlyMap<string, ElkExtendedEdge> {
  const lines = new Map<string, ElkExtendedEdge>()
  const visit = ({ edges = [], children = [] }: ElkNode): void => {
    for (const each of edges) lines.set(each.id, each)
    for (const child of children) visit(child)
  }
  visit(root)
  return lines
}

function placedLink(draft: LayoutDraft, link: Link, line: ElkExtendedEdge | undefined): PlacedLink {
  return { link, ...placedLine(line, draft.linkBlock(link)) }
}

function placedLine(line: ElkExtendedEdge | undefined, block: Block | undefined): PlacedLine {
  const [section] = line?.sections ?? []
  const { startPoint, endPoint, bendPoints = [] } = found(section, "a line")
  const [label] = line?.labels ?? []
  return {
    points: straightened([startPoint, ...bendPoints, endPoint].map(pointOf)),
    label: block === undefined || label === undefined ? undefined : { ...pointOf(label), block },
  }
}

const pointOf = ({ x = 0, y = 0 }: Partial<ElkPoint>): Point => ({ x: round(x), y: round(y) })

/** Without corners that are none. */
const straightened = (points: readonly Point[]): readonly Point[] =>
  points.filter((point, index) => {
    const [before, after] = [points[index - 1], points[index + 1]]
    if (before === undefined || after === undefined) return true
    const isVertical = before.x === point.x && point.x === after.x
    return !(isVertical || (before.y === point.y && point.y === after.y))
  })

function initialsOf(
  { graph, initialBlock }: LayoutDraft,
  boxes: ReadonlyMap<string, Rect>,
  lines: ReadonlyMap<string, ElkExtendedEdge>,
): readonly PlacedInitial[] {
  return [...graph.states.values()].flatMap((state) => {
    if (state.initial === undefined) return []
    const { x, y } = found(boxes.get(dotOf(state.path)), dotOf(state.path))
    const line = placedLine(lines.get(`initial ${state.path}`), initialBlock(state))
    return [{ state, dot: { x: x + DOT_RADIUS, y: y + DOT_RADIUS }, ...line }]
  })
}

const middle = (box: Rect, block: Block): PlacedBlock => ({
  x: round(box.x + (box.width - block.width) / 2),
  y: round(box.y + (box.height - block.height) / 2),
  block,
})

function depthOf(graph: ChartGraph, { parent }: ChartState): number {
  return parent === undefined ? 0 : 1 + depthOf(graph, stateOf(graph, parent))
}

function found<A>(value: A | undefined, what: string): A {
  if (value === undefined) throw new Error(`the layout has lost ${JSON.stringify(what)}`)
  return value
}
