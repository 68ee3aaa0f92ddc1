// The first sandbox of the README: a counter that goes on where the process before it stopped. Run it twice:
//     npm run counter
//     npm run counter:deno
import { homedir } from "node:os"
import { join } from "node:path"
import { defineSandbox, SandboxManager, unchecked } from "leasehold"
import { fileStore } from "leasehold/file"

const counter = defineSandbox({
  name: "counter",
  schema: unchecked<{ n: number }>(), // or any Standard Schema, such as one of zod's
  restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
  checkpoint: (state) => ({ n: state.n }),
})

const directory = join(homedir(), ".leasehold-counter")
await using manager = await SandboxManager.start({ store: fileStore({ directory }), sandboxes: [counter] })

// One process at a time may count for user-42; the answer comes when the new count is stored.
const n = await manager.use(counter, "user-42", (state) => ++state.n, { durable: true })
console.log(`user-42 has counted to ${n}. Run me again: I go on from there (${directory}).`)
