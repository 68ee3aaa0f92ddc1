/** States in states in states, left from the innermost, entered from the outermost, and looped on every floor. */
import { type AnyStateMachine, createMachine } from "xstate"

const machine: AnyStateMachine = createMachine({
  id: "deep",
  initial: "a",
  states: {
    a: {
      initial: "b",
      on: { outer: { target: "a", reenter: true }, inward: ".b.c.d" },
      states: {
        b: {
          initial: "c",
          on: { up: "#deep.end" },
          states: {
            c: {
              initial: "d",
              on: { self: "#deep.a.b.c" },
              states: { d: { on: { next: "e", out: "#deep.a" } }, e: { on: { back: "d", leave: "#deep.end" } } },
            },
          },
        },
      },
    },
    end: { type: "final" },
  },
})
export default machine
