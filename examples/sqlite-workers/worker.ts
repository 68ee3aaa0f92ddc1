// One worker process: a manager, and an HTTP server in front of it that has the page of the fleet too. Started by
// main.ts with its settings as one JSON argument; it prints reports (reports.ts) and serves until SIGTERM or the end of
// its standard input, which is how it learns that the driver is gone. Then it drains, lets the answers in flight end,
// and exits with 0 if every sandbox left.
import { once } from "node:events"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import process from "node:process"
import { drainOnSignals, SandboxManager, type SignalPort } from "leasehold"
import { inspector, nodeListener } from "leasehold/inspector"
import { ActLog } from "./act-log.ts"
import { database } from "./database.ts"
import { handler } from "./http.ts"
import { report } from "./reports.ts"
import { openStore, type StoreChoice } from "./store.ts"
import { tellLease, tellStates } from "./telling.ts"

export interface WorkerSettings extends StoreChoice {
  readonly name: string
  /** The file of the act log. */
  readonly acts: string
  /** In seconds. */
  readonly ttl: number
  /** Addresses of workers that the page shows from the start; others it finds by the records. */
  readonly peers: readonly string[]
}

const DRAIN_WITHIN = "10 s"
/** For clients that take no answer, or have a page open. */
const LAST_WORDS_WITHIN = "1 s"
/** Where workers look for each other, so that one path serves both them and people. */
const PAGE_PATH = "/_leasehold/"

async function work(settings: WorkerSettings): Promise<void> {
  const acts = new ActLog(settings.acts)
  const server = createServer()
  const url = await listen(server)
  const manager = await SandboxManager.start({
    store: openStore(settings),
    sandboxes: [database],
    address: url,
    ttl: settings.ttl * 1000,
    // By default an owner may keep a sandbox for 5 s before it is asked to hand it over, so that traffic can't make it
    // ping-pong. Here each request means to move it.
    minTenure: 0,
    inspect: tellStates(),
    trace: { worker: settings.name },
  })
  manager.events$.subscribe(tellLease)
  // The other worker is seen on it too, as both have the driver's LEASEHOLD_SECRET.
  const page = inspector(manager, { actions: true, peers: settings.peers })
  const [look, query] = [nodeListener(page), handler({ manager, acts, process: `${settings.name}-${process.pid}` })]
  server.on("request", (request, response) => {
    if (request.url?.startsWith(PAGE_PATH)) look(request, response)
    else query(request, response)
  })
  report({ what: "ready", url, page: `${url}${PAGE_PATH}?token=${page.token}`, runtime: runtime() })
  drainOnSignals(manager, {
    port: driver,
    grace: DRAIN_WITHIN,
    servers: [server, () => page[Symbol.asyncDispose]()], // the streams of the page would never end by themselves
    stepWithin: LAST_WORDS_WITHIN,
    onDrained: ({ stuck }) => report({ what: "drained", stuck }),
  })
}

/** On a port that the system chooses. */
async function listen(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function runtime(): string {
  const { deno, node } = process.versions as { deno?: string; node: string }
  return deno === undefined ? `Node ${node}` : `Deno ${deno}`
}

/** How the driver asks this process to end: by SIGTERM, or by its own end. Then the exit code says how that went. */
const driver: SignalPort = {
  on(signal, listener) {
    if (signal === "SIGINT") return void process.on(signal, () => {}) // it reaches the driver too, which sends SIGTERM
    let isAsked = false
    const ask = (): void => {
      if (!isAsked) listener()
      isAsked = true
    }
    process.on(signal, ask)
    process.stdin.on("end", ask).on("error", ask).resume()
  },
  off() {},
  exit: (_code, by) => process.exit(by === undefined ? 0 : 1),
}

try {
  await work(JSON.parse(process.argv[2] ?? "{}") as WorkerSettings)
} catch (error) {
  report({ what: "failed", error: error instanceof Error ? error.message : String(error) })
  process.exitCode = 1
}
