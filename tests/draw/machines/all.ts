/** The machines that the drawings are tried on, by the name of their golden files. */
import type { AnyStateMachine } from "xstate"
import { sandboxChart } from "../../../src/actors/chart/chart.ts"
import checkout from "./checkout.ts"
import deep from "./deep.ts"
import eventless from "./eventless.ts"
import forty from "./forty.ts"
import hostile from "./hostile.ts"
import mediaPlayer from "./media-player.ts"
import single from "./single.ts"
import textEditor from "./text-editor.ts"
import trafficLight from "./traffic-light.ts"

/** Each of another shape. */
export const machines: Readonly<Record<string, AnyStateMachine>> = {
  ...{ checkout, deep, eventless, forty, hostile, single },
  ...{ "media-player": mediaPlayer, "text-editor": textEditor, "traffic-light": trafficLight },
}

/** The same, and leasehold's own. */
export const all: Readonly<Record<string, AnyStateMachine>> = { ...machines, sandbox: sandboxChart }
