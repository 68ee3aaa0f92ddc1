/**
 * A process that takes and gives back one lock again and again: `hammer-lock-worker.ts <directory> <log> <cycles>`. While it
 * has the lock it counts on in a file that all share, twice, so that another could come between. It notes each section in its
 * own log. It ends after its cycles, or with its parent.
 */
import { appendFileSync, openSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { FileLock } from "../../src/locks/stores/file/mod.ts"

const [directory = "", logFile = "", cycles = "1"] = process.argv.slice(2)
const log = openSync(logFile, "a")
const counter = join(directory, "counter")
const note = (line: string): void => appendFileSync(log, `${line}\n`)

function countOn(): void {
  const count = Number(readFileSync(counter, "utf8"))
  writeFileSync(counter, String(count + 1))
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
