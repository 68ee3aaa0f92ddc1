/**
 * The machine that lives in a sandbox, as its definition names it. It is asked for only when somebody looks. An error,
 * or an answer that is no machine, is reported and harms nothing.
 */
import type { AnyStateMachine, StateValue } from "xstate"
import { refusal } from "../../runtime/input/options.ts"
import { quiet } from "../../runtime/races.ts"
import { capped } from "../../trace/live/capped.ts"
import { errorOf } from "../../trace/live/redacted.ts"
import type { TraceError } from "../../trace/trace.ts"

/** What `inspectState` gives: a machine of XState, and the state that it is in. */
export interface InspectedState {
  /** The machine itself: its chart is drawn. */
  readonly machine: AnyStateMachine
  /** The `value` of its snapshot: names of states, and nothing of its context. */
  readonly value: StateValue
}

/** What came of asking. The value is cut to size; an error is redacted as in a trace. */
export type Inspected =
  | { readonly machine: AnyStateMachine; readonly value: unknown }
  | { readonly machine: null; readonly error: TraceError }

/** Asks for the machine. `failed` gets the error, where there is one. Never throws. */
export function inspectedBy(ask: () => unknown, failed: (error: unknown) => void, values: boolean): Inspected {
  try {
    const given = ask()
    if (isInspected(given)) return { machine: given.machine, value: capped(given.value) }
    if (given instanceof Promise) void quiet(given) // it may reject, and nobody waits for it
    throw refusal(
      // Nothing of what it gave: a text, or another field of a snapshot, is the user's.
      given instanceof Promise ? "inspectState gave a promise" : "inspectState gave no machine with a state of it",
      "Give { machine, value } at once: an XState machine, and its snapshot's value",
    )
  } catch (error) {
    failed(error)
    return { machine: null, error: errorOf(values)(error) }
  }
}

function isInspected(given: unknown): given is InspectedState {
  if (typeof given !== "object" || given === null) return false
  const { machine, value } = given as Partial<Record<keyof InspectedState, unknown>>
  const isMachine = typeof machine === "object" && machine !== null && "root" in machine && "definition" in machine
  return isMachine && isStateOf(machine.root as AnyStateMachine["root"], value)
}

/** Whether it names states of the machine, and nothing else: a whole snapshot would tell its context. */
function isStateOf({ states }: AnyStateMachine["root"], value: unknown): boolean {
  const has = (name: string): boolean => Object.hasOwn(states, name)
  if (typeof value === "string") return has(value)
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false
  return Object.entries(value).every(
    ([name, below]) => has(name) && isStateOf((states as Record<string, AnyStateMachine["root"]>)[name]!, below),
  )
}
