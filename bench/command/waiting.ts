/**
 * What waiting takes of a core, once it has begun: a `run` that waits for a key, beside a flock(1) that waits for a
 * file and a bare script that lists a directory once a second, all for as long, at the same time. On a machine with
 * nothing else to do a wake-up costs several times what it costs on a busy one: hence the script.
 * `npm run bench -- command --wait=300` looks at five minutes. Linux alone tells of it.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { detail, ratio } from "../ratio.ts"
import type { Program } from "./program.ts"

const listing = fileURLToPath(new URL("./listing.mjs", import.meta.url))
const SECONDS = 60
/** By then a start is over, and the looks are as far apart as they come to be. */
const SETTLED_MS = 5000

/** Prints the figures. */
export async function waiting(directory: string, command: Program): Promise<void> {
  const seconds = Number(process.argv.find((each) => each.startsWith("--wait="))?.slice(7) ?? SECONDS)
  const [file, store] = [join(directory, "waited"), `file:${join(directory, "waiting")}`]
  const run = [...command, "run", "--store", store, "--lock-timeout", "3600", "waited", "--"] as const
  const flock = ["flock", file] as const
  const holders = await Promise.all([flock, run].map(held))
  const waits = [
    [...flock, "true"],
    [process.execPath, listing, directory],
    [...run, "true"],
  ] as const
  const waiters = waits.map(([program, ...args]) => spawn(program, args, { stdio: "ignore" }))
  await setTimeout(SETTLED_MS)
  const before = waiters.map(cpuOf)
  await setTimeout(seconds * 1000)
  const [byFlock = 0, byListing = 0, byRun = 0] = waiters.map((waiter, index) => cpuOf(waiter) - before[index]!)
  for (const waiter of waiters) await ended(waiter, () => waiter.kill())
  for (const holder of holders) await ended(holder, () => holder.stdin!.end())
  detail(`a flock(1) that waits for ${seconds} s, of the CPU`, byFlock, "ms")
  detail(`a script that lists a directory for ${seconds} s, of the CPU`, byListing, "ms")
  detail(`a leasehold run that waits for ${seconds} s, of the CPU`, byRun, "ms")
  ratio("command-waiting/listing", byRun / byListing, "<=", 3)
  ratio("command-waiting/core-in-percent", byRun / (seconds * 10), "<=", 0.1)
}

/** Settles once its child is at work, until its input ends. */
async function held([program, ...args]: Program): Promise<ChildProcess> {
  const holder = spawn(program, [...args, "sh", "-c", "echo held; read end"], { stdio: ["pipe", "pipe", "ignore"] })
  const [said] = (await Promise.race([once(holder.stdout, "data"), once(holder, "close")])) as [unknown]
  if (!Buffer.isBuffer(said)) throw new Error(`${program} ended with ${String(said)} and had nothing`)
  return holder
}

async function ended(child: ChildProcess, end: () => void): Promise<void> {
  const closed = once(child, "close")
  end()
  await closed
}

/**
 * What all threads of a process have taken of the CPU, in milliseconds: the first field of `schedstat`, in nanoseconds.
 */
function cpuOf({ pid }: ChildProcess): number {
  const tasks = `/proc/${pid}/task`
  const each = readdirSync(tasks).map((task) =>
    Number(readFileSync(join(tasks, task, "schedstat"), "utf8").split(" ")[0]),
  )
  return each.reduce((sum, nanoseconds) => sum + nanoseconds, 0) / 1e6
}
