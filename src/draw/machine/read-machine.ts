/**
 * From an XState 5 machine to its graph. Pure: nothing of the machine is run. The machine may be of another copy of
 * XState, so its parts are told by what they have, never by their class.
 */
import type { AnyStateMachine } from "xstate"
import { refusal, shown } from "../../runtime/input/options.ts"
import type { ChartEdge, ChartGraph, ChartState } from "./graph.ts"
import { pathFrom } from "./paths.ts"
import { actionsWords, eventWords, guardWords, invokeWord, invokeWords } from "./words.ts"

type StateNode = AnyStateMachine["root"]
type MachineTransition = NonNullable<StateNode["always"]>[number] & { readonly delay?: unknown }

/** Reads the machine. Throws InvalidConfigError for what is none. */
export function readMachine(machine: AnyStateMachine): ChartGraph {
  if (!isMachine(machine)) throw notMachine(machine)
  const states = new Map<string, ChartState>()
  const edges = new Map<string, ChartEdge>()
  const visit = (node: StateNode): void => {
    const state = readState(node)
    states.set(state.path, state)
    for (const edge of edgesOf(node)) {
      const id = unusedId(edge.id, edges)
      edges.set(id, { ...edge, id })
    }
    for (const child of childrenOf(node)) visit(child)
  }
  visit(machine.root)
  return { name: machine.root.key, states, edges }
}

/**
 * The transitions of a machine with their ids, in the machine's order. Throws InvalidConfigError for what is no machine
 * of XState 5.
 */
export const chartEdges = (machine: AnyStateMachine): readonly ChartEdge[] => [...readMachine(machine).edges.values()]

/** Whether this is an XState 5 machine, of whatever copy of XState. */
export function isMachine(value: unknown): value is AnyStateMachine {
  try {
    return hasParts(value)
  } catch {
    return false // a proxy, as some make of their environment, throws where it is asked for what it hasn't
  }
}

function hasParts(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false
  const { root, provide, getInitialSnapshot } = value as Partial<Record<string, unknown>>
  if (typeof provide !== "function" || typeof getInitialSnapshot !== "function") return false
  return typeof root === "object" && root !== null && "transitions" in root && "states" in root
}

const notMachine = (value: unknown): Error =>
  refusal(`The machine is ${shown(value)}, which is no machine of XState 5`, "Give what createMachine() returns")

/** A node's path. */
export const pathOf = (node: Pick<StateNode, "path">): string => pathFrom(node.path)

const childrenOf = (node: StateNode): readonly StateNode[] => Object.values(node.states as Record<string, StateNode>)

function readState(node: StateNode): ChartState {
  const initial = node.type === "compound" ? node.initial : undefined
  const [first] = initial?.target ?? []
  return {
    path: pathOf(node),
    key: node.key,
    type: node.type,
    history: node.type === "history" ? node.history || "shallow" : undefined,
    parent: node.parent === undefined ? undefined : pathOf(node.parent),
    children: childrenOf(node).map(pathOf),
    initial: first === undefined ? undefined : pathOf(first),
    initialActions: actionsWords(initial?.actions ?? []),
    entry: actionsWords(node.entry),
    exit: actionsWords(node.exit),
    invokes: node.invoke.map(invokeWords),
    tags: node.tags,
    description: node.description,
  }
}

function edgesOf(node: StateNode): readonly ChartEdge[] {
  const invokes = new Map(node.invoke.map((invoke) => [invoke.id, invokeWord(invoke)]))
  const byEvent = [...node.transitions.entries(), ["", node.always ?? []] as const]
  const edges = byEvent.flatMap(([descriptor, transitions]) =>
    (transitions as readonly MachineTransition[]).map((transition, index) =>
      edgeOf(node, descriptor, transition, index, invokes),
    ),
  )
  return node.type === "history" ? [...edges, ...historyDefault(node)] : edges
}

function edgeOf(
  node: StateNode,
  descriptor: string,
  transition: MachineTransition,
  index: number,
  invokes: ReadonlyMap<string, string>,
): ChartEdge {
  const { target, guard, actions, reenter, description, delay } = transition
  const event = eventWords(descriptor, delay, invokes)
  const isBuiltin = descriptor === "" || delay !== undefined || event !== descriptor
  return {
    id: `${pathOf(node)}--${isBuiltin ? `(${event})` : event}[${index}]`,
    source: pathOf(node),
    targets: (target ?? []).map(pathOf),
    descriptor,
    event,
    guard: guard === undefined ? undefined : guardWords(guard),
    actions: actionsWords(actions),
    reenter,
    description,
  }
}

/** Where a history state leads to as long as there is nothing to remember. */
function historyDefault(node: StateNode): readonly ChartEdge[] {
  const { target } = node.config as { readonly target?: unknown }
  const given = Array.isArray(target) ? target : target === undefined ? [] : [target]
  const targets = given.flatMap((each: unknown) => (typeof each === "string" ? historyTarget(node, each) : []))
  if (targets.length === 0) return []
  const nothing = { guard: undefined, actions: [], reenter: false, description: undefined }
  const path = pathOf(node)
  return [{ id: `${path}--(default)[0]`, source: path, targets, descriptor: "", event: "default", ...nothing }]
}

function historyTarget(node: StateNode, target: string): readonly string[] {
  if (target.startsWith("#")) return stateOfId(node.machine as AnyStateMachine, target)
  const keys = target.replace(/^\./, "").split(".")
  let at: StateNode | undefined = node.parent as StateNode | undefined
  for (const key of keys) at = (at?.states as Record<string, StateNode> | undefined)?.[key]
  return at === undefined ? [] : [pathOf(at)]
}

/** XState looks for it only when it is needed: until then nobody knows that there is none. */
function stateOfId(machine: AnyStateMachine, target: string): readonly string[] {
  try {
    return [pathOf(machine.getStateNodeById(target))]
  } catch {
    return []
  }
}

/** Names that a machine chose so that two transitions would have one id. */
function unusedId(id: string, taken: ReadonlyMap<string, unknown>): string {
  let unused = id
  while (taken.has(unused)) unused += "'"
  return unused
}
