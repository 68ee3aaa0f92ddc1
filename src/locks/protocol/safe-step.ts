/**
 * A step for production. One that throws is the end of all that this process does about the key: it owns nothing from
 * then on, its callers are told, and nothing more is written. What stands in the store runs out by itself.
 *
 * Not promised: that another process gets the key before that.
 */
import { ProtocolFaultError } from "../api/errors.ts"
import { finish } from "./leave.ts"
import { lose } from "./own.ts"
import { type Admits, initialState, step, type Step } from "./reducer.ts"
import { abandon } from "./request.ts"
import { faultOf } from "./rules/invariant.ts"
import type { Draft, Input, LockState, Phase } from "./rules/state.ts"
import { instant, type Now } from "./rules/time.ts"

/** One step, or the end where it throws. `onFault` is told why; it must not throw. */
export function safeStep(
  state: LockState,
  input: Input,
  now: Now,
  admits: Admits,
  onFault: (fault: ProtocolFaultError) => void,
): Step {
  try {
    return step(state, input, now, admits)
  } catch (cause) {
    const isKnown = cause instanceof ProtocolFaultError
    const fault = isKnown ? cause : faultOf(state, `a ${input.type} can't be taken: ${String(cause)}`, cause)
    onFault(fault)
    return ended(state, input, now, fault)
  }
}

/** Nothing that was known is trusted. Requests go on being counted, so that late answers are still discarded. */
function ended(state: LockState, input: Input, now: Now, fault: ProtocolFaultError): Step {
  const { flight, requests, watched, phase } = state
  const blank = { ...initialState(state.config, now), requests, watched }
  const draft: Draft = { ...blank, flight, now, commands: [], events: [] }
  tellEnd(draft, phase, input, fault)
  abandon(draft)
  return { state: blank, commands: draft.commands, events: draft.events }
}

/** Each that waits for something to become of the key is told what did. */
function tellEnd(draft: Draft, phase: Phase, input: Input, fault: ProtocolFaultError): void {
  switch (phase.name) {
    case "idle":
      if (input.type === "acquire") draft.events.push({ type: "GaveUp", error: fault })
      if (input.type === "release" && phase.left !== undefined) finish(draft, phase.left, "unknown")
      return
    case "seeking":
      draft.events.push({ type: "GaveUp", error: fault })
      return
    case "owning":
      lose(draft, { ...phase.hold, deadline: instant(draft.now) }, "fault", fault)
      return
    case "leaving":
      finish(draft, phase, "unknown")
      return
    case "clearing":
      if (phase.error !== undefined) draft.events.push({ type: "GaveUp", error: phase.error })
      return
  }
}
