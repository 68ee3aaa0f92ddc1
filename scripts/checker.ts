/**
 * `npm run checker`: searches all that can come of a few processes and a bounded number of faults, by the reducers of
 * production. `--config NAME` makes one search, by its name in docs/checked.md: `guard` looks for the least guard that
 * is safe under the clocks that are assumed. `--large` makes those that take too long for CI; `--left-out` prints what
 * each search leaves out as well. `--write` puts the figures into docs/checked.md. `--jobs N` makes so many searches at
 * a time (default 2), the largest first.
 *
 * The last line is `checker: searches <n>, states <n>, violations <n>`. The exit code is 1 where a law was broken, a
 * search was not complete, or docs/checked.md tells of another number of states.
 */
import { readFileSync, writeFileSync } from "node:fs"
import process from "node:process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { runApart, wholeOf } from "./apart.ts"
import { all, chosen } from "./checker/choice.ts"
import { type Figures, figuresOf, rewritten } from "./checker/page.ts"
import { search, type Searched } from "./checker/search.ts"

const { values: args } = parseArgs({
  options: {
    config: { type: "string", multiple: true },
    large: { type: "boolean", default: false },
    "left-out": { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    jobs: { type: "string", default: "2" },
    /**
     * Of a worker of this script: its searches come by standard input, one a line, what they came to leaves as JSON.
     */
    worker: { type: "boolean", default: false },
  },
})
const page = new URL("../docs/checked.md", import.meta.url)

if (args.worker) await work()
else await main(known(chosen(args)))

function known(names: readonly string[]): readonly string[] {
  const unknown = names.filter((name) => !all.includes(name))
  if (unknown.length === 0) return names
  console.error(`no such search: ${unknown.join(", ")}; there are ${all.join(", ")}`)
  process.exit(2)
}

async function main(names: readonly string[]): Promise<void> {
  const found = new Map<string, Searched>()
  const told = figuresOf(readFileSync(page, "utf8"))
  const left = names.toSorted((a, b) => (told.get(b)?.states ?? 0) - (told.get(a)?.states ?? 0))
  const again = [...process.execArgv, fileURLToPath(import.meta.url), "--worker"]
  const words = args["left-out"] ? [...again, "--left-out"] : again
  await runApart({ words, left, jobs: wholeOf(args.jobs, 1), note })
  function note(one: Searched): void {
    found.set(one.name, one)
    console.log(one.text)
    if (one.isBroken || !one.isComplete) process.exitCode = 1
  }
  if (args.write) writeFileSync(page, rewritten(readFileSync(page, "utf8"), found))
  else compare(found, told)
  const made = [...found.values()]
  const states = made.reduce((sum, one) => sum + one.states, 0)
  console.log(`memory: ${Math.max(...made.map(({ gigabytes }) => gigabytes)).toFixed(1)} GB at most, of one search`)
  console.log(
    `checker: searches ${made.length}, states ${states}, violations ${made.filter(({ isBroken }) => isBroken).length}`,
  )
}

/** How long it takes is the machine's, how many there are isn't. */
function compare(found: ReadonlyMap<string, Figures>, told: ReadonlyMap<string, Figures>): void {
  for (const [name, { states }] of found) {
    const before = told.get(name)?.states
    if (before === states) continue
    console.log(`docs/checked.md tells of ${before ?? "no"} states in ${name}: look why, then write them with --write`)
    process.exitCode = 1
  }
}

async function work(): Promise<void> {
  for await (const name of createInterface({ input: process.stdin }))
    console.log(JSON.stringify(search(name, { leftOut: args["left-out"] })))
}
