/** Delays as numbers and by name, a description, tags. */
import { type AnyStateMachine, setup } from "xstate"

const machine: AnyStateMachine = setup({ delays: { amberTime: 3000 } }).createMachine({
  id: "trafficLight",
  initial: "red",
  states: {
    red: { tags: ["stop"], after: { 90_000: "green" } },
    green: { tags: ["go"], after: { 60_500: "amber" }, on: { "pedestrian.waits": "amber" } },
    amber: { description: "Clear the crossing.", tags: ["stop"], after: { amberTime: "red" } },
  },
})
export default machine
