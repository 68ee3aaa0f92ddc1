/** Parallel regions in a state, shallow and deep history, a transition of the root into a state deep in it. */
import { type AnyStateMachine, setup } from "xstate"

const machine: AnyStateMachine = setup({
  types: { events: {} as { type: string } },
  actions: { startMotor: () => {}, stopMotor: () => {}, dim: () => {} },
}).createMachine({
  id: "player",
  initial: "off",
  on: { "power.off": ".off", "factory.reset": "#player.on.playback.stopped" },
  states: {
    off: { on: { power: "on", resume: "on.memory" } },
    on: {
      type: "parallel",
      states: {
        playback: {
          initial: "stopped",
          states: {
            stopped: { on: { play: "playing" } },
            playing: {
              initial: "normal",
              entry: "startMotor",
              exit: "stopMotor",
              states: {
                normal: { on: { fast: "fast" } },
                fast: { on: { slow: "normal" } },
                where: { type: "history" },
              },
              on: { stop: "stopped", pause: "paused" },
            },
            paused: { on: { play: "playing.where", stop: "stopped" } },
          },
        },
        display: {
          initial: "bright",
          states: {
            bright: { after: { 30_000: { target: "dimmed", actions: "dim" } } },
            dimmed: { on: { "*": "bright" } },
          },
        },
        memory: { type: "history", history: "deep", target: "playback.stopped" },
      },
      on: { power: "off" },
    },
  },
})
export default machine
