/**
 * Which transitions lead from one state to another: what a list of states, as in a trace, tells of the way between
 * them. Guards, context and events aren't known then, so every transition counts that leads there. Pure.
 *
 * Not promised: a way through more than `MOST_STEPS` transitions without an event, nor one through a history state to
 * where it wasn't left. Transitions that change no state can't be seen.
 */
import type { AnyStateMachine, StateValue } from "xstate"
import { aText } from "../../runtime/input/options.ts"
import { type Configuration, enterDefault, ordered, signatureOf, wholeConfigurationOf } from "./configuration.ts"
import { type ChartEdge, type ChartGraph, isWithin, ROOT, stateOf } from "./graph.ts"
import { readMachine } from "./read-machine.ts"
import { combinations, isOfDone, isTriggeredBy, type MachineStep } from "./steps.ts"

/** What is known of the way from one state to another. */
export interface EdgesTaken {
  /** Ids of transitions that every shortest way has. */
  readonly taken: readonly string[]
  /** Ids of transitions of which some shortest ways have one, and others another. */
  readonly ambiguous: readonly string[]
  /** `step`: transitions of the first state. `start`: those after the machine's start. `none`: no way was found. */
  readonly from: "step" | "start" | "none"
}

/**
 * After a transition with an event, at most so many without one: a longer chain is rare, and the search grows with it.
 */
const MOST_STEPS = 6
/** Of states that were looked at for one answer: a machine that lets itself be in more is left without one. */
const MOST_STATES = 2000

/**
 * Tells which transitions lead from one state value to another; `from` is undefined where the machine has just started.
 * An event's type, where it is known, rules out those of other events.
 *
 * Throws InvalidConfigError for what is no machine of XState 5, and for a value that is none of its snapshots'.
 */
export function edgesTaken(
  machine: AnyStateMachine,
  from: StateValue | undefined,
  to: StateValue,
  event?: string,
): EdgesTaken {
  return edgesTakenIn(readMachine(machine), from, to, event)
}

/** The same for a graph that was read already. */
export function edgesTakenIn(
  graph: ChartGraph,
  from: StateValue | undefined,
  to: StateValue,
  event?: string,
): EdgesTaken {
  const goal = wholeConfigurationOf(graph, to, "to")
  if (event !== undefined) aText("event", event)
  const step = from === undefined ? undefined : stepTo(graph, wholeConfigurationOf(graph, from, "from"), goal, event)
  return step ?? startTo(graph, goal) ?? { taken: [], ambiguous: [], from: "none" }
}

type Way = readonly string[]

function stepTo(graph: ChartGraph, from: Configuration, goal: Configuration, event?: string): EdgesTaken | undefined {
  if (event === undefined && signatureOf(from) === signatureOf(goal)) return { taken: [], ambiguous: [], from: "step" }
  const first = combinations(graph, from, (edge) => edge.event !== "default" && isTriggeredBy(edge, event))
  const begun = first.map((step) => ({ ways: [step.map(({ id }) => id)], at: after(graph, from, step, goal) }))
  return answer(reach(graph, begun, goal), "step")
}

function startTo(graph: ChartGraph, goal: Configuration): EdgesTaken | undefined {
  const active = new Set<string>()
  enterDefault(graph, ROOT, active)
  return answer(reach(graph, [{ ways: [[]], at: ordered(graph, active) }], goal), "start")
}

/** What was come to, and by which ways of one length. */
interface ReachedConfiguration {
  readonly ways: readonly Way[]
  readonly at: Configuration
}

/** All shortest ways on to the goal by transitions without an event. */
function reach(graph: ChartGraph, begun: readonly ReachedConfiguration[], goal: Configuration): readonly Way[] {
  const wanted = signatureOf(goal)
  const seen = new Set<string>()
  let now = merged(begun)
  for (let steps = 0; steps <= MOST_STEPS && now.size > 0 && seen.size < MOST_STATES; steps++) {
    const found = now.get(wanted)
    if (found !== undefined) return found.ways
    for (const signature of now.keys()) seen.add(signature)
    const next = [...now.values()].flatMap(({ ways, at }) =>
      combinations(graph, at, isEventless).map((step) => ({
        ways: ways.map((way) => [...way, ...step.map(({ id }) => id)]),
        at: after(graph, at, step, goal),
      })),
    )
    now = merged(next.filter(({ at }) => !seen.has(signatureOf(at))))
  }
  return []
}

function merged(all: readonly ReachedConfiguration[]): Map<string, ReachedConfiguration> {
  const by = new Map<string, ReachedConfiguration>()
  for (const { ways, at } of all) {
    const signature = signatureOf(at)
    by.set(signature, { at, ways: [...(by.get(signature)?.ways ?? []), ...ways].slice(0, MOST_STATES) })
  }
  return by
}

/** `always`, and what follows by itself when states are done. */
const isEventless = (edge: ChartEdge): boolean => edge.event !== "default" && (edge.descriptor === "" || isOfDone(edge))

function answer(ways: readonly Way[], from: "step" | "start"): EdgesTaken | undefined {
  const [one, ...others] = ways
  if (one === undefined) return undefined
  const sure = one.filter((id) => others.every((way) => way.includes(id)))
  const ambiguous = [...new Set(ways.flat())].filter((id) => !sure.includes(id))
  return { taken: sure, ambiguous, from }
}

/** What is active after one step. Where a history state leads is told by the goal. */
function after(graph: ChartGraph, before: Configuration, step: MachineStep, goal: Configuration): Configuration {
  const active = new Set(before)
  for (const { source, targets, reenter } of step) {
    if (targets.length === 0) continue
    const domain = domainOf(graph, source, targets, reenter)
    for (const path of before) if (path !== domain && isWithin(graph, path, domain)) active.delete(path)
    for (const target of targets) enter(graph, target, domain, active, goal)
  }
  complete(graph, active)
  return ordered(graph, active)
}

/** The innermost state that isn't left. */
function domainOf(graph: ChartGraph, source: string, targets: readonly string[], reenter: boolean): string {
  const { type } = stateOf(graph, source)
  const isInner =
    !reenter && type !== "atomic" && targets.every((target) => target !== source && isWithin(graph, target, source))
  if (isInner) return source
  let domain = stateOf(graph, source).parent
  while (
    domain !== undefined &&
    !targets.every((target) => target !== domain && isWithin(graph, target, domain ?? ROOT))
  )
    domain = stateOf(graph, domain).parent
  return domain ?? ROOT
}

function enter(graph: ChartGraph, target: string, domain: string, active: Set<string>, goal: Configuration): void {
  const { type, parent = ROOT } = stateOf(graph, target)
  for (let at = parent; at !== domain && at !== ROOT; at = stateOf(graph, at).parent ?? ROOT) active.add(at)
  if (type !== "history") return enterDefault(graph, target, active)
  const remembered = [...goal].filter((path) => isWithin(graph, path, parent))
  if (remembered.length === 0) return enterDefault(graph, parent, active)
  for (const path of remembered) active.add(path)
}

/** Regions that no target named are entered by default. */
function complete(graph: ChartGraph, active: Set<string>): void {
  for (const path of graph.states.keys()) {
    if (!active.has(path)) continue
    const { type, children, initial } = stateOf(graph, path)
    const missing = children.filter((child) => stateOf(graph, child).type !== "history" && !active.has(child))
    if (type === "parallel") for (const child of missing) enterDefault(graph, child, active)
    const isEmpty = type === "compound" && !children.some((child) => active.has(child))
    if (isEmpty && initial !== undefined) enterDefault(graph, initial, active)
  }
}
