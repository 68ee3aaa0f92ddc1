/**
 * What waiting costs: one real wait of five minutes for a key in a directory that another process holds, as a share of
 * one core. `npm run bench -- wait-cpu --wait=30` waits half a minute.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { LockTimeoutError } from "../src/locks/api/errors.ts"
import { FileLock } from "../src/locks/stores/file/mod.ts"
import { logWaits } from "../src/locks/waits/log.ts"
import { cpuOf, detail, ratio } from "./ratio.ts"

const KEY = "waited/for"
const SECONDS = 300

/** Prints the figure. */
export async function benchWaitCpu(): Promise<void> {
  const seconds = Number(process.argv.find((each) => each.startsWith("--wait="))?.slice(7) ?? SECONDS)
  const directory = await mkdtemp(join(tmpdir(), "leasehold-wait-"))
  const holder = spawn(process.execPath, [...process.execArgv, fileURLToPath(import.meta.url), directory], {
    stdio: ["pipe", "pipe", "inherit"],
  })
  try {
    const [said] = (await Promise.race([once(holder.stdout, "data"), once(holder, "exit")])) as [unknown]
    if (typeof said === "number") throw new Error(`the holder ended with ${said}`)
    let lines = 0
    const observer = logWaits(() => lines++)
    const wait = async (): Promise<void> => {
      const lock = new FileLock(KEY, { directory })
      const error = await lock.acquire({ timeout: seconds * 1000, observer }).catch((refused: unknown) => refused)
      if (!(error instanceof LockTimeoutError)) throw new Error(`the wait ended otherwise: ${String(error)}`)
    }
    const cpu = await cpuOf(wait)
    detail("the wait", seconds, "s")
    detail("CPU of this process meanwhile", cpu / 1000, "ms")
    detail("log lines about it", lines, "lines")
    ratio("wait-cpu/core-in-percent", (cpu / (seconds * 1_000_000)) * 100, "<=", 0.1)
  } finally {
    holder.kill()
    await rm(directory, { recursive: true, force: true })
  }
}

/** The other process: holds the key until it is killed. */
async function hold(directory: string): Promise<void> {
  await new FileLock(KEY, { directory }).acquire()
  process.stdin.resume() // holding a lease keeps no process alive
  console.log("held")
}

const [, program, directory] = process.argv
if (program === fileURLToPath(import.meta.url) && directory !== undefined) await hold(directory)
