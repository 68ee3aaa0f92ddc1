/** A start: `run … true` in a directory against a bare Node script that takes a lock file and spawns the same child. */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { detail, inTurns, ratio } from "../ratio.ts"
import type { Program } from "./program.ts"

const RUNS = 31
const bare = fileURLToPath(new URL("./bare.mjs", import.meta.url))

/** Prints the figures. */
export async function starts(directory: string, command: Program): Promise<void> {
  const store = `file:${join(directory, "starts")}`
  const cost = await inTurns(RUNS, {
    flock: async () => timed(["flock", join(directory, "start"), "true"]),
    bare: async () => timed([process.execPath, bare, join(directory, "bare.lock"), "true"]),
    run: async () => timed([...command, "run", "--store", store, "key", "--", "true"]),
  })
  detail("flock(1)", cost.flock, "ms")
  detail("a bare script with a lock file", cost.bare, "ms")
  detail("leasehold run", cost.run, "ms")
  ratio("command-run/bare", cost.run / cost.bare, "<=", 1.6)
}

/** Milliseconds from its start to its end. */
function timed([program, ...args]: Program): number {
  const from = process.hrtime.bigint()
  const { status } = spawnSync(program, args, { stdio: "ignore" })
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${status}`)
  return Number(process.hrtime.bigint() - from) / 1e6
}
