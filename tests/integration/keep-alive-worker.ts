/**
 * A process whose only work is the `run` of a sandbox: `keep-alive-worker.ts <directory> [<keepAlive>]`. What `run`
 * waits for keeps no process alive. It says `runs`, and `over` at the end of `run`.
 */
import process from "node:process"
import { fileStore } from "../../src/locks/stores/file/mod.ts"
import { defineSandbox, SandboxManager, unchecked } from "../../src/mod.ts"
import { liveClock } from "../../src/runtime/time/clock.ts"

/** Longer than a process takes to end that has nothing to do. */
const RUN_MS = 1000

const [directory = "", keepAlive] = process.argv.slice(2)
const job = defineSandbox({
  name: "job",
  schema: unchecked<null>(),
  restore: () => null,
  checkpoint: () => null,
  run: async () => {
    await new Promise<void>((resolve) => void liveClock.after(RUN_MS, resolve, { background: true }))
    console.log("over")
  },
})
const manager = await SandboxManager.start({
  store: fileStore({ directory }),
  sandboxes: [job],
  ...(keepAlive !== undefined && { keepAlive: keepAlive === "true" }),
})
await manager.restoreSandbox(job, "k")
console.log("runs")
