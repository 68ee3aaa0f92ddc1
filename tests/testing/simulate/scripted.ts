/** Runs of a counter under a script: what their traces tell, and that no invariant is broken. */
import { defineSandbox, unchecked } from "leasehold"
import { isTraceLine, type StoreProfileName, type TimedFault, type TraceLine, type Workload } from "leasehold/testing"
import { expect } from "vitest"
import { settingsOf } from "../../../src/testing/simulate/options.ts"
import type { PlannedWorker } from "../../../src/testing/simulate/plan/plan.ts"
import { runOnce } from "../../../src/testing/simulate/run/run.ts"
import { planOf } from "../../../src/testing/simulate/seed.ts"

interface Count {
  n: number
}

const counter = defineSandbox({
  name: "counter",
  schema: unchecked<Count>(),
  restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
  checkpoint: ({ n }) => ({ n }),
})

/** Each of the workers has its turn, a minute long; the second changes nothing. */
export const inTurns: Workload<Count, Count> = async (world) => {
  const turn = Math.min(2, Math.floor(world.now() / 60_000))
  const worker = world.workers.find(({ name }) => name === "abc"[turn])
  await worker?.use((state) => (turn === 1 ? 0 : ++state.n), { contention: "retry", durable: true })
}

/** What a script is run on. */
interface Run {
  readonly script: readonly TimedFault[]
  readonly workload: Workload<Count, Count>
  readonly store?: StoreProfileName
  /** On which machine each of the workers a, b, c is; default: each on its own. */
  readonly machines?: readonly [string, string, string]
  /** The workers whose wall clock stands in for a boot clock. */
  readonly bootless?: readonly string[]
  /** The workers that don't run this release. */
  readonly releases?: Readonly<Record<string, PlannedWorker["release"]>>
  /** Machines know which of their processes have ended. */
  readonly oracles?: boolean
}

/** Runs a script on right clocks and one key, for three minutes. */
export async function run({
  script,
  workload,
  store = "exact",
  machines = ["m1", "m2", "m3"],
  bootless = [],
  releases = {},
  oracles = false,
}: Run): Promise<{
  readonly lines: readonly TraceLine[]
  /** Milliseconds since the run began. */
  readonly at: (line: TraceLine) => number
}> {
  const settings = settingsOf({
    ...{ sandbox: counter, seeds: 1, workload, script, keys: 1, store, duration: "3 min" },
    clocks: { offset: 0, drift: 0 },
    manager: { ttl: "30 s", minTenure: 0 },
  })
  const right = (name: string): Omit<PlannedWorker, "machine"> => ({
    release: releases[name] ?? "this",
    wallOffset: 0,
    rate: 1,
    ttl: 30_000,
    bootClock: !bootless.includes(name),
  })
  const workers = Object.fromEntries(
    machines.map((machine, index) => ["abc"[index]!, { ...right("abc"[index]!), machine }]),
  )
  const lines: TraceLine[] = []
  const plan = { ...planOf(1, settings), workers, oracles, pace: 2000 } // a use a second or two says as much as ten
  const { violations } = await runOnce(plan, settings, (line) => isTraceLine(line) && lines.push(line))
  expect(violations).toEqual([])
  return { lines, at: ({ at }) => at - lines[0]!.at }
}
