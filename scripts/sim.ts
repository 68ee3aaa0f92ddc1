/**
 * `npm run sim`: leasehold simulates itself. `--seeds N` runs N seeds from 1 on, or from `--from M` on, as after a run
 * that was broken off; `--seed N` runs one. `--runtime deno` runs them on Deno, `--jobs N` in so many processes
 * (default 2 from 50 seeds on), `--duration "2 min"` each that long. `--first` ends at the first seed that fails and
 * looks for no fewer faults. Each seed is run twice, to see that both runs are the same; of more than 200 one in twenty
 * is, or all with `--twice`.
 *
 * What none of several seeds came to is listed, and `.cache/sim/chart.svg` shows how often 200 or more took each
 * transition. The last line is `sim: seeds <n>, cluster-hours <h>, violations <n>, hash <hex>`. The exit code is 1
 * where a seed failed, or where 200 seeds or more haven't come to everything, and 2 where the words ask for no run.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync } from "node:fs"
import { createRequire } from "node:module"
import process from "node:process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { TraceHash } from "../src/runtime/time/hash.ts"
import { KeptSeeds } from "../src/testing/simulate/kept-seeds.ts"
import { settingsOf, type SimulationSettings } from "../src/testing/simulate/options.ts"
import { attainable } from "../src/testing/simulate/report/sometimes.ts"
import { RunTally } from "../src/testing/simulate/report/tally.ts"
import { formerLedger, ledger, ledgerAfterwards, ledgerWorkload } from "../src/testing/simulate/run/ledger.ts"
import { runSeed } from "../src/testing/simulate/seed.ts"
import { runApart } from "./apart.ts"
import { argumentsOf, isTwice, rerunLine, seedsOf, type SimArguments, usage } from "./sim/arguments.ts"
import { drawChart, type StatePair, StatePairs } from "./sim/state-pairs.ts"

/** One line of a worker of this script: what a seed has shown. */
interface Shown {
  readonly seed: number
  readonly hash: string
  readonly ms: number
  readonly requests: number
  readonly reached: readonly string[]
  readonly problem: string | undefined
  readonly pairs: readonly StatePair[]
}

const args = told(process.argv.slice(2))
/** From so many seeds on a run has to have come to everything that is attainable. */
const enough = 200
const reports = ".cache/sim"
const commit = spawnSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).stdout.trim()
const here = "Deno" in globalThis ? "deno" : "node"

if (args.worker) await work()
else if (args.runtime !== undefined && args.runtime !== here) onOtherRuntime(args.runtime)
else await main()

function told(words: readonly string[]): SimArguments {
  try {
    return argumentsOf(words)
  } catch (error) {
    console.error(`${(error as Error).message}\n${usage}`)
    return process.exit(2)
  }
}

async function main(): Promise<void> {
  const kept = new KeptSeeds(reports)
  const seeds = args.seed !== undefined ? seedsOf(args) : kept.before(seedsOf(args))
  const jobs = args.jobs === undefined ? (seeds.length < 50 ? 1 : 2) : Number(args.jobs)
  const from = performance.now()
  const shown = new Map<number, Shown>()
  const note = (one: Shown): boolean => {
    shown.set(one.seed, one)
    kept.note(one.seed, one.problem === undefined)
    if (one.problem !== undefined) console.log(`\n${one.problem}`)
    if (shown.size % 500 === 0)
      console.log(`${shown.size} of ${seeds.length} seeds, ${Math.round((performance.now() - from) / 1000)} s`)
    return !(args.first && one.problem !== undefined)
  }
  if (jobs === 1) await runHere(seeds, note)
  else await inWorkers(seeds, jobs, note)
  const all = seeds.flatMap((seed) => shown.get(seed) ?? [])
  if (all.length >= enough) await chart(all)
  tell(all, (performance.now() - from) / 1000, jobs)
}

/** How often each transition of the sandbox chart was taken, as a picture. */
async function chart(all: readonly Shown[]): Promise<void> {
  const file = `${reports}/chart.svg`
  mkdirSync(reports, { recursive: true })
  await drawChart(
    all.flatMap(({ pairs }) => pairs),
    file,
  )
  console.log(`the chart, with how often each transition was taken: ${file}`)
}

