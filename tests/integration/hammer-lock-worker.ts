/**
 * A process that takes and gives back one lock again and again: `hammer-lock-worker.ts <directory> <log> <cycles>`.
 * While it has the lock it counts on in a file that all share, twice, so that another could come between. It notes each
 * section in its own log. It ends after its cycles, or with its parent.
 */
import { appendFileSync, fstatSync, openSync, writeSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { FileLock } from "../../src/locks/stores/file/mod.ts"

const [directory = "", logFile = "", cycles = "1"] = process.argv.slice(2)
const log = openSync(logFile, "a")
const counter = openSync(join(directory, "counter"), "r+")
const note = (line: string): void => appendFileSync(log, `${line}\n`)

/** The count is the length of the file. A byte is written whole or not at all, whenever this process is killed. */
function countOn(): void {
  const count = fstatSync(counter).size
  writeSync(counter, new Uint8Array([120]), 0, 1, count)
  note(`count ${count + 1}`)
}

process.stdin.on("close", () => process.exit()).resume()
const lock = new FileLock("hammer", { directory: join(directory, "locks"), ttl: "10 s" })
for (let cycle = 0; cycle < Number(cycles); cycle++) {
  const lease = await lock.acquire({ timeout: "infinite", contention: "retry" })
  note(`enter ${lease.token}`)
  countOn()
  await new Promise((resolve) => setImmediate(resolve))
  countOn()
  note(`leave ${lease.token}`)
  await lease.release()
}
note("done")
process.exit()
