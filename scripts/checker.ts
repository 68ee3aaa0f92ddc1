/**
 * `npm run checker`: searches all that can come of a few processes and a bounded number of faults, by the reducers of
 * production. `--config NAME` makes one search, `--large` those that take too long for CI; `--guard` looks for the least guard
 * that is safe under the clocks that are assumed; `--left-out` prints what each search leaves out as well. `--write` puts the
 * figures into docs/checked.md.
 *
 * The last line is `checker: searches <n>, states <n>, violations <n>`. The exit code is 1 where a law was broken, a search was
 * not complete, or docs/checked.md tells of another number of states.
 */
import { readFileSync, writeFileSync } from "node:fs"
import process from "node:process"
import { parseArgs } from "node:util"
import { configurations, guardSearch, larger } from "../src/testing/check/configurations.ts"
import { check, type CheckResult, smallestGuard } from "../src/testing/check/mod.ts"
import { type Figures, figuresOf, GUARD, rewritten } from "./checker/page.ts"

const { values: args } = parseArgs({
  options: {
    config: { type: "string", multiple: true },
    large: { type: "boolean", default: false },
    guard: { type: "boolean", default: false },
    "left-out": { type: "boolean", default: false },
    write: { type: "boolean", default: false },
  },
})

const all = { ...configurations, ...larger }
const names = args.config ?? Object.keys(args.large ? larger : configurations)
const unknown = names.filter((name) => !Object.hasOwn(all, name))
if (unknown.length > 0) {
  console.error(`no such search: ${unknown.join(", ")}; there are ${Object.keys(all).join(", ")}`)
  process.exit(2)
}

const page = new URL("../docs/checked.md", import.meta.url)
const found = new Map<string, Figures>()
let violations = 0
for (const name of names) tell(name)
if (args.guard || (args.config === undefined && !args.large)) tellGuard()
const gigabytes = (process.resourceUsage().maxRSS / 2 ** 20).toFixed(1)
console.log(`memory: ${gigabytes} GB at most`)
if (args.write) writeFileSync(page, rewritten(readFileSync(page, "utf8"), found))
else compare()
const states = Array.from(found.values(), (figures) => figures.states).reduce((sum, count) => sum + count, 0)
console.log(`checker: searches ${found.size}, states ${states}, violations ${violations}`)

function tell(name: string): void {
  const { why, options } = all[name]!
  const result = check(options)
  const { states: count, depth, ms, broken, complete, trail, leftOut } = result
  const seconds = ms / 1000
  const came = broken === undefined ? (complete ? "all of them" : "NOT ALL of them") : "BROKEN"
  console.log(`${name}: ${count} states, depth ${depth}, ${came}, ${seconds.toFixed(1)} s: ${why}`)
  if (broken !== undefined) console.log(`  ${broken}\n${trail.map((line) => `  ${line}`).join("\n")}`)
  if (args["left-out"]) console.log(leftOut.map((line) => `  left out: ${line}`).join("\n"))
  take(name, result, seconds)
}

/** What is broken with less is no violation: it shows that the guard is needed. */
function tellGuard(): void {
  const from = performance.now()
  const { options } = guardSearch
  const { guard, safe, unsafe } = smallestGuard(options)
  const { drift = 0, dates = 0 } = options.clockError ?? {}
  console.log(
    `guard: ${guard} ms is the least for a ttl of ${options.ttl}, dates ${dates} apart and clocks ${drift * 100} % off:` +
      ` ${safe.states} states with it, all of them; with 100 ms less, ${unsafe.broken}`,
  )
  take(GUARD, safe, (performance.now() - from) / 1000)
}

function take(name: string, { states: count, broken, complete }: CheckResult, seconds: number): void {
  found.set(name, { states: count, seconds })
  if (broken !== undefined) violations++
  if (!complete) process.exitCode = 1
}

/** How long it takes is the machine's, how many there are isn't. */
function compare(): void {
  const told = figuresOf(readFileSync(page, "utf8"))
  for (const [name, figures] of found) {
    const before = told.get(name)?.states
    if (before === figures.states) continue
    console.log(`docs/checked.md tells of ${before ?? "no"} states in ${name}: look why, then write them with --write`)
    process.exitCode = 1
  }
}