function tell(all: readonly Shown[], seconds: number, jobs: number): void {
  const hash = new TraceHash()
  for (const one of all) hash.add(one.hash)
  const hours = all.reduce((sum, { ms }) => sum + ms, 0) / 3_600_000
  const violations = all.filter(({ problem }) => problem !== undefined).length
  const twice = all.filter(({ seed }) => isTwice(args, seed)).length
  const runs = (count: (one: Shown) => number): number =>
    all.reduce((sum, one) => sum + count(one) * (isTwice(args, one.seed) ? 2 : 1), 0)
  const each = (count: number): string => (count / seconds / jobs).toFixed(count / seconds / jobs < 10 ? 2 : 0)
  console.log(
    `${seconds.toFixed(1)} s on ${jobs} ${jobs === 1 ? "core" : "cores"}, ${twice} of the seeds run twice; a second of one core:` +
      ` ${each(all.length)} seeds, ${each(runs(({ ms }) => ms) / 3_600_000)} cluster-hours,` +
      ` ${each(runs((one) => one.requests))} requests to the store`,
  )
  const missing = neverReached(all)
  if (missing.length > 0 && all.length > 1) console.log(`never reached: ${missing.join("; ")}`)
  console.log(
    `sim: seeds ${all.length}, cluster-hours ${hours.toFixed(1)}, violations ${violations}, hash ${hash.hex().slice(0, 32)}`,
  )
  if (violations > 0 || (missing.length > 0 && all.length >= enough)) process.exitCode = 1
}

function neverReached(all: readonly Shown[]): readonly string[] {
  const tally = new RunTally()
  for (const { reached } of all) tally.add(reached)
  return tally.missing(attainable(all.length))
}

async function runHere(seeds: readonly number[], note: (one: Shown) => boolean): Promise<void> {
  let failures = 0
  for (const seed of seeds) {
    const one = await show(seed, failures < 3)
    if (one.problem !== undefined) failures++
    if (!note(one)) return
  }
}

async function show(seed: number, mayShrink: boolean): Promise<Shown> {
  const pairs = new StatePairs()
  const { run, error } = await runSeed(seed, settings(mayShrink && !args.first), (line) => pairs.state(line))
  const { hash, ms, requests, reached } = run
  return { seed, hash, ms, requests, reached: [...reached], problem: error?.message, pairs: pairs.all }
}

function settings(mayShrink: boolean): SimulationSettings<unknown, unknown> {
  const given = settingsOf({
    sandbox: ledger,
    former: formerLedger,
    workload: ledgerWorkload,
    afterwards: ledgerAfterwards,
    seeds: 1,
    duration: args.duration as "2 min",
    shrinkFor: mayShrink ? "30 s" : 0,
    reports,
    rerun: (seed) => rerunLine(seed, args, here),
    commit,
  }) as SimulationSettings<unknown, unknown>
  return { ...given, isTwice: (seed) => isTwice(args, seed) }
}

/** Where a seed has failed and that is enough, what is left is not given any more. */
function inWorkers(seeds: readonly number[], jobs: number, note: (one: Shown) => boolean): Promise<void> {
  const again = [fileURLToPath(import.meta.url), "--worker", ...process.argv.slice(2)]
  const left = seeds.map(String)
  return runApart<Shown>({
    words: here === "deno" ? ["run", "-A", ...again] : again,
    left,
    jobs,
    note: (one) => {
      if (!note(one)) left.length = 0
    },
  })
}

async function work(): Promise<void> {
  let failures = 0
  for await (const line of createInterface({ input: process.stdin })) {
    const one = await show(Number(line), failures < 2)
    if (one.problem !== undefined) failures++
    console.log(JSON.stringify(one))
  }
}

function onOtherRuntime(runtime: string): void {
  const script = [fileURLToPath(import.meta.url), ...process.argv.slice(2)]
  const { status } =
    runtime === "deno"
      ? spawnSync(nativeDeno(), ["run", "-A", ...script], { stdio: "inherit" })
      : spawnSync("node", script, { stdio: "inherit" })
  process.exitCode = status ?? 1
}

/** Not the one in node_modules/.bin, which is a program of Node. */
function nativeDeno(): string {
  const deno = createRequire(import.meta.url)("deno/install_api.cjs") as { runInstall(): string }
  return deno.runInstall()
}
