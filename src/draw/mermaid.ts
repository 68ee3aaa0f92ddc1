/**
 * A machine as a Mermaid `stateDiagram-v2`, which GitHub and others draw. Mermaid has no sign for these, which stand in
 * notes:
 *
 * - what a state does on entry and exit;
 * - transitions without a change of state, and those from a state into itself or into a state in it, by which Mermaid's
 *   layout fails;
 * - what history states remember.
 *
 * Not promised: that Mermaid's layout is pretty, or that it draws every machine.
 */
import type { AnyStateMachine } from "xstate"
import { refuseUnknown } from "../runtime/input/options.ts"
import { countChecks, type CountOf, countOf, type CountOptions, timesOf } from "./machine/counts.ts"
import {
  type ChartEdge,
  type ChartGraph,
  type ChartState,
  isWithin,
  lineageOf,
  ROOT,
  stateOf,
} from "./machine/graph.ts"
import { readMachine } from "./machine/read-machine.ts"
import { mermaidIds, mermaidText } from "./mermaid-text.ts"

interface Sketch {
  readonly graph: ChartGraph
  readonly ids: ReadonlyMap<string, string>
  readonly count: CountOf
  /** The transitions that are drawn, by the innermost state that has both their ends. */
  readonly drawn: ReadonlyMap<string, readonly Arrow[]>
}

interface Arrow {
  readonly edge: ChartEdge
  readonly target: string
}

/**
 * Draws the machine as Mermaid. Throws InvalidConfigError for what is no machine of XState 5, for unknown options, and
 * for counts of transitions that it hasn't.
 */
export function toMermaid(machine: AnyStateMachine, options: CountOptions = {}): string {
  refuseUnknown("toMermaid", options, countChecks)
  const graph = readMachine(machine)
  const sketch = { graph, ids: mermaidIds(graph), drawn: drawnOf(graph), count: countOf(timesOf(graph, options)) }
  const root = stateOf(graph, ROOT)
  // The root is drawn only where it has something of its own to tell: otherwise its states are the diagram.
  const isTold = notesOf(sketch, root).length > 0 || root.type === "parallel" || root.children.length === 0
  const body = isTold ? stateLines(sketch, root) : inside(sketch, root)
  return `${["stateDiagram-v2", ...body.map(indented)].join("\n")}\n`
}

const indented = (line: string): string => `    ${line}`

const idOf = ({ ids }: Sketch, path: string): string => ids.get(path) ?? ""

function drawnOf(graph: ChartGraph): ReadonlyMap<string, readonly Arrow[]> {
  const drawn = new Map<string, Arrow[]>()
  for (const edge of graph.edges.values()) {
    for (const target of new Set(edge.targets)) {
      if (isNoted(graph, edge, target)) continue
      const around = innermostOf(graph, edge.source, target)
      const arrows = drawn.get(around) ?? []
      drawn.set(around, [...arrows, { edge, target }])
    }
  }
  return drawn
}

/** A state with states in it has no arrow to itself, nor into itself, nor has one of those an arrow to it. */
function isNoted(graph: ChartGraph, { source }: ChartEdge, target: string): boolean {
  if (source === target) return source === ROOT || stateOf(graph, source).children.length > 0
  return isWithin(graph, target, source) || isWithin(graph, source, target)
}

function innermostOf(graph: ChartGraph, source: string, target: string): string {
  const [from, to] = [lineageOf(graph, source), lineageOf(graph, target)]
  return from.findLast((path, index) => path === to[index] && path !== source && path !== target) ?? ROOT
}

function stateLines(sketch: Sketch, state: ChartState): readonly string[] {
  const id = idOf(sketch, state.path)
  const declared = `state "${mermaidText(state.key)}" as ${id}`
  const lines =
    state.children.length === 0 ? [declared] : [`${declared} {`, ...inside(sketch, state).map(indented), "}"]
  const notes = notesOf(sketch, state)
  const note = notes.length === 0 ? [] : [`note right of ${id}`, ...notes.map(mermaidText).map(indented), "end note"]
  // An arrow from one region to another stands outside of both.
  const across = state.type === "parallel" ? arrowLines(sketch, state) : []
  return [...lines, ...(state.type === "final" ? [`${id} --> [*]`] : []), ...note, ...across]
}

function inside(sketch: Sketch, state: ChartState): readonly string[] {
  const children = state.children.map((path) => stateOf(sketch.graph, path))
  if (state.type === "parallel") {
    const histories = children.filter(({ type }) => type === "history").flatMap((child) => stateLines(sketch, child))
    const regions = children.filter(({ type }) => type !== "history").map((child) => stateLines(sketch, child))
    return [...histories, ...regions.flatMap((lines, index) => (index === 0 ? lines : ["--", ...lines]))]
  }
  const start = state.initial === undefined ? [] : [`[*] --> ${idOf(sketch, state.initial)}${initialText(state)}`]
  return [...start, ...children.flatMap((child) => stateLines(sketch, child)), ...arrowLines(sketch, state)]
}

const arrowLines = (sketch: Sketch, { path }: ChartState): readonly string[] =>
  (sketch.drawn.get(path) ?? []).map(
    ({ edge, target }) =>
      `${idOf(sketch, edge.source)} --> ${idOf(sketch, target)} : ${mermaidText(edgeText(sketch, edge))}`,
  )

const initialText = ({ initialActions }: ChartState): string =>
  initialActions.length === 0 ? "" : ` : ${mermaidText(`/ ${initialActions.join(", ")}`)}`

function edgeText({ count }: Sketch, edge: ChartEdge): string {
  const { event, guard, actions, reenter } = edge
  return [
    event,
    count(edge) ?? "",
    guard === undefined ? "" : `[${guard}]`,
    actions.length === 0 ? "" : `/ ${actions.join(", ")}`,
    reenter ? "(reenters)" : "",
  ]
    .filter(Boolean)
    .join(" ")
}

function notesOf(sketch: Sketch, state: ChartState): readonly string[] {
  const { graph } = sketch
  const { path, description, invokes, entry, exit, tags, history } = state
  const listed = (word: string, names: readonly string[]): readonly string[] =>
    names.length === 0 ? [] : [`${word} / ${names.join(", ")}`]
  const edges = [...graph.edges.values()].filter(({ source }) => source === path)
  return [
    ...(history === undefined ? [] : [`${history} history`]),
    ...(description === undefined ? [] : [description]),
    ...listed("invoke", invokes),
    ...listed("entry", entry),
    ...listed("exit", exit),
    ...listed("tags", tags),
    ...edges.flatMap((edge) => {
      const targets = edge.targets.filter((target) => isNoted(graph, edge, target))
      if (edge.targets.length === 0) return [edgeText(sketch, edge)]
      return targets.map(
        (target) => `${edgeText(sketch, edge)} -> ${target === path ? "itself" : target || graph.name}`,
      )
    }),
  ]
}
