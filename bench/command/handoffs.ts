/** How long after a release a waiting `run` has its child at work, against a waiting flock(1). In turns. */
import { type ChildProcess, spawn } from "node:child_process"
import { join } from "node:path"
import process from "node:process"
import { setTimeout } from "node:timers/promises"
import { Contender } from "../file-lock/contender.ts"
import { detail, inTurns, ratio } from "../ratio.ts"
import type { Program } from "./program.ts"

const HANDOFFS = 15
/** By then who waits does so in earnest. */
const SETTLED_MS = 700

/** Prints the figures. */
export async function handoffs(directory: string, command: Program): Promise<void> {
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
  detail("a handoff to a waiting flock(1)", cost.flock, "ms")
  detail("a handoff to a waiting leasehold run", cost.run, "ms")
  ratio("command-handoff/flock", cost.run / cost.flock, "<=", 2)
}

/** From the call that releases to the first word of the command that waited, in ms. */
async function handoff(holder: Contender, [program, ...args]: Program): Promise<number> {
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
