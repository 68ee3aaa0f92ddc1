// A manager that writes its trace. Both are in the directory that it is started in.
import { defineSandbox, SandboxManager, unchecked } from "leasehold"
import { fileStore } from "leasehold/file"

const counter = defineSandbox({
  name: "counter",
  schema: unchecked<{ n: number }>(),
  restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
  checkpoint: (state) => ({ n: state.n }),
})

await using manager = await SandboxManager.start({
  store: fileStore({ directory: "leases" }),
  sandboxes: [counter],
  trace: "leases.ndjson", // or a function that gets each line, or { file, sink, ring, maxBytes, keep, values, worker }
})
await manager.use(counter, "user-42", (state) => ++state.n, { durable: true })
