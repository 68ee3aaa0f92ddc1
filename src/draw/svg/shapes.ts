/** The groups of an SVG drawing: a state, the way to a first state, a line with its transitions. */
import { isTaken, timesWords } from "../machine/counts.ts"
import { type ChartEdge, type ChartGraph, type ChartState, ROOT, stateOf } from "../machine/graph.ts"
import { xml } from "../text/visible.ts"
import { type Point, type Rect, round } from "./geometry.ts"
import type { TextLine } from "./labels.ts"
import { DOT_RADIUS } from "./layout.ts"
import type { ChartMarks } from "./options.ts"
import type { PlacedBlock, PlacedInitial, PlacedLink, PlacedState } from "./placed.ts"

/** In pixels: the corners of boxes and lines, and how far the second border of a final state is from the first. */
const [BOX_CORNER, LINE_CORNER, SECOND_BORDER] = [7, 6, 3]
/** In pixels: how long and how wide, to either side, an arrow's head is. */
const [HEAD_LENGTH, HEAD_WIDTH] = [8, 3.5]

const classes = (...names: readonly (string | false | undefined)[]): string =>
  names.filter((name) => name !== false && name !== undefined).join(" ")

/** A state: its box, its texts, and the transitions that stay in it. */
export function stateGroup(graph: ChartGraph, marks: ChartMarks, { state, box, head, depth }: PlacedState): string {
  const { path, type, children, history, description } = state
  const isRegion =
    state.parent !== undefined && stateOf(graph, state.parent).type === "parallel" && history === undefined
  const name = classes(
    ...["state", type, path === ROOT && "root", isRegion && "region"],
    children.length === 0 ? "leaf" : path !== ROOT && (depth % 2 === 1 ? "odd" : "even"),
    ...[path !== ROOT && marks.lit.has(path) && "lit", marks.passed.has(path) && "passed"],
  )
  const kind = history === undefined ? type : `${history} history`
  return [
    `<g class="${name}" data-state="${xml(path)}">`,
    `<title>${xml([path === ROOT ? state.key : path, kind, description ?? ""].filter(Boolean).join(" – "))}</title>`,
    boxOf(state, box),
    ruleOf(state, box, head),
    ...textsOf(head, (id) => edgeAttributes(graph, marks, id, "inner")),
    "</g>",
  ]
    .filter(Boolean)
    .join("\n")
}

function boxOf({ type, history }: ChartState, box: Rect): string {
  if (history !== undefined) return rectangle("box", box, box.height / 2)
  const border = rectangle("box", box, BOX_CORNER)
  if (type !== "final") return border
  const { x, y, width, height } = box
  const inner = {
    x: x + SECOND_BORDER,
    y: y + SECOND_BORDER,
    width: width - 2 * SECOND_BORDER,
    height: height - 2 * SECOND_BORDER,
  }
  return `${border}\n${rectangle("inner-box", inner, BOX_CORNER - SECOND_BORDER)}`
}

const rectangle = (name: string, { x, y, width, height }: Rect, corner: number): string =>
  `<rect class="${name}" x="${x}" y="${y}" width="${width}" height="${height}" rx="${corner}"/>`

/** Between a leaf's title and its rows. A state with others in it has room enough around its head. */
function ruleOf({ children }: ChartState, box: Rect, { y, block }: PlacedBlock): string {
  if (block.rule === undefined || children.length > 0) return ""
  const at = round(y + block.rule)
  return `<line class="rule" x1="${box.x}" y1="${at}" x2="${box.x + box.width}" y2="${at}"/>`
}

/** The dot and the arrow to a state's first. */
export function initialGroup({ dot, points, label }: PlacedInitial): string {
  return [
    `<g class="initial">`,
    `<circle class="dot" cx="${dot.x}" cy="${dot.y}" r="${DOT_RADIUS}"/>`,
    ...arrow(points),
    ...(label === undefined ? [] : [ground(label), ...textsOf(label, () => undefined)]),
    "</g>",
  ].join("\n")
}

/** A line between states, with a row for each of its transitions. */
export function linkGroup(marks: ChartMarks, { link, points, label }: PlacedLink): string {
  const ids = link.edges.map(({ id }) => id)
  const { times } = marks
  const name = classes(
    "link",
    ids.some((id) => marks.litEdges.has(id)) && "lit",
    marks.last !== undefined && ids.includes(marks.last) && "last",
    times !== undefined && link.edges.every((edge) => isSeen(edge) && !isTaken(times.of(edge.id))) && "untaken",
  )
  const edges = new Map(link.edges.map((edge) => [edge.id, edge]))
  const rows = label === undefined ? [] : textsOf(label, (id) => attributesOf(marks, edges.get(id), undefined))
  const untold = link.edges.filter((edge) => !link.told.includes(edge))
  return [
    `<g class="${name}">`,
    ...arrow(points),
    ...(label === undefined ? [] : [ground(label)]),
    ...rows,
    ...untold.map((edge) => `<g ${attributesOf(marks, edge, undefined)?.attributes ?? ""}></g>`),
    "</g>",
  ].join("\n")
}

