/** What `toSvg` can be told, checked against the machine, and read as marks on its states and transitions. */
import type { StateValue } from "xstate"
import { aList, oneOf, refuseUnknown } from "../../runtime/input/options.ts"
import { configurationOf } from "../machine/configuration.ts"
import { countChecks, type CountOptions, type TakenTimes, timesOf, unknownId } from "../machine/counts.ts"
import type { ChartGraph } from "../machine/graph.ts"

/** What is lit, counted and told in a drawing. */
export interface SvgOptions extends CountOptions {
  /** The value of a snapshot: its states are lit. */
  readonly state?: StateValue
  /** What was passed, in order: ids of transitions, and paths of states. The last transition stands out. */
  readonly path?: readonly string[]
  /** Where it leads: `down` (the default) is narrower, `right` lower. */
  readonly direction?: "down" | "right"
}

/** What the drawing shows beside the machine. */
export interface ChartMarks {
  /** Paths of active states. */
  readonly lit: ReadonlySet<string>
  /** Paths of states that were passed. */
  readonly passed: ReadonlySet<string>
  /** Ids of transitions that were passed. */
  readonly litEdges: ReadonlySet<string>
  /** The last of them. */
  readonly last: string | undefined
  /** How often a transition was taken; undefined where nothing is counted. */
  readonly times: TakenTimes | undefined
  readonly direction: "down" | "right"
}

/** Reads the options. Throws InvalidConfigError for what the machine hasn't. */
export function marksOf(graph: ChartGraph, options: SvgOptions): ChartMarks {
  refuseUnknown("toSvg", options, { ...countChecks, state: true, path: aList, direction: true })
  const { state, path = [], direction = "down" } = options
  for (const id of path) {
    if (!graph.edges.has(id) && !graph.states.has(id)) throw unknownId("path", id)
  }
  const litEdges = path.filter((id) => graph.edges.has(id))
  return {
    lit: state === undefined ? new Set() : configurationOf(graph, state),
    passed: new Set(path.filter((id) => !graph.edges.has(id))),
    litEdges: new Set(litEdges),
    last: litEdges.at(-1),
    times: timesOf(graph, options),
    direction: oneOf("direction", direction, ["down", "right"]),
  }
}
