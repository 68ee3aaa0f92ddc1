/**
 * HTTP in front of sandboxes, in lives that each end as a process would: `shutdown-worker.ts <directory> <lives>`. A
 * life counts in a sandbox of its own, durably. At `end <life>` on standard input it gets SIGTERM; at its exit its
 * sockets are closed as they are, as those of a process. With 0 lives there is one, which is the process's own.
 *
 * It says `life <life> <url>` when one listens, and `over <life> <exit code> <count that is stored>`.
 */
import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import process from "node:process"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"
import { fileStore } from "../../src/locks/stores/file/mod.ts"
import {
  type AnsweringServer,
  defineSandbox,
  drainOnSignals,
  LockError,
  SandboxManager,
  type ShutdownSignal,
  type SignalPort,
  unchecked,
} from "../../src/mod.ts"

interface DenoServer {
  readonly addr: { readonly port: number }
  shutdown(): Promise<void>
}
type Serve = (
  options: { port: number; hostname: string; signal: AbortSignal; onListen: () => void },
  handler: () => Promise<Response>,
) => DenoServer
const { Deno: deno } = globalThis as { readonly Deno?: { readonly serve: Serve } }

/** Each answer is written in parts, with time in between: there is always one that is being written. */
const PART = "x".repeat(20_000)
const PARTS = 3
const PAUSE_MS = 2

const counter = defineSandbox({
  name: "counter",
  schema: unchecked<{ n: number }>(),
  restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
  checkpoint: ({ n }) => ({ n }),
})

/** Something that answers with what a use counts to; `cut` closes its sockets as they are. */
interface Listening {
  readonly url: string
  readonly server: AnsweringServer
  cut(): unknown
}

type Count = () => Promise<number>

const statusOf = (error: unknown): number =>
  error instanceof LockError && /CLOSED|HANDING/.test(error.code) ? 503 : 500

async function write(response: ServerResponse, count: Count): Promise<void> {
  try {
    const n = await count()
    response.writeHead(200, { "x-count": n })
  } catch (error) {
    return void response.writeHead(statusOf(error)).end(String(error))
  }
  for (let part = 0; part < PARTS; part++) {
    response.write(PART)
    await sleep(PAUSE_MS)
  }
  response.end()
}

async function onNode(count: Count): Promise<Listening> {
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => void (request.resume(), write(response, count)))
  server.on("connection", (socket: Socket) => {
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, server, cut: () => sockets.forEach((socket) => socket.destroy()) }
}

function onDeno(serve: Serve, count: Count): Listening {
  const end = new AbortController()
  const answer = async (): Promise<Response> => {
    try {
      const n = await count()
      const body = new ReadableStream<Uint8Array>({
        async start(stream) {
          for (let part = 0; part < PARTS; part++) {
            stream.enqueue(new TextEncoder().encode(PART))
            await sleep(PAUSE_MS)
          }
          stream.close()
        },
      })
      return new Response(body, { headers: { "x-count": String(n) } })
    } catch (error) {
      return new Response(String(error), { status: statusOf(error) })
    }
  }
  const server = serve({ port: 0, hostname: "127.0.0.1", signal: end.signal, onListen: () => {} }, answer)
  let isOver = false
  const shutdown = async (): Promise<void> => {
    await server.shutdown()
    isOver = true // Deno throws for an abort after that
  }
  return { url: `http://127.0.0.1:${server.addr.port}`, server: { shutdown }, cut: () => isOver || end.abort() }
}

/** Begins a life; calling the result is its SIGTERM. */
async function live(life: number, directory: string): Promise<() => void> {
  const manager = await SandboxManager.start({
    store: fileStore({ directory }),
    sandboxes: [counter],
    incarnation: { id: `life-${life}` },
  })
  const count: Count = () => manager.use(counter, `life-${life}`, (state) => ++state.n, { durable: true })
  const listening = deno !== undefined && life % 2 === 1 ? onDeno(deno.serve, count) : await onNode(count)
  let ask = (): void => {}
  const port: SignalPort = {
    on: (signal: ShutdownSignal, listener) => void (signal === "SIGTERM" && (ask = listener)),
    off() {},
    exit(code) {
      listening.cut()
      void manager.readCheckpoint(counter, `life-${life}`).then((saved) => say("over", life, code, saved?.n ?? 0))
    },
  }
  drainOnSignals(manager, { servers: [listening.server], ...(lives > 0 && { port }) })
  say("life", life, listening.url)
  return () => ask()
}

const say = (...words: readonly unknown[]): void => console.log(words.join(" "))

const [directory = "", given = "0"] = process.argv.slice(2)
const lives = Number(given)
const asks = new Map<number, () => void>()
for (let life = 0; life < Math.max(1, lives); life++) asks.set(life, await live(life, directory))
const lines = createInterface(process.stdin)
lines.on("line", (line) => asks.get(Number(line.split(" ")[1]))?.())
