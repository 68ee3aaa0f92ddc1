/**
 * `npm run mutants`: careless changes of the protocol and of what surrounds it, each made in a copy of the sources,
 * where the simulator or the checker must notice it, or, for a store's own code, interleavings of its operations.
 * `--only TEXT` takes those whose name holds it; `--jobs N` runs so many at once (default 2). `--unhinted` leaves out
 * the hints, so that each line names the first seed that kills: what hints are to be, once what a seed draws has
 * changed. `--harmless` makes the searches that let some mutants be dropped: none of them must find anything.
 *
 * What killed the mutants then looks at the sources as they are: what finds something there as well proves nothing. The
 * last line is `mutants: <killed>/<total>`; the exit code is 1 where one of them lives, or where nothing was proved.
 */
import { spawn } from "node:child_process"
import process from "node:process"
import { createInterface } from "node:readline"
import { parseArgs } from "node:util"
import { harmlessMutants } from "./mutants/harmless.ts"
import { mutants } from "./mutants/list.ts"
import { type Catch, type Edit, type Hunt, isHint } from "./mutants/mutant.ts"
import { makeTree } from "./mutants/tree.ts"
import { verdictOf } from "./mutants/verdict.ts"

/** What hunts in longer than this is no use; searches that are to find nothing go on to their end. In milliseconds. */
const patience = { killing: 120_000, harmless: 600_000 }

const { values: args } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    jobs: { type: "string", default: "2" },
    unhinted: { type: "boolean", default: false },
    harmless: { type: "boolean", default: false },
  },
})
const jobs = Number(args.jobs)
const chosen = (args.harmless ? harmlessMutants : mutants).filter(({ name }) => name.includes(args.only))
const killers: Hunt[] = []
await (args.harmless ? searchHarmless() : killAll())

async function killAll(): Promise<void> {
  await inTurns(chosen, async (mutant) => {
    const hunts = mutant.hunts.filter((hunt) => !(args.unhinted && isHint(hunt)))
    const tried = hunts.length === 0 ? [] : await hunted(mutant.name, mutant.edits, hunts)
    const { killer, line } = verdictOf(mutant, hunts, tried)
    console.log(line)
    if (killer !== undefined) killers.push(killer)
  })
  const innocent = await areInnocent()
  console.log(`mutants: ${killers.length}/${chosen.length}`)
  if (killers.length < chosen.length || !innocent || chosen.length === 0) process.exitCode = 1
}

async function searchHarmless(): Promise<void> {
  let harmless = 0
  await inTurns(chosen, async ({ name, edits, hunts }) => {
    const tried = await hunted(name, edits, hunts)
    const figures = tried.map(({ count, unit, violation }) => `${count} ${unit}${violation && `: ${violation}`}`)
    console.log(`o ${name}: ${figures.join(", ")}`)
    if (tried.every(({ violation }) => violation === "")) harmless++
  })
  console.log(`harmless: ${harmless}/${chosen.length}`)
  if (harmless < chosen.length || chosen.length === 0) process.exitCode = 1
}

async function inTurns<A>(all: readonly A[], work: (one: A) => Promise<void>): Promise<void> {
  const left = [...all]
  const worker = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await work(next)
  }
  await Promise.all(Array.from({ length: jobs }, worker))
}

async function hunted(name: string, edits: readonly Edit[], hunts: readonly Hunt[]): Promise<readonly Catch[]> {
  using tree = makeTree(name, edits)
  return await run(tree.root, hunts)
}

/** Runs hunts in a tree. One that ends the process, or that doesn't end, is a fault of the hunt. */
async function run(root: string, hunts: readonly Hunt[]): Promise<readonly Catch[]> {
  const child = spawn(process.execPath, ["scripts/mutants/hunt.ts", JSON.stringify(hunts)], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
  })
  const limit = args.harmless ? patience.harmless : patience.killing
  const timer = setTimeout(() => child.kill("SIGKILL"), limit)
  let last = ""
  let errors = ""
  child.stderr.on("data", (data: Buffer) => void (errors += data.toString()))
  for await (const line of createInterface({ input: child.stdout })) last = line
  clearTimeout(timer)
  if (last.startsWith("[")) return JSON.parse(last) as Catch[]
  throw new Error(`the hunts in ${root} came to no end within ${limit} ms: ${errors.trim()}`)
}

/**
 * Whether nothing that killed a mutant finds anything in the sources as they are. That the checker doesn't is what
 * `npm run checker` shows, in minutes.
 */
async function areInnocent(): Promise<boolean> {
  const random = killers.filter(({ by }) => by !== "checker")
  const hunts = [...new Set(random.map((hunt) => JSON.stringify(hunt)))].map((hunt) => JSON.parse(hunt) as Hunt)
  const shares = Array.from({ length: jobs }, (_, share) => hunts.filter((_hunt, at) => at % jobs === share))
  const found: Catch[] = []
  await inTurns(
    shares.map((share, index) => ({ share, name: `none ${index}` })),
    async ({ share, name }) =>
      void found.push(...(await hunted(name, [], share)).filter((one) => one.violation !== "")),
  )
  for (const { by, violation } of found) console.log(`the sources as they are: ${by} finds something too: ${violation}`)
  if (found.length === 0) console.log(`the sources as they are: none of the ${hunts.length} hunts finds anything`)
  return found.length === 0
}
