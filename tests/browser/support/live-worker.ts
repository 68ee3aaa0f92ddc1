// A worker process of its own: one manager on a directory that it shares, and the page, at the address where others ask
// too. It says its page's address, then does what it is told line by line: `own KEY` has the sandbox, and asks for it
// where another has it.
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import process from "node:process"
import { createInterface } from "node:readline"
import { defineSandbox, SandboxManager, unchecked } from "leasehold"
import { fileStore } from "leasehold/file"
import { inspector, nodeListener } from "leasehold/inspector"

const [name = "", directory = "", port = "0", token = "", ...peers] = process.argv.slice(2)

const counter = defineSandbox({
  name: "counter",
  schema: unchecked<{ n: number }>(),
  restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
  checkpoint: ({ n }) => ({ n: n + 1 }),
})

const server = createServer()
server.listen(Number(port), "127.0.0.1")
await once(server, "listening")
const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const manager = await SandboxManager.start({
  store: fileStore({ directory }),
  sandboxes: [counter],
  address,
  minTenure: 0,
  trace: { worker: name },
})
const page = inspector(manager, { token, peers, actions: true })
server.on("request", nodeListener(page))
const say = (what: object): void => console.log(JSON.stringify(what))
say({ url: `${address}/?token=${token}`, address })
for await (const line of createInterface({ input: process.stdin })) {
  const [, key = ""] = line.split(" ")
  void manager.restoreSandbox(counter, key, { whenOwned: "request", timeout: "60 s" }).then(
    () => say({ owns: key }),
    (error: unknown) => say({ failed: String(error) }),
  )
}
process.exit()
