/** State values of XState, read as sets of active states of a graph. */
import type { StateValue } from "xstate"
import { refusal, shown } from "../../runtime/input/options.ts"
import { type ChartGraph, ROOT, stateOf } from "./graph.ts"
import { pathFrom } from "./paths.ts"

/** The paths of all active states, the root included, in the order of the graph. */
export type Configuration = ReadonlySet<string>

/** Reads a state value. Throws InvalidConfigError where it names a state that the machine hasn't. */
export function configurationOf(graph: ChartGraph, value: StateValue, name = "state"): Configuration {
  const active = new Set([ROOT])
  const visit = (inner: unknown, keys: readonly string[]): void => {
    if (typeof inner === "string") return enter([...keys, inner])
    if (typeof inner !== "object" || inner === null || Array.isArray(inner))
      throw refusal(
        `${name} is ${shown(inner)}, which is no state value`,
        "Give the value of a snapshot of this machine",
      )
    for (const [key, below] of Object.entries(inner)) {
      enter([...keys, key])
      visit(below, [...keys, key])
    }
  }
  const enter = (keys: readonly string[]): void => {
    const path = pathFrom(keys)
    if (!graph.states.has(path))
      throw refusal(
        `${name} has the state ${shown(path)}, which the machine hasn't`,
        "Give the value of one of its snapshots",
      )
    active.add(path)
  }
  visit(value, [])
  return ordered(graph, active)
}

/** The same for a value that has to name a state on each floor, and in each region, as those of snapshots do. */
export function wholeConfigurationOf(graph: ChartGraph, value: StateValue, name: string): Configuration {
  const active = configurationOf(graph, value, name)
  for (const path of active) {
    const { type, children } = stateOf(graph, path)
    const inside = children.filter((child) => stateOf(graph, child).type !== "history")
    const count = inside.filter((child) => active.has(child)).length
    const wanted = type === "parallel" ? inside.length : type === "compound" ? 1 : 0
    if (count === wanted) continue
    const where = path === ROOT ? "the machine" : shown(path)
    throw refusal(
      `${name} has ${count} states in ${where}, which is in ${wanted}`,
      "Give the value of one of its snapshots",
    )
  }
  return active
}

/** The states that are active, in the order of the graph: two equal configurations are listed alike. */
export const ordered = (graph: ChartGraph, active: Configuration): Configuration =>
  new Set([...graph.states.keys()].filter((path) => active.has(path)))

/** One text for each configuration. */
export const signatureOf = (active: Configuration): string => JSON.stringify([...active])

/** Adds the state and what is entered with it by default. */
export function enterDefault(graph: ChartGraph, path: string, active: Set<string>): void {
  active.add(path)
  const { type, initial, children } = stateOf(graph, path)
  if (type === "compound" && initial !== undefined) enterDefault(graph, initial, active)
  if (type !== "parallel") return
  for (const child of children) if (stateOf(graph, child).type !== "history") enterDefault(graph, child, active)
}
