/** Decisions without events, in a chain, and loops of every kind. */
import { type AnyStateMachine, setup } from "xstate"

const machine: AnyStateMachine = setup({
  types: { events: {} as { type: "measure" } | { type: "again" } | { type: "restart" } },
  guards: { isHot: () => false, isCold: () => false, isBroken: () => false },
  actions: { read: () => {}, count: () => {} },
}).createMachine({
  id: "thermostat",
  initial: "measuring",
  states: {
    measuring: {
      entry: "read",
      on: {
        measure: "deciding",
        again: { target: "measuring", actions: "count" },
        restart: { target: "measuring", reenter: true },
      },
    },
    deciding: {
      always: [
        { guard: "isBroken", target: "broken" },
        { guard: "isHot", target: "cooling" },
        { guard: "isCold", target: "heating" },
        { target: "idle" },
      ],
    },
    cooling: { always: { guard: "isCold", target: "idle" }, on: { measure: "deciding" } },
    heating: { always: { guard: "isHot", target: "idle" }, on: { measure: "deciding" } },
    idle: { on: { measure: "deciding" } },
    broken: { type: "final" },
  },
})
export default machine
