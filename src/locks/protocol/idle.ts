/** A key at rest: an acquire begins an attempt, and a release goes on with a leave whose fate nobody could tell. */
import { beginSeeking } from "./acquire.ts"
import { leaveAgain } from "./leave.ts"
import { type PhaseRules, unchanged } from "./phases.ts"
import type { Draft, Idle, Phase, Told } from "./rules/state.ts"

/** At rest. */
export const idle: PhaseRules<"idle"> = {
  expire: unchanged,
  told,
  saw: unchanged,
  wrote: unchanged,
  failed: unchanged,
  unsure: unchanged,
  conclude: unchanged,
  due: () => undefined,
  expiries: () => [],
  compose: (_, __, act) => act,
  sent: unchanged,
}

function told(draft: Draft, phase: Idle, input: Told): Phase {
  switch (input.type) {
    case "acquire":
      return beginSeeking(draft, input)
    case "release":
      return phase.left === undefined ? phase : leaveAgain(draft, phase.left)
    case "cancel":
    case "renew":
    case "stay":
    case "nameGroups":
    case "leaveToExpire":
    case "ring":
      return phase
  }
}
