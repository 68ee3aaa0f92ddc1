// More sandboxes than a store bears: what is asked of it is more than it answers, and what it answers is enough for the
// leases.
import { isTraceLine, type TraceLine } from "leasehold/testing"
import { describe, expect, it } from "vitest"
import { type Crowd, runCrowd } from "../../../src/testing/simulate/crowd.ts"

/** What its trace tells, and what is wrong there. */
async function run(crowd: Crowd): Promise<{
  readonly count: (type: string) => number
  readonly states: (work: string) => number
  readonly violations: readonly string[]
}> {
  const lines: TraceLine[] = []
  const { violations } = await runCrowd(crowd, (line) => isTraceLine(line) && lines.push(line))
  return {
    count: (type) => lines.filter((line) => line.kind === "lock" && line.type === type).length,
    states: (work) => lines.filter((line) => line.kind === "state" && JSON.stringify(line.value).includes(work)).length,
    violations: violations.map(({ invariant, message }) => `${invariant}: ${message}`),
  }
}

describe("a store of so many requests a second", () => {
  // Tests load: A store of R requests a second loses no lease that R could keep, and no ended work's state.
  it.each([
    { keys: 80, perSecond: 10 },
    { keys: 250, perSecond: 25 },
    { keys: 120, perSecond: 100, later: 10 },
  ])("loses no lease that it could keep, and no state in a drain: %o", async (crowd) => {
    const { count, states, violations } = await run(crowd)
    expect(violations).toEqual([])
    expect(count("Lost")).toBe(0)
    expect(count("Acquired")).toBe(crowd.keys)
    expect(states("queued")).toBeGreaterThan(0)
  })

  it("lets as many sandboxes start as it can keep, and no more", async () => {
    const { count, violations } = await run({ keys: 250, perSecond: 5 })
    expect(violations).toEqual([])
    expect(count("Lost")).toBe(0)
    expect(count("Acquired")).toBeGreaterThan(60)
  })

  it("keeps most of those that it could where it can keep all no longer: each in time, or not at all", async () => {
    const { count } = await run({ keys: 250, perSecond: 30, later: 7 })
    expect(count("Acquired")).toBe(250)
    // A lease needs one renewal in its ttl less the guard, 27 s.
    expect(250 - count("Lost")).toBeGreaterThan(0.7 * 7 * 27)
  })
})
