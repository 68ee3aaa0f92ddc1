/** The lock's events and errors as events of the chart: the one place where the two vocabularies meet. */
import {
  LockCancelledError,
  LockContentionError,
  LockTimeoutError,
  OwnedElsewhereError,
} from "../../locks/api/errors.ts"
import type { LockEvent } from "../../locks/api/lock.ts"
import type { ChartEvent, Refusal } from "./types.ts"

/**
 * The chart's event; undefined where the chart has none. Heartbeats are no transitions. How an acquire and a release
 * end is told by their commands' own events.
 */
export const chartEventOf = (event: LockEvent): ChartEvent | undefined => {
  switch (event.type) {
    case "Waiting":
      return { type: "lock.waiting" }
    case "Degraded":
      return { type: "lock.degraded" }
    case "Suspect":
      return { type: "lock.suspect" }
    case "Recovered":
      return { type: "lock.recovered" }
    case "ReleaseRequested":
      return { type: "lock.releaseRequested" }
    case "Granted":
      return { type: "lock.granted" }
    case "Lost":
      return { type: "lock.lost", error: event.error }
    case "Acquired":
    case "Renewed":
    case "Released":
    case "GaveUp":
      return undefined
  }
}

/** What an acquire that rejected means to the chart. */
export const refusalOf = (error: unknown): Refusal => {
  if (error instanceof LockContentionError || error instanceof OwnedElsewhereError) return "contended"
  if (error instanceof LockTimeoutError) return "timedOut"
  return error instanceof LockCancelledError ? "cancelled" : "failed"
}
