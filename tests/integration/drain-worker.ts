/**
 * A process that drains on signals: `drain-worker.ts <directory> <file> <bytes>`. Another thread of its one sandbox
 * writes so many bytes, and the work ends with that thread alone. It says how the drain went.
 */
import process from "node:process"
import { Worker } from "node:worker_threads"
import { fileStore } from "../../src/locks/stores/file/mod.ts"
import { defineSandbox, drainOnSignals, SandboxManager, unchecked } from "../../src/mod.ts"
import { writerUrl } from "./support/writer.ts"

const [directory = "", file = "", bytes = ""] = process.argv.slice(2)
const writer = defineSandbox({ name: "writer", schema: unchecked<null>(), restore: () => null, checkpoint: () => null })
const manager = await SandboxManager.start({
  store: fileStore({ directory }),
  sandboxes: [writer],
  settleWithin: "200 ms",
  onError: () => {},
})
const onDrained = (result: object): void => console.log(`drained ${JSON.stringify(result)}`)
drainOnSignals(manager, { grace: "500 ms", onDrained })
await manager.use(writer, "k", () => {
  const thread = new Worker(writerUrl(file, Number(bytes)))
  return new Promise<void>((resolve) => void thread.once("exit", () => resolve()))
})
