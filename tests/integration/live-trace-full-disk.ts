/**
 * A worker whose trace has no room until some is made: `live-trace-full-disk.ts <directory> <small file system>`.
 * Prints what it did and what it was told as JSON.
 */
import { rmSync, statfsSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { fileStore } from "../../src/locks/stores/file/mod.ts"
import { defineSandbox, LockError, SandboxManager, unchecked } from "../../src/mod.ts"
import { liveClock } from "../../src/runtime/time/clock.ts"

const [directory = "", small = ""] = process.argv.slice(2)
const [file, filling] = [join(small, "t.ndjson"), join(small, "filling")]

const counter = defineSandbox({
  name: "counter",
  schema: unchecked<{ n: number }>(),
  restore: () => ({ n: 0 }),
  checkpoint: ({ n }) => ({ n }),
})

/** So many bytes are left. */
function fill(left: number): void {
  const { bavail, bsize } = statfsSync(small)
  writeFileSync(filling, new Uint8Array(Math.max(0, bavail * bsize - left)))
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise<void>((resolve) => void liveClock.after(20, resolve))
}

const errors: string[] = []
fill(16_384)
const manager = await SandboxManager.start({
  ...{ store: fileStore({ directory }), sandboxes: [counter], trace: file },
  onError: (error) => void errors.push(error instanceof LockError ? error._tag : String(error)),
})
let uses = 0
async function work(): Promise<void> {
  for (let use = 0; use < 100; use++) uses = await manager.use(counter, "k", (state) => ++state.n)
}

await work()
await until(() => errors.length > 0)
await work()
const whenFull = statSync(file).size
rmSync(filling)
await until(() => statSync(file).size > whenFull)
await work()
await manager[Symbol.asyncDispose]()
console.log(JSON.stringify({ errors, uses, dropped: manager.stats()["traceDropped"] }))
