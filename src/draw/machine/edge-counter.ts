/**
 * Counts how often each transition was taken, told by the states that actors of one machine were seen in. What can't be
 * told apart is counted as a group. What it gives is what `toSvg` draws.
 */
import type { AnyStateMachine, StateValue } from "xstate"
import { aCount } from "../../runtime/input/options.ts"
import type { SharedCount } from "./counts.ts"
import { type EdgesTaken, edgesTakenIn } from "./edges-taken.ts"
import type { ChartGraph } from "./graph.ts"
import { readMachine } from "./read-machine.ts"

/** What was counted. */
export interface EdgeCounts {
  /** How often each transition was taken for sure, by its id. Those that never were are missing. */
  readonly counts: Readonly<Record<string, number>>
  /** Groups of transitions that lead alike from one state to another, and how often one of the group was taken. */
  readonly shared: readonly SharedCount[]
  /** How many actors were seen to start. */
  readonly starts: number
  /** How often a state followed another that no transition leads to it from. */
  readonly unexplained: number
}

/** Counts the transitions of one machine. */
export class EdgeCounter {
  readonly #graph: ChartGraph
  readonly #last = new Map<string, StateValue>()
  readonly #known = new Map<string, EdgesTaken>()
  readonly #counts = new Map<string, number>()
  readonly #shared = new Map<string, { readonly edges: readonly string[]; times: number }>()
  #starts = 0
  #unexplained = 0

  /** Throws InvalidConfigError for what is no machine of XState 5. */
  constructor(machine: AnyStateMachine) {
    this.#graph = readMachine(machine)
  }

  /**
   * An actor is in this state now, and was in the one that was told last before. Gives what led there. Throws
   * InvalidConfigError for a value that names a state that the machine hasn't.
   */
  saw(actor: string, value: StateValue): EdgesTaken {
    const from = this.#last.get(actor)
    this.#last.set(actor, value)
    return this.passed(from, value)
  }

  /**
   * So many times actors came from one state to another; `from` is undefined where they began. Gives what led there,
   * and throws as `saw` does.
   */
  passed(from: StateValue | undefined, to: StateValue, times = 1): EdgesTaken {
    aCount(0)("times", times)
    const found = this.#taken(from, to)
    for (const id of found.taken) this.#counts.set(id, (this.#counts.get(id) ?? 0) + times)
    if (found.ambiguous.length > 0) {
      const key = JSON.stringify(found.ambiguous)
      const group = this.#shared.get(key) ?? { edges: found.ambiguous, times: 0 }
      group.times += times
      this.#shared.set(key, group)
    }
    if (found.from === "start") this.#starts += times
    if (found.from === "none") this.#unexplained += times
    return found
  }

  /** What was counted so far. */
  result(): EdgeCounts {
    const inOrder = [...this.#graph.edges.keys()].flatMap((id) => {
      const times = this.#counts.get(id)
      return times === undefined ? [] : [[id, times] as const]
    })
    return {
      counts: Object.fromEntries(inOrder),
      shared: [...this.#shared.values()].map(({ edges, times }) => ({ edges, times })),
      starts: this.#starts,
      unexplained: this.#unexplained,
    }
  }

  /** The same two states come again and again in a trace. */
  #taken(before: StateValue | undefined, value: StateValue): EdgesTaken {
    const key = JSON.stringify([before ?? null, value])
    const found = this.#known.get(key) ?? edgesTakenIn(this.#graph, before, value)
    this.#known.set(key, found)
    return found
  }
}
