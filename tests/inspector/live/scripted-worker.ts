// A worker whose sandboxes do what a test says, on a clock of the test's: the port that an inspector stands on.
import type { ActionAnswer, ActionRequest, SandboxDetail, SandboxRow } from "../../../src/inspector/live/model/wire.ts"
import type { FleetSink } from "../../../src/inspector/live/stream/source.ts"
import type { LiveWorker, MachineDetail, RecordOwner } from "../../../src/inspector/live/workers/live-worker.ts"
import type { Clock } from "../../../src/runtime/time/clock.ts"
import type { TraceLine } from "../../../src/trace/trace.ts"
import { worker } from "./made.ts"

export class ScriptedWorker implements LiveWorker {
  readonly clock: Clock
  readonly worker: string
  readonly ownerId: string
  address: string | null = null
  rows: SandboxRow[] = []
  owners: RecordOwner[] = []
  record: SandboxDetail["store"] = null
  readonly acts: ActionRequest[] = []
  readonly sinks: Set<FleetSink> = new Set()

  constructor(clock: Clock, name = "a") {
    this.clock = clock
    this.worker = name
    this.ownerId = `${name}1`
  }

  start(sink: FleetSink): () => void {
    this.sinks.add(sink)
    sink.worker(worker({ worker: this.worker, ownerId: this.ownerId, address: this.address }))
    sink.rows(this.rows)
    return () => this.sinks.delete(sink)
  }

  say(...lines: TraceLine[]): void {
    for (const sink of this.sinks) for (const line of lines) sink.line(line)
  }

  find(key: string): SandboxRow | undefined {
    return this.rows.find((row) => row.key === key)
  }

  async recordOf(): Promise<SandboxDetail["store"]> {
    return this.record
  }

  async machineOf(): Promise<MachineDetail> {
    return { machine: null, machineProblem: null }
  }

  async someOwners(): Promise<readonly RecordOwner[]> {
    return this.owners
  }

  async act(request: ActionRequest): Promise<ActionAnswer> {
    this.acts.push(request)
    return { done: true, message: "done" }
  }
}
