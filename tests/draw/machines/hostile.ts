/** Names that an attacker chose. */
import { type AnyStateMachine, createMachine } from "xstate"

const long = "x".repeat(10_000)

const machine: AnyStateMachine = createMachine({
  id: '<script>alert("id")</script>',
  initial: "</text><script>alert(1)</script>",
  description: "*/ ]]> --> ${} `rm`",
  states: {
    "</text><script>alert(1)</script>": {
      on: { '" onload="alert(2)': "#dotted", "]]>--><!--": "a\nb\u0000\u001b[31m", [`${long}`]: "\u202egnp exe" },
      entry: ["<img src=x onerror=alert(3)>", 'state "x" as y {'],
      tags: ["&amp;", "'"],
    },
    "a.b": { id: "dotted", on: { "direction LR": "note right of", "a:b;c%%d#35;": "[*]", "```": "constructor" } },
    "a\nb\u0000\u001b[31m": { description: "line one\nline two\r\n%% comment\u2028end note", on: { "-->": "[*]" } },
    "\u202egnp exe": { on: { "العربية ‏(RTL)": "日本語の状態" } },
    日本語の状態: { on: { "👩‍👩‍👧 emoji": "constructor", "\ud800": "{" } },
    "note right of": { type: "final" },
    "{": { on: { "|": "[*]" } },
    "[*]": { type: "final" },
    constructor: { on: { click: "state" } },
    state: { on: { default: "end" } },
    end: {},
    [long]: {},
  },
} as never)
export default machine
