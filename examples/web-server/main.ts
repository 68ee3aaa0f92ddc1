// Seats sold over HTTP by any number of server processes, each seat once.
//     DIRECTORY=~/.leasehold-seats PORT=8081 node --conditions=leasehold-source examples/web-server/main.ts
import { once } from "node:events"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import process from "node:process"
import { drainOnSignals, LockTimeoutError, storeLockProvider } from "leasehold"
import { fileStore } from "leasehold/file"

const directory = process.env["DIRECTORY"] ?? "seats"
const locks = storeLockProvider({ store: fileStore({ directory: join(directory, "locks") }) })
await mkdir(directory, { recursive: true })

/** Undefined where nobody bought it; what can't be read is an error, and no free seat. */
async function buyerOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8")
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return undefined
    throw error
  }
}

/** Who has the seat now, and whether that is news: looked up and decided under the seat's lock. */
function sell(seat: string, buyer: string, signal: AbortSignal): Promise<{ owner: string; sold: boolean }> {
  const file = join(directory, `${seat}.txt`)
  return locks.withLock(
    `seats/${seat}`,
    async (section) => {
      const owner = await buyerOf(file)
      if (owner !== undefined) return { owner, sold: false }
      section.signal.throwIfAborted() // the lease was lost while the file was read
      await writeFile(file, buyer)
      return { owner: buyer, sold: true }
    },
    { timeout: "10 s", signal }, // of whoever asks: who hangs up waits no longer
  )
}

/** POST /seats/12A with the buyer's name. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, seat] = /^\/seats\/([0-9]{1,2}[A-F])$/.exec(request.url ?? "") ?? []
  if (request.method !== "POST" || seat === undefined) return void response.writeHead(404).end("POST /seats/12A\n")
  let buyer = ""
  for await (const chunk of request) buyer += String(chunk)
  const gone = new AbortController()
  response.once("close", () => gone.abort())
  try {
    const { owner, sold } = await sell(seat, buyer, gone.signal)
    response.writeHead(sold ? 201 : 409).end(`${seat} is ${owner}'s\n`)
  } catch (error) {
    const busy = error instanceof LockTimeoutError
    response.writeHead(busy ? 503 : 500, busy ? { "Retry-After": "1" } : {}).end(`${(error as Error).message}\n`)
  }
}

const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()))
server.listen(Number(process.env["PORT"] ?? 0), "127.0.0.1")
await once(server, "listening")
console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
// What was begun is finished and answered. A section releases its lock at its end, so there is no more to hand over.
const nothing = { drain: () => Promise.resolve({ stuck: [] }) }
drainOnSignals(nothing, { servers: [server], stepWithin: "15 s" }) // longer than an answer waits for its seat
