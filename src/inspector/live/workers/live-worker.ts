/** What an inspector needs of the worker that it stands in, as a port: `managed-worker.ts` makes one of a manager. */
import type { Clock } from "../../../runtime/time/clock.ts"
import type { ActionAnswer, ActionRequest, SandboxDetail, SandboxRow } from "../model/wire.ts"
import type { FleetSource } from "../stream/source.ts"

/** Who owns a key, as its record tells. */
export interface RecordOwner {
  readonly ownerId: string
  readonly address: string | null
}

/** The machine that lives in a sandbox, where its definition names one. */
export type MachineDetail = Pick<SandboxDetail, "machine" | "machineProblem">

/** A worker. It is a source of its own sandboxes. */
export interface LiveWorker extends FleetSource {
  readonly clock: Clock
  /** Its name in traces. */
  readonly worker: string
  readonly ownerId: string
  /** Where it can be reached, as it publishes. */
  readonly address: string | null
  /** A sandbox of its own. */
  find(key: string): SandboxRow | undefined
  /** What the store says of a key, also of one that another process owns. Never rejects. */
  recordOf(key: string): Promise<SandboxDetail["store"]>
  /** The machine that lives in a sandbox of its own. Never rejects. */
  machineOf(key: string): Promise<MachineDetail>
  /** Owners of keys that are in the store, some at a time; which keys is the worker's choice. Never rejects. */
  someOwners(): Promise<readonly RecordOwner[]>
  /** Does what is asked, with a sandbox of its own. Never rejects. */
  act(request: ActionRequest): Promise<ActionAnswer>
}