interface Attributes {
  readonly attributes: string
  readonly title: string
}

const edgeAttributes = (graph: ChartGraph, marks: ChartMarks, id: string, more: string): Attributes | undefined =>
  attributesOf(marks, graph.edges.get(id), more)

function attributesOf(
  marks: ChartMarks,
  edge: ChartEdge | undefined,
  more: string | undefined,
): Attributes | undefined {
  if (edge === undefined) return undefined
  const { id } = edge
  const times = marks.times?.of(id)
  const name = classes(
    ...["edge", more, marks.litEdges.has(id) && "lit", marks.last === id && "last"],
    times !== undefined && !isTaken(times) && isSeen(edge) && "untaken",
  )
  return { attributes: `class="${name}" data-edge="${xml(id)}"`, title: edgeWords(edge, times && timesWords(times)) }
}

/** States don't tell of a transition that changes none, so that one isn't called untaken. */
const isSeen = ({ source, targets }: ChartEdge): boolean => targets.some((target) => target !== source)

/** All that is known of a transition, for a tooltip: nothing is cut here. */
function edgeWords(
  { source, targets, event, guard, actions, description }: ChartEdge,
  times: string | undefined,
): string {
  const way = `${source} → ${targets.join(", ") || "stays"}`
  return [
    way,
    guard === undefined ? event : `${event} [${guard}]`,
    actions.length === 0 ? "" : `/ ${actions.join(", ")}`,
    description ?? "",
    times ?? "",
  ]
    .filter(Boolean)
    .join(" – ")
}

/** The lines of a block, those of one transition in one group. */
function textsOf({ x, y, block }: PlacedBlock, attributes: (id: string) => Attributes | undefined): readonly string[] {
  const texts: string[] = []
  let open: string | undefined
  for (const { runs, baseline, edge } of block.lines) {
    if (edge !== open) {
      if (open !== undefined) texts.push("</g>")
      const about = edge === undefined ? undefined : attributes(edge)
      if (about !== undefined) texts.push(`<g ${about.attributes}>`, `<title>${xml(about.title)}</title>`)
      open = about === undefined ? undefined : edge
    }
    texts.push(...runs.map((run) => textOf(run, x, y + baseline)))
  }
  return open === undefined ? texts : [...texts, "</g>"]
}

/** In a viewer without these fonts `textLength` makes another one as wide. */
const textOf = ({ text, look, x, width }: TextLine["runs"][number], left: number, baseline: number): string =>
  `<text class="${look}" x="${tenth(left + x)}" y="${baseline}" textLength="${tenth(width)}" lengthAdjust="spacingAndGlyphs">${xml(text)}</text>`

const tenth = (value: number): number => Math.round(value * 10) / 10

/** What keeps the line from going through its texts. */
const ground = ({ x, y, block: { width, height } }: PlacedBlock): string =>
  rectangle("ground", { x, y, width: tenth(width), height }, 4)

function arrow(points: readonly Point[]): readonly string[] {
  const tip = points.at(-1)
  const before = points.at(-2)
  if (tip === undefined || before === undefined) return []
  const length = Math.hypot(tip.x - before.x, tip.y - before.y) || 1
  const [dx, dy] = [(tip.x - before.x) / length, (tip.y - before.y) / length]
  const foot = { x: tip.x - dx * HEAD_LENGTH, y: tip.y - dy * HEAD_LENGTH }
  const [left, right] = [1, -1].map((side) => ({
    x: tenth(foot.x - dy * HEAD_WIDTH * side),
    y: tenth(foot.y + dx * HEAD_WIDTH * side),
  })) as [Point, Point]
  // The line ends within the head: a thick one would stand out at its tip.
  const end = { x: tenth(tip.x - dx * (HEAD_LENGTH - 2)), y: tenth(tip.y - dy * (HEAD_LENGTH - 2)) }
  return [
    `<path class="line" d="${rounded([...points.slice(0, -1), end])}"/>`,
    `<path class="head" d="M${tip.x} ${tip.y}L${left.x} ${left.y}L${right.x} ${right.y}Z"/>`,
  ]
}

/** A line with round corners. */
function rounded(points: readonly Point[]): string {
  const [first, ...rest] = points
  if (first === undefined) return ""
  const parts = rest.map((corner, index) => {
    const [before, after] = [points[index], rest[index + 1]]
    if (before === undefined || after === undefined) return `L${corner.x} ${corner.y}`
    const radius = Math.min(LINE_CORNER, distance(before, corner) / 2, distance(corner, after) / 2)
    const [from, to] = [towards(corner, before, radius), towards(corner, after, radius)]
    return `L${from.x} ${from.y}Q${corner.x} ${corner.y} ${to.x} ${to.y}`
  })
  return `M${first.x} ${first.y}${parts.join("")}`
}

const distance = (a: Point, b: Point): number => Math.hypot(a.x - b.x, a.y - b.y)

function towards(from: Point, to: Point, by: number): Point {
  const length = distance(from, to) || 1
  return { x: tenth(from.x + ((to.x - from.x) / length) * by), y: tenth(from.y + ((to.y - from.y) / length) * by) }
}
