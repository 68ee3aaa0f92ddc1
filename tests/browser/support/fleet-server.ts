// The inspector's real server, over a worker whose sandboxes do what a test says: screens are tested on fleets of any
// size.
import type { SandboxDetail, SandboxRow, WorkerRow } from "../../../src/inspector/live/model/wire.ts"
import { InspectorHandler } from "../../../src/inspector/live/server/handler.ts"
import type { FleetSink } from "../../../src/inspector/live/stream/source.ts"
import type { MachineDetail } from "../../../src/inspector/live/workers/live-worker.ts"
import { type InspectorOptions, inspectorSettings } from "../../../src/inspector/live/workers/options.ts"
import { liveClock } from "../../../src/runtime/time/clock.ts"
import { listen } from "../../../src/web/serve.ts"
import { ScriptedWorker } from "../../inspector/live/scripted-worker.ts"

/** Long enough to be one, and known to the tests. */
export const TOKEN = "a-token-for-the-browser-tests"

/** A worker that tells of others too, as one that asks them does. */
export class ScriptedFleet extends ScriptedWorker {
  workers: readonly WorkerRow[] = []
  machine: SandboxDetail["machine"] = null

  constructor(name = "eu-1") {
    super(liveClock, name)
  }

  override start(sink: FleetSink): () => void {
    const stop = super.start(sink)
    for (const row of this.workers) sink.worker(row)
    return stop
  }

  override async machineOf(): Promise<MachineDetail> {
    return { machine: this.machine, machineProblem: null }
  }

  /** Rows as they are now, for all who look. */
  tell(rows: readonly SandboxRow[]): void {
    for (const sink of this.sinks) sink.rows(rows)
  }

  /** A worker as it is now. */
  tellWorker(row: WorkerRow): void {
    for (const sink of this.sinks) sink.worker(row)
  }
}

/** A page that is served. */
export interface FleetServer extends AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly fleet: ScriptedFleet
}

/** Serves a fleet; at the same port again where one is given, as a worker does that was restarted. */
export async function serveFleet(
  fleet: ScriptedFleet,
  { port = 0, ...options }: InspectorOptions & { readonly port?: number } = {},
): Promise<FleetServer> {
  const handler = new InspectorHandler(fleet, inspectorSettings({ token: TOKEN, ...options }))
  const server = await listen((request) => handler.fetch(request), { host: "127.0.0.1", port })
  return {
    fleet,
    port: server.port,
    url: `http://127.0.0.1:${server.port}/?token=${encodeURIComponent(handler.token)}`,
    async [Symbol.asyncDispose]() {
      await handler[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}
