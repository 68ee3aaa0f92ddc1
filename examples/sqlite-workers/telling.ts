// Turns what a manager says of its sandboxes into reports for the timeline. Heartbeats are left out.
import type { LockEvent, ManagerOptions, SandboxSnapshot, SandboxStateValue } from "leasehold"
import { type LeaseNews, report } from "./reports.ts"

type Inspect = NonNullable<ManagerOptions["inspect"]>

/** Reports what happens to a lease. */
export function tellLease(event: LockEvent): void {
  if (event.type !== "Renewed") report(leaseNews(event))
}

/** Reports the states of the sandboxes' charts as they change. */
export function tellStates(): Inspect {
  const states = new Map<string, string>()
  return (event) => {
    if (event.type !== "@xstate.snapshot" || !("value" in event.snapshot)) return
    const { value, context } = event.snapshot as SandboxSnapshot
    const { key } = context
    const state = stateText(value)
    if (states.get(key) === state) return
    states.set(key, state)
    report({ what: "state", key, state })
  }
}

function leaseNews(event: LockEvent): LeaseNews {
  const { type, key, ownerId } = event
  const news = { what: "lease", key, type, ownerId } as const
  switch (event.type) {
    case "Waiting":
      return { ...news, peerId: event.owner.ownerId }
    case "Acquired":
      return { ...news, token: event.token, detail: event.how }
    case "ReleaseRequested":
      return { ...news, token: event.token, peerId: event.waiterId }
    case "Granted":
      return { ...news, token: event.token, peerId: event.waiterId, detail: event.how }
    case "Released":
      return { ...news, token: event.token, detail: event.result }
    case "Lost":
      return { ...news, token: event.token, detail: event.error.message }
    case "GaveUp":
      return { ...news, detail: event.error.message }
    case "Renewed":
    case "Recovered":
    case "Degraded":
    case "Suspect":
      return { ...news, token: event.token }
  }
}

/** The chart's value in words, such as `owning, running`; how the lease does is left out while it is healthy. */
export function stateText(value: SandboxStateValue): string {
  return Object.entries<string | { work: string; lease: string }>(value)
    .flatMap(([state, inner]) => [state, ...(typeof inner === "string" ? [inner] : [inner.work, inner.lease])])
    .filter((word) => word !== "healthy")
    .join(", ")
}
