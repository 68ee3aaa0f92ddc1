/** What a failed simulation says and leaves behind: all that somebody needs to see it again. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { defineSandbox, unchecked } from "leasehold"
import {
  parseTrace,
  simulate,
  SimulationError,
  type SimulatedWorld,
  type TimedFault,
  timelineHtml,
} from "leasehold/testing"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

interface Count {
  n: number
}

/** Saves what it was before the last use: a crash of its owner loses that one. */
const forgetful = defineSandbox({
  name: "counter",
  schema: unchecked<Count>(),
  restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
  checkpoint: ({ n }) => ({ n: Math.max(0, n - 1) }),
})

/** Only a uses it, and asks that no acknowledged use is missing. */
const acknowledged = new WeakMap<object, number>()
const workload = async (world: SimulatedWorld<Count, Count>): Promise<void> => {
  const before = acknowledged.get(world) ?? 0
  const a = world.workers.find(({ name }) => name === "a")
  const n = await a?.use(
    (state) => {
      if (state.n < before) world.fail(`${before} were acknowledged and ${state.n} are there`)
      return ++state.n
    },
    { durable: true, contention: "retry" },
  )
  acknowledged.set(world, Math.max(n ?? 0, before))
}

const crash = { at: 20_000, kind: "crash", worker: "a", ms: 1000 } as const
const harmless: readonly TimedFault[] = [
  { at: 1000, kind: "stall", worker: "b", ms: 200 },
  { at: 5000, kind: "stepWall", worker: "c", ms: 3000 },
  { at: 12_000, kind: "slow", worker: "b", ms: 400 },
  { at: 30_000, kind: "stall", worker: "c", ms: 200 },
  { at: 40_000, kind: "pause", worker: "b", ms: 2000 },
]
const script = [...harmless, crash].toSorted((one, other) => one.at - other.at)

describe("the report of a failed simulation", () => {
  let folder: string
  let error: SimulationError
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "leasehold-simulate-"))
    const options = { sandbox: forgetful, workload, seeds: [7], keys: 1, duration: "1 min", store: "exact" } as const
    const simulated = simulate({
      ...options,
      script,
      reports: folder,
      commit: "abc1234",
      rerun: (seed) => `npm run again -- ${seed}`,
    })
    error = (await simulated.catch((reason: unknown) => reason)) as SimulationError
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  // Tests simulations: A failed simulation says how to run it again, with fewest faults, and leaves its trace.
  it("says the seed, the broken invariant, the commit, and the line that runs it again", () => {
    expect(error).toBeInstanceOf(SimulationError)
    const [first] = error.message.split("\n")
    expect(first).toMatch(/^seed 7: workload: \d+ were acknowledged and \d+ are there$/)
    expect(error.message).toContain("\ncommit: abc1234\n")
    expect(error.message).toContain("\nagain:  npm run again -- 7\n")
  })

  it("lists the faults that were left when looking for fewer ended, which fit a script", () => {
    const { faults } = error.plan
    expect(faults.length).toBeLessThan(script.length)
    expect(faults).toContainEqual(expect.objectContaining({ kind: "crash", worker: "a" }))
    expect(error.message).toContain(`\nfaults: ${faults.length} of ${script.length}\n`)
    for (const fault of faults) expect(error.message).toContain(`\n  ${JSON.stringify(fault)}\n`)
  })

  it("shows the trace before the violation as a table with a column for each worker", () => {
    const rows = error.message.split("\n")
    const header = rows.findIndex((row) => /^ +ms {2}a +b +c +store and world$/.test(row))
    expect(header).toBeGreaterThan(0)
    const table = rows.slice(header + 2)
    expect(table.length).toBeGreaterThan(10)
    const column = (name: string): number => rows[header]!.indexOf(`  ${name} `) + 2
    expect(table.some((row) => row.slice(column("a"), column("b")).trim() !== "")).toBe(true)
  })

  it("writes the run with these faults as a trace", () => {
    expect(error.message).toContain(`\ntrace:  ${join(folder, "seed-7.ndjson")}\n`)
    const { header, lines } = parseTrace(readFileSync(join(folder, "seed-7.ndjson"), "utf8"))
    expect(header).toMatchObject({ seed: 7, commit: "abc1234", source: "simulated" })
    const struck = lines.filter((line) => line.kind === "fault" && "fault" in line && line.fault === "crash")
    expect(struck).toHaveLength(error.plan.faults.filter(({ kind }) => kind === "crash").length)
  })

  it("writes a timeline as one page that asks for nothing, with the trace and the violation", () => {
    expect(error.message).toContain(`\npage:   ${join(folder, "seed-7.html")}`)
    const page = readFileSync(join(folder, "seed-7.html"), "utf8")
    const trace = parseTrace(readFileSync(join(folder, "seed-7.ndjson"), "utf8"))
    const [violation] = error.violations
    const title = `seed 7: ${violation?.invariant}`
    expect(page).toBe(timelineHtml(trace, { title, ...(violation !== undefined && { violation }) }))
    expect(page).toContain("abc1234")
  })

  it("leaves the trace, the page and the seed, and nothing else", () => {
    expect(readdirSync(folder).toSorted()).toEqual(["failing-seeds.json", "seed-7.html", "seed-7.ndjson"])
  })
})
