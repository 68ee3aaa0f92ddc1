// One worker of the routing job: a manager that takes calls of other workers, and `POST /notes/:key` for clients. The
// job starts it with its settings as one JSON argument. It prints reports (../reports.ts), and hands over at SIGTERM.
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import process from "node:process"
import { drainOnSignals, LockError, SandboxManager } from "leasehold"
import { fileStore } from "leasehold/file"
import { nodeListener, serveWorker } from "leasehold/http"
import { report } from "../reports.ts"
import { tellLease } from "../telling.ts"
import { type Note, notes } from "./notes.ts"

export interface RoutingSettings {
  readonly name: string
  readonly directory: string
  /** In seconds. */
  readonly ttl: number
}

/** What a client sends: one row, and how the call is known. */
export interface NoteRequest {
  readonly note: Note
  readonly id: string
  /** In Unix milliseconds. */
  readonly sentAt: number
}

/** Where other workers send calls. */
const CALLS = "/_leasehold/"

async function work({ directory, ttl }: RoutingSettings): Promise<void> {
  const server = createServer()
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const store = fileStore({ directory })
  const manager = await SandboxManager.start({ store, sandboxes: [notes], address: url, ttl: ttl * 1000 })
  manager.events$.subscribe(tellLease)
  const calls = nodeListener(serveWorker(manager)) // by the job's LEASEHOLD_SECRET
  server.on("request", (request, response) => {
    if (request.url?.startsWith(CALLS)) calls(request, response)
    else void answer(manager, request, response)
  })
  report({ what: "ready", url, page: url, runtime: process.version })
  drainOnSignals(manager, {
    servers: [server],
    onDrained: ({ stuck }) => report({ what: "drained", stuck }),
  })
}

async function answer(manager: SandboxManager, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, key = ""] = /^\/notes\/(\w+)$/.exec(request.url ?? "") ?? []
  try {
    if (request.method !== "POST") return void response.end(JSON.stringify(manager.stats()))
    let body = ""
    for await (const chunk of request) body += String(chunk)
    const { note, id, sentAt } = JSON.parse(body) as NoteRequest
    const count = await manager.call(notes, key, "write", note, { id, sentAt, timeout: "30 s" })
    response.end(JSON.stringify({ count }))
  } catch (error) {
    const { message } = error as Error
    response.writeHead(error instanceof LockError ? 503 : 500).end(message)
  }
}

try {
  await work(JSON.parse(process.argv[2] ?? "{}") as RoutingSettings)
} catch (error) {
  report({ what: "failed", error: error instanceof Error ? error.message : String(error) })
  process.exitCode = 1
}
