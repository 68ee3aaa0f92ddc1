/** Forty states in four groups, each a ring with a way back and a way on. */
import { type AnyStateMachine, createMachine } from "xstate"

const groups = ["intake", "triage", "work", "delivery"]
/** Of each group. */
const STATES = 9

const step = (group: string, index: number): [string, object] => [
  `${group}${index + 1}`,
  {
    on: {
      next:
        index + 1 < STATES ? `${group}${index + 2}` : `#orders.${groups[(groups.indexOf(group) + 1) % groups.length]}`,
      ...(index % 3 === 2 && { back: `${group}${index - 1}` }),
      ...(index % 4 === 3 && { skip: { target: `${group}${STATES}`, guard: "isUrgent" } }),
    },
  },
]

const machine: AnyStateMachine = createMachine({
  id: "orders",
  initial: "intake",
  states: Object.fromEntries(
    groups.map((group) => [
      group,
      {
        initial: `${group}1`,
        states: Object.fromEntries(Array.from({ length: STATES }, (_, index) => step(group, index))),
      },
    ]),
  ),
} as never)
export default machine
