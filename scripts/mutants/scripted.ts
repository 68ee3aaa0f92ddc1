/**
 * A fleet under a script: exact faults at exact times, right clocks unless told otherwise, one key, and workers that
 * use it in turns. A seed decides nothing but which fraction of a second passes between two uses.
 */
import type { SimulatedWorker, SimulatedWorld, Workload } from "../../src/testing/simulate/mod.ts"
import { settingsOf } from "../../src/testing/simulate/options.ts"
import { add, type Ledger, ledger, lookFor, setFlag } from "../../src/testing/simulate/run/ledger.ts"
import { runOnce } from "../../src/testing/simulate/run/run.ts"
import { planOf } from "../../src/testing/simulate/seed.ts"
import { firstOf, type Hunt, type Turn } from "./mutant.ts"

type Script = Extract<Hunt, { by: "script" }>

/** Runs it. Settles with what went wrong, if anything did. */
export async function scriptedRun({
  faults,
  turns,
  store = "exact",
  workers = {},
}: Script): Promise<string | undefined> {
  const settings = settingsOf({
    ...{ sandbox: ledger, seeds: 1, script: faults, store, duration: "2 min" },
    workload: inTurns(turns),
    clocks: { offset: 0, drift: 0 },
    manager: { ttl: "30 s", minTenure: 0, settleWithin: "1 s", restoreWithin: "10 s" },
  })
  const drawn = planOf(1, settings)
  const right = Object.keys(drawn.workers).map((name) => [
    name,
    { wallOffset: 0, rate: 1, bootClock: true, machine: name, ttl: 30_000, release: "this", ...workers[name] },
  ])
  const { violations } = await runOnce({ ...drawn, workers: Object.fromEntries(right), pace: 300 }, settings)
  return firstOf(violations)
}

/** In each turn one use after another: of the key whose work goes on until it is asked to end. */
function inTurns(turns: readonly Turn[]): Workload<Ledger, Ledger> {
  const busy = new Set<Turn>()
  return async (world) => {
    const at = world.now()
    const turn = turns.find((each) => each.from <= at && at < each.to && !busy.has(each))
    const worker = world.workers.find(({ name }) => name === turn?.worker)
    if (turn === undefined || worker === undefined) return
    busy.add(turn)
    await used(world, worker, turn).finally(() => busy.delete(turn))
  }
}

async function used(
  world: SimulatedWorld<Ledger, Ledger>,
  worker: SimulatedWorker<Ledger, Ledger>,
  { whenOwned, lasts = 0, does }: Turn,
): Promise<void> {
  const key = "k2"
  const asks = { key, contention: "retry", whenOwned: whenOwned ?? "request" } as const
  if (does === undefined) return worker.use(() => (lasts === 0 ? undefined : world.sleep(lasts)), asks)
  if (does === "adds") return add(world, worker, key)
  return "sets" in does ? setFlag(world, worker, key, does.sets) : lookFor(world, worker, key, does.looks)
}
