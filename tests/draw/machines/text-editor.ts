/** Wildcards and parts of them, transitions that stay, transitions to several states at once. */
import { type AnyStateMachine, setup } from "xstate"

const machine: AnyStateMachine = setup({
  types: { events: {} as { type: string } },
  actions: { insert: () => {}, beep: () => {}, toggleBold: () => {}, toggleItalics: () => {} },
  guards: { isReadOnly: () => false },
}).createMachine({
  id: "editor",
  type: "parallel",
  states: {
    bold: { initial: "off", states: { off: { on: { bold: "on" } }, on: { on: { bold: "off" } } } },
    italics: { initial: "off", states: { off: { on: { italics: "on" } }, on: { on: { italics: "off" } } } },
    list: {
      initial: "none",
      states: {
        none: { on: { bullets: "bullets", numbers: "numbers" } },
        bullets: { on: { none: "none", numbers: "numbers" } },
        numbers: { on: { bullets: "bullets", none: "none" } },
      },
    },
  },
  on: {
    "key.*": [{ guard: "isReadOnly", actions: "beep" }, { actions: "insert" }],
    "style.strong": { target: [".bold.on", ".italics.on"], actions: ["toggleBold", "toggleItalics"] },
    "style.plain": { target: [".bold.off", ".italics.off", ".list.none"] },
    "*": { actions: "beep" },
  },
})
export default machine
