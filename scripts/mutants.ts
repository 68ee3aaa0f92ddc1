/**
 * `npm run mutants`: careless changes of the protocol and of what surrounds it, each of which the simulator, the checker or
 * the models must notice. `--only TEXT` takes those whose name holds it; `--jobs N` runs so many at once (default 2).
 *
 * First the sources as they are go through every hunt that found something: a hunt that finds something there as well
 * proves nothing. The last line is `mutants: <killed>/<total>`; the exit code is 1 where one of them lives.
 */
import { spawn } from "node:child_process"
import process from "node:process"
import { createInterface } from "node:readline"
import { parseArgs } from "node:util"
import { mutants } from "./mutants/list.ts"
import type { Catch, Hunt, Mutant } from "./mutants/mutant.ts"
import { makeTree } from "./mutants/tree.ts"

/** A hunt in a mutant's tree that takes longer is no use. */
const patience = 120_000

const { values: args } = parseArgs({
  options: { only: { type: "string", default: "" }, jobs: { type: "string", default: "2" } },
})
const chosen = mutants.filter(({ name }) => name.includes(args.only))
const useful: Hunt[] = []
let killed = 0
await inTurns(chosen, async (mutant) => {
  const tried = await hunted(mutant)
  const found = tried.at(-1)?.violation !== ""
  if (found) {
    killed++
    const hunt = mutant.hunts[tried.length - 1]
    if (hunt !== undefined) useful.push(hunt)
  }
  report(mutant, tried)
})
const innocent = await control()
console.log(`mutants: ${killed}/${chosen.length}`)
if (killed < chosen.length || !innocent || chosen.length === 0) process.exitCode = 1

async function inTurns(all: readonly Mutant[], work: (mutant: Mutant) => Promise<void>): Promise<void> {
  const left = [...all]
  const worker = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await work(next)
  }
  await Promise.all(Array.from({ length: Number(args.jobs) }, worker))
}

async function hunted({ name, edits, hunts }: Mutant): Promise<readonly Catch[]> {
  using tree = makeTree(name, edits)
  return await run(tree.root, hunts)
}

/** Runs hunts in a tree. One that ends the process, or that doesn't end, has found something all the same. */
async function run(root: string, hunts: readonly Hunt[]): Promise<readonly Catch[]> {
  const from = performance.now()
  const child = spawn(process.execPath, ["scripts/mutants/hunt.ts", JSON.stringify(hunts)], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
  })
  const timer = setTimeout(() => child.kill("SIGKILL"), patience)
  let last = ""
  let errors = ""
  child.stderr.on("data", (data: Buffer) => void (errors += data.toString()))
  for await (const line of createInterface({ input: child.stdout })) last = line
  clearTimeout(timer)
  if (last.startsWith("[")) return JSON.parse(last) as Catch[]
  const ms = Math.round(performance.now() - from)
  throw new Error(`a hunt in ${root} said nothing in ${ms} ms: ${errors.trim()}`)
}

function report({ name }: Mutant, tried: readonly Catch[]): void {
  const { by, count, ms, violation } = tried.at(-1)!
  const how = violation === "" ? "LIVES" : violation.split("\n")[0]!.slice(0, 150)
  console.log(
    `${violation === "" ? "-" : "x"} ${name}: ${by}, ${count} ${count === 1 ? "seed" : "seeds"}, ${ms} ms: ${how}`,
  )
}

/** The sources as they are, through every hunt that killed a mutant. */
async function control(): Promise<boolean> {
  const hunts = [...new Set(useful.map((hunt) => JSON.stringify(hunt)))].map((hunt) => JSON.parse(hunt) as Hunt)
  const tried = await hunted({ name: "none", edits: [], hunts })
  const found = tried.find(({ violation }) => violation !== "")
  console.log(
    found === undefined
      ? `the sources as they are: nothing is found by any of these ${hunts.length} hunts`
      : `the sources as they are: ${found.by} finds something as well: ${found.violation}`,
  )
  return found === undefined
}
