/**
 * Many runs of the `leasehold` command that want one key at the same time, each with a little work to do under it,
 * against as many flock(1): how long all of them take, the longest time in which nobody came to work, and what they
 * take of the CPU, beside the same runs with nobody to wait for. In one go, since each takes half a minute.
 */
import { spawn, spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { detail, ratio } from "../ratio.ts"
import type { Program } from "./program.ts"

const CONTENDERS = 200
/** Runs that don't contend, to know what one takes. */
const ALONE = 20
/** Of the times in `/proc`: USER_HZ is 100 wherever Linux runs Node. In milliseconds. */
const TICK_MS = 10

/** What a crowd of contenders came to, in milliseconds. */
interface Crowd {
  readonly took: number
  readonly cpu: number
  readonly longestGap: number
}

/** Prints the figures. */
export async function contenders(directory: string, command: Program): Promise<void> {
  const run = [...command, "run", "--store", `file:${join(directory, "contenders")}`] as const
  const alone = cpuOf(() => {
    for (let at = 0; at < ALONE; at++) {
      const ended = spawnSync(run[0], [...run.slice(1), `alone-${at}`, "--", "true"])
      if (ended.status !== 0) throw new Error(`a run alone ended with ${ended.status}`)
    }
  })
  const flocks = await crowd(directory, "flock", ["flock", join(directory, "contended")])
  const runs = await crowd(directory, "leasehold", [...run, "--lock-timeout", "600", "key", "--"])
  tell("flock(1)", flocks)
  tell("leasehold run", runs)
  ratio("contenders-time/flock", runs.took / flocks.took, "<=", 2.1)
  ratio("contenders-cpu/alone", runs.cpu / ((alone / ALONE) * CONTENDERS), "<=", 1)
}

/** Starts them all at once; each takes the lock, writes down when it began to work, and works for 50 ms. */
async function crowd(directory: string, name: string, [program, ...args]: Program): Promise<Crowd> {
  const log = join(directory, `${name}.log`)
  const work = ["sh", "-c", `date +%s%3N >>${log}; sleep 0.05`]
  const [from, cpuBefore] = [process.hrtime.bigint(), childrenCpu()]
  await Promise.all(
    Array.from({ length: CONTENDERS }, async () => {
      const child = spawn(program, [...args, ...work], { stdio: "ignore" })
      const code = await new Promise<number | null>((resolve, reject) =>
        child.once("error", reject).once("close", resolve),
      )
      if (code !== 0) throw new Error(`${program} ended with ${code}`)
    }),
  )
  const took = Number(process.hrtime.bigint() - from) / 1e6
  const begins = readFileSync(log, "utf8")
    .trim()
    .split("\n")
    .map(Number)
    .toSorted((a, b) => a - b)
  if (begins.length !== CONTENDERS) throw new Error(`${begins.length} of ${CONTENDERS} have worked`)
  const gaps = begins.slice(1).map((at, index) => at - begins[index]!)
  return { took, cpu: childrenCpu() - cpuBefore, longestGap: Math.max(...gaps) }
}

function tell(name: string, { took, cpu, longestGap }: Crowd): void {
  detail(`${CONTENDERS} at once by ${name}`, took, "ms")
  detail("of the CPU", cpu, "ms")
  detail("the longest time in which nobody came to work", longestGap, "ms")
}

function cpuOf(work: () => void): number {
  const before = childrenCpu()
  work()
  return childrenCpu() - before
}

/**
 * What the children that have ended took, and theirs that they waited for, in milliseconds of CPU: fields 16 and 17 of
 * `stat`.
 */
function childrenCpu(): number {
  const stat = readFileSync("/proc/self/stat", "utf8")
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS
}
