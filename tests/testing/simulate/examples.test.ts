// The examples of docs/testing.md, "A whole fleet, simulated", word for word.
/* oxlint-disable vitest/expect-expect -- what is called expects */

// --- example: a counter
// A counter whose acknowledged uses must never be lost, whatever befalls the fleet.
import { defineSandbox, unchecked } from "leasehold"
import { simulate } from "leasehold/testing"
import { it } from "vitest"

const counter = defineSandbox({
  name: "counter",
  schema: unchecked<{ n: number }>(),
  restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
  checkpoint: ({ n }) => ({ n }),
})

it("keeps every acknowledged use", async () => {
  const acknowledged = new WeakMap<object, number>() // by world: each run has one of its own
  await simulate({
    sandbox: counter,
    seeds: 10,
    workload: async (world) => {
      const before = acknowledged.get(world) ?? 0
      const use = (state: { n: number }): number => {
        if (state.n < before) world.fail(`${before} uses were acknowledged, ${state.n} are there`)
        return ++state.n
      }
      const n = await world.random.pick(world.workers).use(use, { durable: true, contention: "retry" })
      acknowledged.set(world, Math.max(n, acknowledged.get(world) ?? 0))
    },
  })
})
// --- end

it("keeps them under a script too", async () => {
  // --- example: a script
  await simulate({
    sandbox: counter,
    seeds: [7],
    script: [
      { at: 20_000, kind: "pause", worker: "a", ms: 31_000 },
      { at: 30_000, kind: "crash", worker: "b", ms: 5000, on: "checkpointing" }, // not at once: with b's next last checkpoint
    ],
  })
  // --- end
})
