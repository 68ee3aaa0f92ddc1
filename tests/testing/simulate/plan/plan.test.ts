/** Plans: what befalls a simulated fleet, drawn from a seed. */
import { describe, expect, it } from "vitest"
import type { StoreProfileName } from "../../../../src/testing/simulate/mod.ts"
import { Draw } from "../../../../src/testing/simulate/plan/draw.ts"
import {
  drawPlan,
  type PlannedWorker,
  faultKinds,
  type Plan,
  type PlanBounds,
} from "../../../../src/testing/simulate/plan/plan.ts"

const bounds: PlanBounds = {
  workers: 3,
  keys: 2,
  duration: 120_000,
  stores: ["gcs", "memory"],
  kinds: faultKinds,
  maxOffset: 3_600_000,
  maxDrift: 0.05,
  times: {},
}
const plans: readonly Plan[] = Array.from({ length: 200 }, (_, seed) => drawPlan(seed, bounds))
const kindsOf = ({ faults }: Plan): Set<string> => new Set(faults.map(({ kind }) => kind))

describe("a plan", () => {
  // Tests simulations: A simulation finds what is wrong with a sandbox, is the same each time, and keeps failed seeds.
  it("is the seed's: the same again, another for another seed", () => {
    expect(drawPlan(7, bounds)).toEqual(plans[7])
    expect(JSON.stringify(plans[7])).not.toBe(JSON.stringify(plans[8]))
    expect(JSON.parse(JSON.stringify(plans[7]))).toEqual(plans[7])
  })

  it("turns kinds on and off: each is met alone with few others, and each is missing somewhere", () => {
    for (const kind of faultKinds) {
      const having = plans.filter((plan) => kindsOf(plan).has(kind))
      expect(having.length).toBeGreaterThan(20)
      expect(having.length).toBeLessThan(180)
      expect(Math.min(...having.map((plan) => kindsOf(plan).size))).toBeLessThan(faultKinds.length / 2)
    }
  })

  it("keeps to its bounds, and goes to them", () => {
    const clocks = plans.flatMap(({ workers }) => Object.values(workers))
    expect(Math.max(...clocks.map(({ rate }) => Math.abs(rate - 1)))).toBeCloseTo(0.05, 9)
    expect(Math.max(...clocks.map(({ wallOffset }) => Math.abs(wallOffset)))).toBe(3_600_000)
    for (const { faults, duration } of plans) for (const { at } of faults) expect(at >= 0 && at < duration).toBe(true)
  })

  it("puts workers together on machines only where the store's time is that of a boot, and then one, some or all", () => {
    const machinesOf = (store: StoreProfileName) =>
      Array.from({ length: 60 }, (_, seed) => Object.values(drawPlan(seed, { ...bounds, stores: [store] }).workers))
    const counts = (store: StoreProfileName) =>
      new Set(machinesOf(store).map((clocks) => new Set(clocks.map(({ machine }) => machine)).size))
    expect(counts("gcs")).toEqual(new Set([3]))
    expect(counts("file")).toEqual(new Set([1, 2, 3]))
    const own = ({ bootAhead: _, ttl: _ttl, release: _release, ...clock }: PlannedWorker): object => clock
    for (const clocks of machinesOf("file"))
      for (const one of clocks) expect(own(one)).toEqual(own(clocks.find(({ machine }) => machine === one.machine)!))
  })

  it("makes an uptime up only where the store's time is that of a boot", () => {
    const madeUp = (store: StoreProfileName) =>
      Array.from({ length: 60 }, (_, seed) => Object.values(drawPlan(seed, { ...bounds, stores: [store] }).workers))
        .flat()
        .flatMap(({ bootAhead = 0 }) => bootAhead)
        .filter((ms) => ms !== 0)
    expect(madeUp("gcs")).toEqual([])
    expect(new Set(madeUp("file")).size).toBeGreaterThan(3)
  })

  it("makes a third of the fleets one in the midst of a deploy, and has oracles where boots have names", () => {
    const fleets = plans.map(({ workers }) => Object.values(workers).map(({ release }) => release))
    const deploys = fleets.filter((each) => each.some((release) => release !== "this"))
    expect(deploys.length).toBeGreaterThan(40)
    expect(deploys.length).toBeLessThan(90)
    expect(new Set(deploys.flat())).toEqual(new Set(["this", "last", "upgraded"]))
    const on = (store: StoreProfileName) =>
      Array.from({ length: 60 }, (_, seed) => drawPlan(seed, { ...bounds, stores: [store] }).oracles)
    expect(new Set(on("file"))).toEqual(new Set([true, false]))
    expect(new Set(on("gcs"))).toEqual(new Set([false]))
  })

  it("gives workers one ttl or several, unless it is told one, and knows the longest", () => {
    const ttls = plans.map(({ workers }) => Object.values(workers).map(({ ttl }) => ttl))
    const several = ttls.filter((each) => new Set(each).size > 1)
    expect(several.length).toBeGreaterThan(50)
    expect(several.length).toBeLessThan(150)
    expect(plans.map(({ times }) => times.ttl)).toEqual(ttls.map((each) => Math.max(...each)))
    const told = drawPlan(7, { ...bounds, times: { ttl: 9000 } })
    expect(Object.values(told.workers).map(({ ttl }) => ttl)).toEqual([9000, 9000, 9000])
  })

  it("often makes a pause end just where a lease does", () => {
    const pauses = plans.flatMap(({ faults, times }) =>
      faults.flatMap((fault) => (fault.kind === "pause" && fault.on === undefined ? [fault.ms - times.ttl] : [])),
    )
    const close = pauses.filter((ms) => Math.abs(ms) <= 1000).length
    expect(close / pauses.length).toBeGreaterThan(0.08)
  })

  it("draws only the kinds that it may", () => {
    const calm = drawPlan(3, { ...bounds, kinds: [] })
    expect(calm.faults).toEqual([])
    for (let seed = 0; seed < 20; seed++)
      for (const kind of kindsOf(drawPlan(seed, { ...bounds, kinds: ["pause"] }))) expect(kind).toBe("pause")
  })
})

describe("a stream of chance", () => {
  it("is not disturbed by another", () => {
    const [one, other] = [new Draw(1), new Draw(1)]
    one.fork("a").next()
    expect(one.fork("b").next()).toBe(other.fork("b").next())
    expect(new Draw(1).fork("a").next()).not.toBe(new Draw(1).fork("b").next())
  })

  it("draws small times as often as great ones, and never outside", () => {
    const draw = new Draw(5)
    const drawn = Array.from({ length: 2000 }, () => draw.millis(1, 100_000))
    expect(drawn.filter((ms) => ms < 316).length / drawn.length).toBeCloseTo(0.5, 1)
    expect(Math.min(...drawn)).toBeGreaterThanOrEqual(1)
    expect(Math.max(...drawn)).toBeLessThanOrEqual(100_000)
  })
})
