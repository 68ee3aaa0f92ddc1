/**
 * What runs of leasehold's own simulation must come to, some time: a simulation that never loses an answer shows
 * nothing of lost answers. Each is told by a line of the trace.
 */
import type { LockLine, StateLine, TraceLine } from "../../../trace/trace.ts"
import { toldOfEnd } from "../machines/machine.ts"
import { type FaultKind, faultKinds } from "../plan/plan.ts"
import { ChartCoverage, chartParts } from "./coverage.ts"

/** Notes what a run has come to: the names below, and those of the workload's own `sometimes`. */
export class ReachedNames {
  readonly names: Set<string> = new Set()
  readonly #chart = new ChartCoverage()

  /** Looks at the next line of the trace. */
  line(line: TraceLine): void {
    if (line.kind === "state") for (const part of this.#chart.reached(line)) this.names.add(part)
    for (const name of namesOf(line)) if (name !== undefined) this.names.add(name)
  }
}

function namesOf(line: TraceLine): readonly (string | undefined)[] {
  switch (line.kind) {
    case "lock":
      return ofLock(line)
    case "state":
      return [ofState(line)]
    case "answer":
      return [outcomes[line.outcome], line.throttled === true ? "a write was throttled" : undefined]
    case "call":
      return [line.error && refusals[line.error.tag]]
    case "note":
      return [line.note]
    case "fault":
      return [`the fault ${line.fault}`]
    case "request":
    case "handoff":
    case "work":
    case "applied":
      return []
  }
}

function ofLock({ type, how, result, error }: LockLine): readonly (string | undefined)[] {
  const key =
    type === "Acquired" || type === "Granted" ? `${type} ${how}` : type === "Released" ? `${type} ${result}` : type
  return [events[key], error && refusals[error.tag]]
}

const ofState = ({ value, error }: StateLine): string | undefined => {
  if ("handingOff" in value && value.handingOff.work === "stuck") return "work was stuck"
  return error && refusals[error.tag]
}

const events: Readonly<Record<string, string>> = {
  "Acquired created": "a key came to be",
  "Acquired free": "a free key was taken",
  "Acquired takeover": "a key was taken over",
  "Acquired granted": "a key came by a grant",
  "Acquired reserved": "a key came by a reservation",
  "Granted grant": "an owner granted",
  "Granted reserve": "an owner reserved",
  "Released released": "a release was clean",
  "Released alreadyLost": "a release came after the loss",
  "Released unknown": "a release ended unknown",
  Waiting: "somebody waited",
  ReleaseRequested: "an owner was asked to leave",
  Degraded: "renewals failed",
  Suspect: "an owner's clocks disagreed",
  Recovered: "a lease recovered",
  Lost: "a lease was lost",
  GaveUp: "an acquire gave up",
}

const outcomes: Readonly<Record<string, string>> = {
  refused: "a write was refused",
  unknown: "a write had no answer",
  failed: "a read had no answer",
  unchanged: "a read saw what was known",
}

const refusals: Readonly<Record<string, string>> = {
  LockTimeoutError: "a wait ran out",
  LockContentionError: "another waited already",
  OwnedElsewhereError: "a key was owned elsewhere",
  HandingOffError: "a use came too late",
  LockLostError: "a use lost its lease",
  NotDurableError: "a durable use wasn't",
  HookOverrunError: "a hook ran over its limit",
  StoreUnavailableError: "the store was away",
  CorruptRecordError: "a record couldn't be read",
}

/** One seed in some hundreds comes to it: asked of so many seeds alone. */
const rare = "a release came after the loss"
const many = 2000

const told: readonly string[] = [
  ...new Set([
    ...Object.values(events).filter((name) => name !== rare),
    ...Object.values(outcomes),
    ...Object.values(refusals),
    "a write was throttled",
    "work was stuck",
    toldOfEnd,
  ]),
]

/**
 * All that so many seeds must come to by what their traces tell: what befalls leases and calls, faults of these kinds,
 * and the states and transitions of the chart. `npm run sim` asks for all of it.
 */
export const attainable = (seeds: number, kinds: readonly FaultKind[] = faultKinds): readonly string[] => [
  ...told,
  ...(seeds < many ? [] : [rare]),
  ...[...new Set(kinds)].map((kind) => `the fault ${kind}`),
  ...chartParts,
]
