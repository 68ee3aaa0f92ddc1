// A worker of the bench: answers each request by one call, at a sandbox of its own or of another worker.
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import process from "node:process"
import { defineSandbox, SandboxManager, unchecked } from "leasehold"
import { fileStore } from "leasehold/file"
import { nodeListener, serveWorker } from "leasehold/http"

const [directory = "", owns] = process.argv.slice(2)
const counter = defineSandbox({
  name: "counter",
  schema: unchecked<{ n: number }>(),
  restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
  checkpoint: ({ n }) => ({ n }),
  calls: { add: { handle: (state: { n: number }) => ++state.n } },
})
const server = createServer()
server.listen(0, "127.0.0.1")
await once(server, "listening")
const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const manager = await SandboxManager.start({ store: fileStore({ directory }), sandboxes: [counter], address })
const calls = nodeListener(serveWorker(manager))
server.on("request", (request, response) => {
  if (request.method === "POST") return calls(request, response)
  void manager.call(counter, "k", "add").then(
    (n) => response.end(JSON.stringify({ n })),
    (error: unknown) => response.writeHead(500).end(String(error)),
  )
})
if (owns !== undefined) await manager.call(counter, "k", "add")
process.send?.(address)
