/**
 * The `leasehold` command, bundled as it is published: `run … true` in a directory against a bare Node script that takes a
 * lock file and spawns the same child; and how long after a release a waiting `run` has its child at work, against a waiting
 * flock(1). In turns.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { Contender } from "./file-lock/contender.ts"
import { detail, inTurns, ratio } from "./ratio.ts"

const RUNS = 31
const HANDOFFS = 15
/** By then who waits does so in earnest. */
const SETTLED_MS = 700
const bare = fileURLToPath(new URL("./command/bare.mjs", import.meta.url))
const bundler = fileURLToPath(new URL("../scripts/bundle.ts", import.meta.url))

/** Prints the figures. */
export async function benchCommand(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "leasehold-bench-"))
  try {
    const { status } = spawnSync(process.execPath, [bundler, join(directory, "bin")], { stdio: "ignore" })
    if (status !== 0) throw new Error(`the bundle was not made: ${status}`)
    const command = [process.execPath, join(directory, "bin", "leasehold.js")] as const
    await starts(directory, command)
    await handoffs(directory, command)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

type Command = readonly [string, ...string[]]

async function starts(directory: string, command: Command): Promise<void> {
  const store = `file:${join(directory, "starts")}`
  const cost = await inTurns(RUNS, {
    bare: async () => timed([process.execPath, bare, join(directory, "bare.lock"), "true"]),
    run: async () => timed([...command, "run", "--store", store, "key", "--", "true"]),
  })
  detail("a bare script with a lock file", cost.bare, "ms")
  detail("leasehold run", cost.run, "ms")
  ratio("command-run/bare", cost.run / cost.bare, "<=", 1.6)
}

/** Milliseconds from its start to its end. */
function timed([program, ...args]: Command): number {
  const from = process.hrtime.bigint()
  const { status } = spawnSync(program, args, { stdio: "ignore" })
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${status}`)
  return Number(process.hrtime.bigint() - from) / 1e6
}

async function handoffs(directory: string, command: Command): Promise<void> {
  const store = `file:${directory}`
  const holders = {
    flock: await Contender.start("flock", directory),
    run: await Contender.start("leasehold", directory),
  }
  const cost = await inTurns(HANDOFFS, {
    flock: () => handoff(holders.flock, ["flock", join(directory, "flock"), "echo"]),
    run: () => handoff(holders.run, [...command, "run", "--store", store, "bench", "--", "echo"]),
  })
  holders.flock.kill()
  holders.run.kill()
  detail("a waiting flock(1)", cost.flock, "ms")
  detail("a waiting leasehold run", cost.run, "ms")
  ratio("command-handoff/flock", cost.run / cost.flock, "<=", 2)
}

/** From the call that releases to the first word of the command that waited, in ms. */
async function handoff(holder: Contender, [program, ...args]: Command): Promise<number> {
  await holder.does("acquire", "has")
  const waiter = spawn(program, args, { stdio: ["ignore", "pipe", "ignore"] })
  const ended = Promise.withResolvers<void>()
  waiter.once("close", () => ended.resolve())
  const spoke = firstWord(waiter)
  await setTimeout(SETTLED_MS)
  const gave = await holder.does("release", "gives")
  const cost = Number((await spoke) - gave) / 1e6
  await ended.promise
  return cost
}

function firstWord(child: ChildProcess): Promise<bigint> {
  const { promise, resolve } = Promise.withResolvers<bigint>()
  child.stdout!.once("data", () => resolve(process.hrtime.bigint()))
  return promise
}
