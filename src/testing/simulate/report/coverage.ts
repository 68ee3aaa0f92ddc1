/**
 * Which states and transitions of the sandbox chart runs have come to, told by the states in their traces. A transition
 * is known by where it leads from and to; one that comes back to where it was can't be seen, and isn't asked for.
 */
import type { StateNode } from "xstate"
import { sandboxChart } from "../../../actors/chart/chart.ts"
import type { StateLine } from "../../../trace/trace.ts"

interface ChartMove {
  readonly name: string
  readonly from: string
  readonly to: string
}

type Node = StateNode<never, never>

const pathOf = (node: Node): string => node.path.join(".")

/** Every node below, in the order of the chart. */
const nodesOf = (node: Node): readonly Node[] =>
  Object.values(node.states as Record<string, Node>).flatMap((child) => [child, ...nodesOf(child)])

const nodes = nodesOf(sandboxChart.root as unknown as Node)

/** No moment of a run is in one that is left at once, whatever holds. */
const isStay = (node: Node): boolean => !(node.always ?? []).some(({ guard }) => guard === undefined)

const states: readonly string[] = nodes
  .filter((node) => Object.keys(node.states).length === 0 && isStay(node))
  .map(pathOf)

const moves: readonly ChartMove[] = nodes.flatMap((node) => {
  const all = [...node.transitions.values()].flat()
  return all.flatMap(({ target = [] }) =>
    (target as readonly Node[]).flatMap((to) => {
      const move = { from: pathOf(node), to: pathOf(to) }
      return move.from === move.to ? [] : [{ ...move, name: `${move.from} -> ${move.to}` }]
    }),
  )
})

/**
 * What no fleet comes to, though the chart draws it and other ways lead there
 * (tests/testing/simulate/report/coverage.test.ts goes them): a lock that is made elsewhere may cancel by itself, or
 * keep nobody's time; and a process may begin to drain in the very turn of the event loop in which a lock settles.
 * Locks of ours cancel only when the chart asks for it, which then is in `reconciling`, and end before the chart's own
 * time for the acquire is over; whatever befalls a process of a fleet, or comes to it, comes in a turn of its own. And
 * only where more sandboxes leave at once than a store answers requests does one wait for its turn to be saved
 * (tests/testing/simulate/load.test.ts).
 */
export const outOfReach: ReadonlySet<string> = new Set([
  "acquiring.trying -> released.cancelled",
  "waiting.watching -> released.cancelled",
  "acquiring.reconciling -> released.timedOut",
  "acquiring.reconciling -> handingOff.work.releasing",
  "handingOff.work.queued",
  "handingOff.work.settling -> handingOff.work.queued",
  "handingOff.work.stuck -> handingOff.work.queued",
  "handingOff.work.queued -> handingOff.work.checkpointing",
  "handingOff.work.queued -> handingOff.work.releasing",
])

/** The names of all states and transitions that runs can come to and that can be seen. */
export const chartParts: readonly string[] = [
  ...new Set([...states, ...moves.map(({ name }) => name)].filter((name) => !outOfReach.has(name))),
]

/** Watches the states of a trace. */
export class ChartCoverage {
  readonly #last = new Map<string, ReadonlySet<string>>()

  /** What this state, and the way to it, add to what was reached. */
  reached({ worker, key, value }: StateLine): readonly string[] {
    const name = `${worker} ${key}`
    const before = this.#last.get(name)
    const now = new Set(pathsOf(value))
    this.#last.set(name, now)
    const here = states.filter((state) => now.has(state))
    if (before === undefined) return here
    const ways = moves.filter(({ from, to }) => before.has(from) && now.has(to) && !(before.has(to) && now.has(from)))
    return [...here, ...ways.map((move) => move.name)]
  }
}

function pathsOf(value: string | object, prefix = ""): string[] {
  if (typeof value === "string") return [`${prefix}${value}`]
  return Object.entries(value as Record<string, string | object>).flatMap(([name, inner]) => [
    `${prefix}${name}`,
    ...pathsOf(inner, `${prefix}${name}.`),
  ])
}
