/** What `toSvg` can be told, checked against the machine, and read as marks on its states and transitions. */
import type { StateValue } from "xstate"
import { aList, aNumber, type Check, oneOf, refusal, refuseUnknown, shown } from "../runtime/options.ts"
import { configurationOf } from "./configuration.ts"
import type { ChartEdge, ChartGraph } from "./graph.ts"

/** What is lit, counted and told in a drawing. */
export interface SvgOptions {
  /** The value of a snapshot: its states are lit. */
  readonly state?: StateValue
  /** What was passed, in order: ids of transitions, and paths of states. The last transition stands out. */
  readonly path?: readonly string[]
  /** How often each transition was taken, by its id. Those that are missing or 0 are dimmed. */
  readonly counts?: Readonly<Record<string, number>>
  /** Groups of transitions of which one was taken so many times, and nobody can tell which (`edgesTaken`). */
  readonly shared?: readonly SharedCount[]
  /** Where it leads: `down` (the default) is narrower, `right` lower. */
  readonly direction?: "down" | "right"
}

/** Transitions that lead from one state to another alike, and how often one of them was taken. */
export interface SharedCount {
  /** Their ids. */
  readonly edges: readonly string[]
  /** How often one of them was taken. */
  readonly times: number
}

/** What the drawing shows beside the machine. */
export interface Marks {
  /** Paths of active states. */
  readonly lit: ReadonlySet<string>
  /** Paths of states that were passed. */
  readonly passed: ReadonlySet<string>
  /** Ids of transitions that were passed. */
  readonly litEdges: ReadonlySet<string>
  /** The last of them. */
  readonly last: string | undefined
  /** How often a transition was taken; undefined where nothing is counted. */
  readonly times: ((id: string) => Times) | undefined
  readonly direction: "down" | "right"
}

/** How often a transition was taken: surely, and perhaps beside that. */
export interface Times {
  readonly sure: number
  readonly perhaps: number
}

const aRecord: Check = (name, value) => {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw refusal(`${name} is ${shown(value)}`, "Give an object with a number for each transition's id")
}

/** Reads the options. Throws InvalidConfigError for what the machine hasn't. */
export function marksOf(graph: ChartGraph, options: SvgOptions): Marks {
  refuseUnknown("toSvg", options, { state: true, path: aList, counts: aRecord, shared: aList, direction: true })
  const { state, path = [], counts, shared = [], direction = "down" } = options
  for (const id of path) {
    if (!graph.edges.has(id) && !graph.states.has(id)) throw unknown("path", id)
  }
  const litEdges = path.filter((id) => graph.edges.has(id))
  return {
    lit: state === undefined ? new Set() : configurationOf(graph, state),
    passed: new Set(path.filter((id) => !graph.edges.has(id))),
    litEdges: new Set(litEdges),
    last: litEdges.at(-1),
    times: counts === undefined && options.shared === undefined ? undefined : timesOf(graph, counts ?? {}, shared),
    direction: oneOf("direction", direction, ["down", "right"]),
  }
}

const unknown = (option: string, id: unknown): Error =>
  refusal(
    `${option} has ${shown(id)}, which is no transition of the machine, nor a state`,
    "Take ids from chartEdges(machine), and paths with dots between the keys",
  )

function timesOf(
  graph: ChartGraph,
  counts: Readonly<Record<string, number>>,
  shared: readonly SharedCount[],
): (id: string) => Times {
  for (const [id, times] of Object.entries(counts)) checkCount(graph, "counts", id, times)
  const perhaps = new Map<string, number>()
  for (const { edges, times } of shared) {
    for (const id of edges) {
      checkCount(graph, "shared", id, times)
      perhaps.set(id, (perhaps.get(id) ?? 0) + times)
    }
  }
  return (id) => ({ sure: Object.hasOwn(counts, id) ? (counts[id] ?? 0) : 0, perhaps: perhaps.get(id) ?? 0 })
}

function checkCount(graph: ChartGraph, option: string, id: string, times: number): void {
  if (!graph.edges.has(id)) throw unknown(option, id)
  aNumber(`${option} of ${id}`, times)
  if (times < 0) throw refusal(`${option} of ${id} is ${times}`, "Give 0 or more")
}

/** As a label says it: `×12`, `×12 +≤3`, `≤3`. */
export function timesWords({ sure, perhaps }: Times): string {
  if (perhaps === 0) return `×${sure}`
  return sure === 0 ? `≤${perhaps}` : `×${sure} +≤${perhaps}`
}

/** Whether it may have been taken at all. */
export const isTaken = ({ sure, perhaps }: Times): boolean => sure + perhaps > 0

/** How often an edge was taken, in the words of its label. */
export const countOf =
  ({ times }: Marks) =>
  ({ id }: ChartEdge): string | undefined => {
    if (times === undefined) return undefined
    const each = times(id)
    return isTaken(each) ? timesWords(each) : undefined
  }
