import process from "node:process"
// A worker process of its own, with one manager on a directory that it shares, and the page. It says its address, then does what
// it is told line by line: `take KEY` owns a sandbox and keeps it, `ask KEY` wants it where another has it.
import { createInterface } from "node:readline"
import { defineSandbox, SandboxManager, unchecked } from "leasehold"
import { fileStore } from "leasehold/file"
import { serveInspector } from "leasehold/inspector"

const [directory = "", address = "", port = "0", token = ""] = process.argv.slice(2)

const counter = defineSandbox({
  name: "counter",
  schema: unchecked<{ n: number }>(),
  restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
  checkpoint: ({ n }) => ({ n }),
})

await using manager = await SandboxManager.start({
  store: fileStore({ directory }),
  sandboxes: [counter],
  address,
  minTenure: 0,
})
await using page = await serveInspector(manager, { port: Number(port), token, actions: true })
console.log(JSON.stringify({ url: page.url }))
for await (const line of createInterface({ input: process.stdin })) {
  const [what, key = ""] = line.split(" ")
  if (what === "end") break
  const whenOwned = what === "ask" ? "request" : "wait"
  void manager.restoreSandbox(counter, key, { whenOwned, timeout: "60 s" }).then(
    () => console.log(JSON.stringify({ owns: key })),
    (error: unknown) => console.log(JSON.stringify({ failed: String(error) })),
  )
}
