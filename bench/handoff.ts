/**
 * What a handoff of a sandbox costs in CPU, against a life of its bare chart in XState: a key that two processes want
 * by turns, on a store in memory and virtual time, so that no wait counts. Each handoff has an acquire that waits, a
 * claim, a restore, a use, a last checkpoint and a grant.
 */
import { createActor } from "xstate"
import { sandboxChart } from "../src/actors/chart/chart.ts"
import type { ChartEvent } from "../src/actors/chart/types.ts"
import { defineSandbox, memoryStore, SandboxManager, unchecked } from "../src/mod.ts"
import { VirtualTime } from "../src/runtime/time/virtual-time.ts"
import { cpuOf, detail, inTurns, ratio } from "./ratio.ts"

const ROUNDS = 7
const HANDOFFS = 1000

/** Prints the figures. */
export async function benchHandoff(): Promise<void> {
  const cost = await inTurns(ROUNDS, { sandbox: costOfSandboxes, chart: costOfCharts })
  detail("a handoff of a sandbox", cost.sandbox, "µs of CPU")
  detail("a life of the bare chart", cost.chart, "µs of CPU")
  ratio("sandbox-handoff/bare-chart", cost.sandbox / cost.chart, "<=", 11)
}

async function costOfSandboxes(): Promise<number> {
  const time = new VirtualTime({ maxSteps: Number.MAX_SAFE_INTEGER })
  const store = memoryStore({ clock: time })
  const counter = defineSandbox({
    name: "counter",
    schema: unchecked<{ n: number }>(),
    restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
    checkpoint: ({ n }) => ({ n }),
  })
  const start = (id: string): Promise<SandboxManager> =>
    time.runUntil(SandboxManager.start({ store, sandboxes: [counter], clock: time, incarnation: { id }, minTenure: 0 }))
  const managers = [await start("a"), await start("b")]
  const handoffs = async (): Promise<void> => {
    for (let turn = 0; turn < HANDOFFS; turn++) await managers[turn % 2]!.use(counter, "k", (state) => void state.n++)
  }
  const cpu = await cpuOf(() => time.runUntil(handoffs()))
  const saved = await time.runUntil(managers[0]!.readCheckpoint(counter, "k"))
  if (saved?.n !== HANDOFFS - 1) throw new Error(`${saved?.n} uses are saved of ${HANDOFFS - 1}`)
  for (const manager of managers) await time.runUntil(manager[Symbol.asyncDispose]())
  return cpu / HANDOFFS
}

/** One life of the chart alone: of a sandbox that is handed over. */
function costOfCharts(): Promise<number> {
  const life: readonly ChartEvent[] = [
    { type: "lock.waiting" },
    { type: "lock.acquired", token: 1 },
    { type: "work.restored", token: 1 },
    { type: "lock.releaseRequested" },
    { type: "work.settled" },
    { type: "checkpoint.stored" },
    { type: "work.closed" },
    { type: "lock.released", result: "released" },
  ]
  const lives = (): void => {
    for (let turn = 0; turn < HANDOFFS; turn++) {
      const actor = createActor(sandboxChart, { input: { key: "k" } }).start()
      for (const event of life) actor.send(event)
      if (actor.getSnapshot().status !== "done") throw new Error("the chart goes another way")
    }
  }
  return cpuOf(lives).then((cpu) => cpu / HANDOFFS)
}
