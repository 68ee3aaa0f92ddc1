/** As little as a machine can be. */
import { type AnyStateMachine, createMachine } from "xstate"

const machine: AnyStateMachine = createMachine({ id: "single" })
export default machine
