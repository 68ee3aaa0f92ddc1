/** Simulations that are asked for at once: the traps of each are the whole process's. */
import { defineSandbox, unchecked } from "leasehold"
import { simulate, type SimulateOptions } from "leasehold/testing"
import { expect, it } from "vitest"

interface Count {
  n: number
}

const counter = defineSandbox({
  name: "counter",
  schema: unchecked<Count>(),
  restore: ({ checkpoint }): Count => ({ n: checkpoint?.n ?? 0 }),
  checkpoint: ({ n }) => ({ n }),
})

const brief = (seed: number, more: Partial<SimulateOptions<Count, Count>> = {}): SimulateOptions<Count, Count> => ({
  ...{ sandbox: counter, seeds: [seed], faults: [], keys: 1, shrinkFor: 0, duration: "20 s" },
  ...more,
})

const { now } = Date
const usual = { now, setTimeout, random: Math.random }
const things = (): typeof usual => ({ now: Date.now, setTimeout, random: Math.random })

// Tests simulations: Simulations at once run one after the other, and restore the process's time and chance.
it("two at once come to what each comes to alone, and leave the clock and timers as they were", async () => {
  const alone = [await simulate(brief(1)), await simulate(brief(2, { duration: "1 min" }))]
  const together = await Promise.all([simulate(brief(1)), simulate(brief(2, { duration: "1 min" }))])
  expect(things()).toEqual(usual)
  expect(together).toEqual(alone)
})

it("one that rejects keeps the next from nothing", async () => {
  const order: string[] = []
  const workload = async (): Promise<void> => {
    throw new TypeError("my own mistake")
  }
  const onSeed = (seed: number): void => void order.push(`ran ${seed}`)
  const settled = await Promise.allSettled([
    simulate(brief(1, { workload })).catch((error: unknown) => {
      order.push("failed 1")
      throw error
    }),
    simulate(brief(2, { onSeed })),
    simulate(brief(3, { onSeed })),
  ])
  expect(settled.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"])
  expect(order).toEqual(["failed 1", "ran 2", "ran 3"])
  expect(things()).toEqual(usual)
})

it("inside a simulation one is refused: it would wait for its own end", async () => {
  const refusals: unknown[] = []
  const workload = async (): Promise<void> => {
    await simulate(brief(2)).catch((error: unknown) => refusals.push(error))
  }
  await simulate(brief(1, { workload }))
  expect(refusals[0]).toMatchObject({
    _tag: "InvalidConfigError",
    message: expect.stringContaining("inside a simulation"),
  })
  await expect(simulate(brief(1))).resolves.toMatchObject({ seeds: 1 })
})
