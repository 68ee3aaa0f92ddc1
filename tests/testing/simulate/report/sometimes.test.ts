/** What a simulation must come to: what its workload notes, and what fails that never came there. */
import { defineSandbox, unchecked } from "leasehold"
import { NeverReachedError, simulate, type SimulatedWorld } from "leasehold/testing"
import { describe, expect, it } from "vitest"
import { chartParts } from "../../../../src/testing/simulate/report/coverage.ts"
import { attainable } from "../../../../src/testing/simulate/report/sometimes.ts"

interface Count {
  n: number
}
type World = SimulatedWorld<Count, Count>

const counter = defineSandbox({
  name: "counter",
  schema: unchecked<Count>(),
  restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
  checkpoint: ({ n }) => ({ n }),
})

/** Uses the sandbox, and notes what the third use in one life of it comes to. */
const thirdUse = async (world: World): Promise<void> => {
  const n = await world.random.pick(world.workers).use((state) => ++state.n, { contention: "retry" })
  if (n === 3) world.sometimes("a third use")
}

const brief = { sandbox: counter, seeds: 2, duration: "30 s", keys: 1, faults: [] } as const

it("asks for a release after the loss where there are seeds enough to come to it", () => {
  const rare = "a release came after the loss"
  expect(attainable(1999)).not.toContain(rare)
  expect(attainable(2000)).toContain(rare)
})

describe("what a workload notes with sometimes", () => {
  it("is counted once for each seed, however often a run comes there", async () => {
    const workload = async (world: World): Promise<void> => {
      world.sometimes("here")
      world.sometimes("here")
    }
    const { reached } = await simulate({ ...brief, workload, sometimes: ["here"] })
    expect(reached["here"]).toBe(2)
  })

  it("is counted beside what the trace tells by itself", async () => {
    const { reached } = await simulate({ ...brief, seeds: [2, 4], workload: thirdUse, sometimes: ["a third use"] })
    expect(reached).toMatchObject({ "a third use": 2, "a key came to be": 2 })
  })

  it("is enough from one of several seeds", async () => {
    const asked = new WeakSet<World>()
    const workload = async (world: World): Promise<void> => {
      if (!asked.has(world) && world.random.chance(0.5)) world.sometimes("the lucky")
      asked.add(world)
    }
    const { reached } = await simulate({ ...brief, seeds: 6, workload, sometimes: ["the lucky"] })
    expect(reached["the lucky"]).toBeGreaterThan(0)
    expect(reached["the lucky"]).toBeLessThan(6)
  })
})

describe("a simulation that never came to what it must", () => {
  // Tests simulations: A simulation fails where two runs of a seed differ, and where none came to what it must.
  it("fails after all of its seeds, and names only what is missing", async () => {
    const seeds: number[] = []
    const simulated = simulate({
      ...brief,
      workload: thirdUse,
      onSeed: (seed) => void seeds.push(seed),
      sometimes: ["a third use", "a hundredth use", "a use on the moon"],
    })
    const error: unknown = await simulated.catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(NeverReachedError)
    expect((error as NeverReachedError).names).toEqual(["a hundredth use", "a use on the moon"])
    expect((error as NeverReachedError).message).toContain("a hundredth use; a use on the moon")
    expect(seeds).toEqual([1, 2])
  })
})

describe("what no seed came to", () => {
  // Tests simulations.
  it("is told with the states and transitions of the chart, and faults that were drawn from", async () => {
    const { reached, neverReached } = await simulate({ ...brief, faults: ["crash"], seeds: [1] })
    expect(neverReached).toEqual(
      expect.arrayContaining([
        "handingOff.work.stuck",
        "owning -> released.lost",
        "a lease was lost",
        "work was stuck",
      ]),
    )
    expect(neverReached.filter((name) => name in reached)).toEqual([])
    expect(neverReached).not.toContain("the fault pause")
    expect([...neverReached, ...Object.keys(reached)]).toContain("the fault crash")
    expect([...neverReached, ...Object.keys(reached)]).toEqual(expect.arrayContaining([...chartParts]))
  })

  it("asks of a script for its own kinds of faults alone", async () => {
    const script = [{ at: 5000, kind: "stall", worker: "b", ms: 100 }] as const
    const { reached, neverReached } = await simulate({ ...brief, seeds: [1], script })
    expect(reached["the fault stall"]).toBe(1)
    expect(neverReached.filter((name) => name.startsWith("the fault "))).toEqual([])
  })
})
