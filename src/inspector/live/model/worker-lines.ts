/**
 * What the lines of a trace tell of a worker, where no message does: of a recorded trace they are all there is. Pure.
 *
 * Not promised: what a manager alone knows (its clock's offset, its lease's times).
 */
import type { TraceLine } from "../../../trace/trace.ts"
import type { WorkerRow } from "./wire.ts"

/** The worker after a line of its. The same object where the line tells nothing of it. */
export function workerAfter(before: WorkerRow | undefined, worker: string, line: TraceLine): WorkerRow {
  const known = before ?? unknownWorker(worker)
  const ownerId = line.kind === "lock" ? line.ownerId : known.ownerId
  const counter = counterOf(line)
  if (counter === undefined && ownerId === known.ownerId) return known
  if (counter === undefined) return { ...known, ownerId }
  return { ...known, ownerId, stats: { ...known.stats, [counter]: (known.stats[counter] ?? 0) + 1 } }
}

/** A worker of which nothing is known but its name. */
export const unknownWorker = (worker: string): WorkerRow => ({
  ...{ worker, ownerId: "", address: null, problem: null, runtime: null, clockOffset: null },
  ...{ closed: false, ttl: null, guard: null, stats: {} },
})

/** The counter of `manager.stats()` that counts it. */
function counterOf(line: TraceLine): string | undefined {
  if (line.kind === "answer") return line.throttled === true ? "throttled" : undefined
  if (line.kind !== "lock") return undefined
  switch (line.type) {
    case "Acquired":
      return "acquisitions"
    case "Waiting":
      return "waits"
    case "Lost":
      return "losses"
    case "Renewed":
    case "Recovered":
      return "renewals"
    case "Degraded":
    case "Suspect":
    case "ReleaseRequested":
    case "Granted":
    case "Released":
    case "GaveUp":
      return undefined
  }
}
