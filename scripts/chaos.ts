/**
 * `npm run chaos`: real workers on the real fake-gcs-server under kill -9, SIGSTOP, partitions, faulty answers and
 * strangers, judged by what they wrote down, and their traces by the invariants of simulations. `--minutes N` (default
 * 1), `--runtime node|deno|mixed` (default mixed), `--seed N`. `--mutant NAME` lets workers with a careless change run:
 * `every lease is over`, `states are acknowledged unwritten`, or a name of `npm run mutants`. Then the oracle has
 * something to find.
 *
 * The last line is `chaos: handoffs <n>, takeovers <n>, overlaps <n>, lost rows <n>`. The exit code is 1 where anything
 * is wrong, or where fewer changes of owner came about than 1,000 in 3 minutes.
 */
import { spawnSync } from "node:child_process"
import process from "node:process"
import { parseArgs } from "node:util"
import { allInvariants } from "../src/testing/invariants/mod.ts"
import { chaosRun } from "../tests/chaos/run.ts"
import { mutants } from "./mutants/list.ts"
import type { Mutant } from "./mutants/mutant.ts"
import { makeTree } from "./mutants/tree.ts"

/** What a run is made of beside the sources. */
const programs = ["tests/chaos", "tests/support", "tests/integration/support", "examples/sqlite-workers", "deno.json"]

/** Show that the oracle sees overlaps and lost rows: real processes hardly ever meet in a smaller gap. */
const blunt: readonly Pick<Mutant, "name" | "edits">[] = [
  {
    name: "every lease is over",
    edits: [
      {
        file: "src/locks/protocol/rules/expiry.ts",
        find: "  const half = record.owner\n",
        replace: "  const half = record.owner\n  if (half !== undefined) return true\n",
      },
      // Whoever isn't known to have ended is waited out (rule 15): with the first change alone nobody would ever run.
      {
        file: "src/locks/protocol/rules/expiry.ts",
        find: '  if (past !== undefined || view.evidence?.owner === "gone") return true\n',
        replace: "  if (past !== undefined || view !== undefined) return true\n",
      },
    ],
  },
  {
    name: "states are acknowledged unwritten",
    edits: [
      {
        file: "src/actors/sandbox/work/commits.ts",
        find: "      await this.#steps.write(saved)\n      batch.resolve()\n",
        replace: "      batch.resolve()\n      await this.#steps.write(saved)\n",
      },
    ],
  },
]

const { values: args } = parseArgs({
  options: {
    minutes: { type: "string", default: "1" },
    runtime: { type: "string", default: "mixed" },
    seed: { type: "string", default: "1" },
    mutant: { type: "string" },
  },
})
const minutes = Number(args.minutes)
const seed = Number(args.seed)
const { runtime } = args
if (
  !(minutes > 0) ||
  !Number.isSafeInteger(seed) ||
  (runtime !== "node" && runtime !== "deno" && runtime !== "mixed")
) {
  console.error("usage: npm run chaos -- [--minutes N] [--runtime node|deno|mixed] [--seed N] [--mutant NAME]")
  process.exit(2)
}
if (args.mutant === undefined) await run()
else runMutant(args.mutant)
process.exit() // what a killed worker's connections leave in this process is of no interest

async function run(): Promise<void> {
  const verdict = await chaosRun({ minutes, runtime: runtime as "mixed", seed })
  const { handoffs, takeovers, acts, stored, overlaps, lost, problems, violations, lines, folder } = verdict
  const broken = violations.map(({ invariant, message, line }) => `${invariant}: ${message} (line ${line})`)
  const wrong = { overlap: overlaps, "lost row": lost, problem: problems, violation: broken }
  for (const [what, list] of Object.entries(wrong)) for (const one of list.slice(0, 10)) console.log(`${what}: ${one}`)
  const isWrong = Object.values(wrong).some((list) => list.length > 0)
  const goal = Math.round((1000 / 3) * minutes)
  if (isWrong) console.log(`the log and the trace are in ${folder}`)
  if (handoffs + takeovers < goal) console.log(`too little happened: ${goal} changes of owner are the least`)
  console.log(
    `${acts} acts, ${stored} acknowledged rows, ${problems.length} problems, seed ${seed}, workers on ${runtime}; ` +
      `${violations.length} violations of ${allInvariants.length} invariants in a trace of ${lines} lines`,
  )
  console.log(
    `chaos: handoffs ${handoffs}, takeovers ${takeovers}, overlaps ${overlaps.length}, lost rows ${lost.length}`,
  )
  process.exitCode = isWrong || handoffs + takeovers < goal ? 1 : 0
}

/** The same in a copy of the sources with one careless change. */
function runMutant(name: string): void {
  const mutant = [...blunt, ...mutants].find((one) => one.name === name)
  if (mutant === undefined) {
    console.error(`no such mutant; there are ${[...blunt, ...mutants].map((one) => one.name).join("; ")}`)
    process.exit(2)
  }
  using tree = makeTree(`chaos ${name}`, mutant.edits, programs)
  const own = ["--minutes", args.minutes, "--runtime", args.runtime, "--seed", args.seed]
  const { status } = spawnSync(process.execPath, [...process.execArgv, "scripts/chaos.ts", ...own], {
    cwd: tree.root,
    stdio: "inherit",
  })
  process.exitCode = status ?? 1
}
