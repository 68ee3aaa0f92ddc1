// Two workers of one fleet in this process, each with its page; somebody looks, through one of them, at both. Then all
// is disposed, and the process has to end by itself. Prints what was seen.
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { defineSandbox, memoryStore, SandboxManager, unchecked } from "leasehold"
import { type Inspector, inspector, nodeListener, serveInspector } from "leasehold/inspector"

const store = memoryStore()
const sandbox = defineSandbox({
  name: "counter",
  schema: unchecked<{ n: number }>(),
  restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
  checkpoint: ({ n }) => ({ n }),
})
const secret = "a-secret-of-the-test"

const server = createServer()
server.listen(0, "127.0.0.1")
await once(server, "listening")
const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const parts = { store, sandboxes: [sandbox] }
const b = await SandboxManager.start({ ...parts, address, incarnation: { id: "b" }, trace: { worker: "b" } })
const pageOfB: Inspector = inspector(b, { secret })
server.on("request", nodeListener(pageOfB))
await b.use(sandbox, "k", (state) => ++state.n)

const a = await SandboxManager.start({ ...parts, incarnation: { id: "a" }, trace: { worker: "a" } })
const page = await serveInspector(a, { secret, peers: [address] })
const url = new URL(page.url)
const headers = { authorization: `Bearer ${url.searchParams.get("token")}` }
const answer = await fetch(new URL("./events", url), { headers })
let seen = ""
const reading = (async () => {
  for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
    seen += chunk
    if (/"worker":"b"[^\n]*"runtime":"/.test(seen)) break
  }
})()
await reading
console.log("both are seen")

await page[Symbol.asyncDispose]()
await pageOfB[Symbol.asyncDispose]()
server.close().closeAllConnections()
await a[Symbol.asyncDispose]()
await b[Symbol.asyncDispose]()
console.log("all is disposed")
