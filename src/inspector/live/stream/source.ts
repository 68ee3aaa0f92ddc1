/**
 * What a stream tells of, as a port: the sandboxes of one worker, or of those that it asks. `managed-worker.ts` and
 * `peers.ts` have one each.
 */
import type { TraceLine } from "../../../trace/trace.ts"
import type { SandboxRow, WorkerRow } from "../model/wire.ts"

/** Takes what a source knows, in the order in which it happens. */
export interface FleetSink {
  /** Rows as they are now. */
  rows(rows: readonly SandboxRow[]): void
  line(line: TraceLine): void
  /** One worker as it is now. Without a change nothing is told. */
  worker(row: WorkerRow): void
  /** All that was said of this worker is void. `isGone`: the worker itself too. */
  forget(worker: string, isGone: boolean): void
}

/** Tells a sink, from when it is started until it is stopped. */
export interface FleetSource {
  /** Begins with the last lines from before, then all rows, and goes on from there. */
  start(sink: FleetSink): () => void
}
