/**
 * What a machine looks like, as plain data: its states and its transitions, each with a stable id. `read-machine.ts`
 * makes it; the renderers and `edges-taken.ts` read it. Texts in it are the machine's own, of any length and with any
 * characters.
 */

/** One state of a machine. */
export interface ChartState {
  /**
   * The keys from the root down, joined by dots; the root's is empty. A dot within a key is written `\.`, a backslash
   * `\\`, an empty key `\0`.
   */
  readonly path: string
  /** Its own key; of the root the machine's id. */
  readonly key: string
  /** What kind of state it is. */
  readonly type: "atomic" | "compound" | "parallel" | "final" | "history"
  /** Of a history state, how much it remembers. */
  readonly history: "shallow" | "deep" | undefined
  /** The path of the state that it is in; undefined for the root. */
  readonly parent: string | undefined
  /** The paths of the states in it, in the machine's order. */
  readonly children: readonly string[]
  /** The path of the child that is entered first. */
  readonly initial: string | undefined
  /** Actions of its initial transition. */
  readonly initialActions: readonly string[]
  /** Actions on entry. */
  readonly entry: readonly string[]
  /** Actions on exit. */
  readonly exit: readonly string[]
  /** What it invokes. */
  readonly invokes: readonly string[]
  /** Its tags. */
  readonly tags: readonly string[]
  /** Its description. */
  readonly description: string | undefined
}

/** One transition of a machine. */
export interface ChartEdge {
  /**
   * `<source path>--<event>[<index>]`, as `owning.lease.healthy--lock.degraded[0]`. What is no event is in parentheses.
   */
  readonly id: string
  /** The path of the state that has it. */
  readonly source: string
  /** The paths of the states that it leads to; empty where it stays. */
  readonly targets: readonly string[]
  /** The event's descriptor as XState has it; empty of `always`. */
  readonly descriptor: string
  /** What makes it happen, in words: an event's name, `always`, `after 2 s`, `done fetch`. */
  readonly event: string
  /** Its guard in words. */
  readonly guard: string | undefined
  /** Its actions in words. */
  readonly actions: readonly string[]
  /** It leaves its source and enters it anew, where it leads to the source or into it. */
  readonly reenter: boolean
  /** Its description. */
  readonly description: string | undefined
}

/** A machine as a graph. */
export interface ChartGraph {
  /** The machine's id. */
  readonly name: string
  /** By path, the root first, each before its children. */
  readonly states: ReadonlyMap<string, ChartState>
  /** By id, in the machine's order. */
  readonly edges: ReadonlyMap<string, ChartEdge>
}

/** The path of the root. */
export const ROOT = ""

/** The state of this path, which is known to be there. */
export function stateOf(graph: ChartGraph, path: string): ChartState {
  const state = graph.states.get(path)
  if (state === undefined) throw new Error(`the graph has no state ${JSON.stringify(path)}`)
  return state
}

/** Whether `path` is `ancestor` or a state somewhere in it. */
export function isWithin(graph: ChartGraph, path: string, ancestor: string): boolean {
  for (let at: string | undefined = path; at !== undefined; at = stateOf(graph, at).parent)
    if (at === ancestor) return true
  return false
}

/** From the root down to this state, both included. */
export function lineageOf(graph: ChartGraph, path: string): readonly string[] {
  const lineage: string[] = []
  for (let at: string | undefined = path; at !== undefined; at = stateOf(graph, at).parent) lineage.unshift(at)
  return lineage
}
