// A key that everybody wants again and again, in peace: all have their turn, on every kind of store.
import { defineSandbox, type SandboxDefinition, unchecked } from "leasehold"
import { allInvariants, type Invariant, simulate, type SimulateOptions, type Workload } from "leasehold/testing"
import { expect, it } from "vitest"
import { settingsOf } from "../../../src/testing/simulate/options.ts"
import { type Ledger, ledger } from "../../../src/testing/simulate/run/ledger.ts"
import { planOf } from "../../../src/testing/simulate/seed.ts"

/** How often each worker was served: it has come to own the key, and a use of its has begun. */
function counting(turns: Map<string, number>): Invariant {
  const tokens = new Set<number>()
  return {
    name: "counts turns",
    sentence: "It only counts.",
    watch: () => ({
      line(line) {
        if (line.kind !== "work" || line.work !== "use" || tokens.has(line.token)) return
        tokens.add(line.token)
        turns.set(line.worker, (turns.get(line.worker) ?? 0) + 1)
      },
    }),
  }
}

/** Nobody asks it to leave: it does so by itself, soon after it was used. */
const brief: SandboxDefinition<Ledger, Ledger> = defineSandbox({
  name: "brief",
  schema: unchecked<Ledger>(),
  idleAfter: "500 ms",
  restore: ({ checkpoint }) => checkpoint ?? { rows: [], padding: "", flag: 0 },
  checkpoint: (state) => state,
})

it.each([
  ["gcs", "4 min", "request"],
  ["exact", "1 min", "request"],
  ["clockless", "1 min", "request"],
  ["file", "1 min", "request"],
  ["memory", "1 min", "request"],
  ["gcs", "4 min", "wait"],
  ["exact", "1 min", "wait"],
  ["file", "30 s", "wait"],
  // Tests rule 13a: Of those that want a key again and again, nobody waits longer than the others' turns.
] as const)(
  "five that want one key again and again have it in turn (store %s, %s: %s)",
  async (store, duration, whenOwned) => {
    const turns = new Map<string, number>()
    const isBusy = new Set<string>()
    const workload: Workload<Ledger, Ledger> = async ({ workers, random }) => {
      const idle = workers.filter(({ name }) => !isBusy.has(name))
      const worker = random.pick(idle.length > 0 ? idle : workers)
      isBusy.add(worker.name)
      await worker.use(() => {}, { timeout: "10 min", whenOwned }).finally(() => isBusy.delete(worker.name))
    }
    const options: SimulateOptions<Ledger, Ledger> = {
      ...{
        sandbox: whenOwned === "wait" ? brief : ledger,
        workload,
        seeds: 1,
        store,
        faults: [],
        shrinkFor: 0,
        workers: 5,
        keys: 1,
      },
      ...{ duration, manager: { minTenure: 0, ttl: "30 s" } },
    }
    const settings = settingsOf(options)
    // Beside workers of an earlier release there is no order: they drop the line.
    const isOfOneRelease = (seed: number): boolean =>
      Object.values(planOf(seed, settings).workers).every(({ release }) => release === "this")
    const seed = [1, 2, 3, 4, 5, 6, 7, 8].find(isOfOneRelease)!
    await simulate({ ...options, seeds: [seed], invariants: [...allInvariants, counting(turns)] })
    const counts = [...turns.values()]
    expect(counts).toHaveLength(5)
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(0.6 * Math.max(...counts))
  },
)
