/**
 * Looking for fewer faults that still fail: that there are fewer, that they still fail, and that it ends in its time.
 */
import type { TimedFault } from "leasehold/testing"
import { describe, expect, it } from "vitest"
import { shrink } from "../../../../src/testing/simulate/plan/shrink.ts"

const stall = (at: number): TimedFault => ({ at, kind: "stall", worker: "b", ms: 200 })
const crash: TimedFault = { at: 20_345, kind: "crash", worker: "a", ms: 4000, on: "Renewed" }
const pause: TimedFault = { at: 30_000, kind: "pause", worker: "c", ms: 9000 }
const many: readonly TimedFault[] = [
  stall(1000),
  stall(2000),
  crash,
  stall(25_000),
  pause,
  stall(40_000),
  stall(50_000),
]

const has = (faults: readonly TimedFault[], kind: string): boolean => faults.some((fault) => fault.kind === kind)
/** The seed fails by these two together. */
const failsByBoth = async (faults: readonly TimedFault[]): Promise<boolean> =>
  has(faults, "crash") && has(faults, "pause")

/** A clock by which each try takes a second, and the list of all that was tried. */
function timed(fails: (faults: readonly TimedFault[]) => Promise<boolean>) {
  const tried: (readonly TimedFault[])[] = []
  return {
    tried,
    clock: { mono: () => 1000 * tried.length },
    fails: (faults: readonly TimedFault[]): Promise<boolean> => {
      tried.push(faults)
      return fails(faults)
    },
  }
}

describe("looking for fewer faults", () => {
  // Tests simulations: A failed simulation says how to run it again, with fewest faults, and leaves its trace.
  it("leaves those that it takes, made as small and plain as still fails", async () => {
    const { fails, clock } = timed(failsByBoth)
    expect(await shrink(many, fails, 1_000_000, clock)).toEqual([
      { at: 20_000, kind: "crash", worker: "a", ms: 1000 },
      { at: 30_000, kind: "pause", worker: "c", ms: 562 },
    ])
  })

  it("leaves them in the order of time", async () => {
    const { fails, clock } = timed(async (faults) => faults.length >= 3)
    const left = await shrink(many.toReversed(), fails, 1_000_000, clock)
    expect(left).toHaveLength(3)
    expect(left).toEqual(left.toSorted((one, other) => one.at - other.at))
  })

  it("begins no try when its time is over, and leaves the fewest that failed by then", async () => {
    const whole = timed(failsByBoth)
    await shrink(many, whole.fails, 1_000_000, whole.clock)
    const { tried, fails, clock } = timed(failsByBoth)
    const left = await shrink(many, fails, 4000, clock)
    expect(tried).toHaveLength(5) // at 0, 1, 2, 3 and 4 seconds
    expect(tried.length).toBeLessThan(whole.tried.length)
    expect(tried).toContainEqual(left)
    expect(await failsByBoth(left)).toBe(true)
    expect(left.length).toBeLessThan(many.length)
  })

  it("leaves all of them where there is no time, and where the same faults fail no more", async () => {
    const { fails, clock } = timed(failsByBoth)
    expect(await shrink(many, fails, 0, clock)).toEqual(many)
    expect(await shrink(many, async () => false, 1_000_000)).toEqual(many)
  })
})
