/**
 * `npm run checker`: searches all that can come of a few processes and a bounded number of faults, by the reducers of
 * production. `--config NAME` makes one search; `--guard` looks for the least guard that is safe under the clocks that are
 * assumed; `--states` prints what each search leaves out as well.
 *
 * The last line is `checker: searches <n>, states <n>, violations <n>`. The exit code is 1 where a law was broken, or a
 * search was not complete.
 */
import process from "node:process"
import { parseArgs } from "node:util"
import { configurations, guardOptions } from "../src/testing/check/configurations.ts"
import { check, type CheckResult, smallestGuard } from "../src/testing/check/mod.ts"

const { values: args } = parseArgs({
  options: {
    config: { type: "string", multiple: true },
    guard: { type: "boolean", default: false },
    states: { type: "boolean", default: false },
  },
})

const names = args.config ?? Object.keys(configurations)
const unknown = names.filter((name) => !Object.hasOwn(configurations, name))
if (unknown.length > 0) {
  console.error(`no such search: ${unknown.join(", ")}; there are ${Object.keys(configurations).join(", ")}`)
  process.exit(2)
}

let searches = 0
let states = 0
let violations = 0
for (const name of names) tell(name, configurations[name]!.why, () => check(configurations[name]!.options))
if (args.guard || args.config === undefined) tellGuard()
console.log(`checker: searches ${searches}, states ${states}, violations ${violations}`)

function tell(name: string, why: string, run: () => CheckResult): void {
  const from = performance.now()
  const result = run()
  count(result)
  const seconds = ((performance.now() - from) / 1000).toFixed(1)
  const came = result.broken === undefined ? (result.complete ? "all of them" : "NOT ALL of them") : "BROKEN"
  console.log(`${name}: ${result.states} states, depth ${result.depth}, ${came}, ${seconds} s: ${why}`)
  if (result.broken !== undefined)
    console.log(`  ${result.broken}\n${result.trail.map((line) => `  ${line}`).join("\n")}`)
  else if (!result.complete) process.exitCode = 1
  if (args.states) console.log(result.leftOut.map((line) => `  left out: ${line}`).join("\n"))
  if (result.broken === undefined) return
  violations++
  process.exitCode = 1
}

/** What is broken with less is no violation: it shows that the guard is needed. */
function tellGuard(): void {
  const { guard, safe, unsafe } = smallestGuard(guardOptions)
  count(safe)
  const { drift = 0, dates = 0 } = guardOptions.clockError ?? {}
  console.log(
    `guard: ${guard} ms is the least for a ttl of ${guardOptions.ttl}, dates ${dates} apart and clocks ${drift * 100} % off:` +
      ` ${safe.states} states with it, all of them; with 100 ms less, ${unsafe.broken}`,
  )
}

function count(result: CheckResult): void {
  searches++
  states += result.states
}
