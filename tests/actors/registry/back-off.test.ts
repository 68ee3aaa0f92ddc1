import { describe, expect, it } from "vitest"
import { BackOff } from "../../../src/actors/registry/back-off.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"

const broken = new Error("as scripted")

describe("the back-off of a key", () => {
  it("doubles with each failure, with jitter, up to a minute, and is each key's own", async () => {
    const time = new VirtualTime()
    const backOff = new BackOff(time)
    const waits: number[] = []
    for (let failures = 1; failures <= 9; failures++) {
      backOff.failed("k", broken)
      waits.push(backOff.of("k").ms)
    }
    waits.forEach((ms, index) => {
      const longest = Math.min(60_000, 1000 * 2 ** index)
      expect(ms).toBeGreaterThanOrEqual(longest / 2)
      expect(ms).toBeLessThanOrEqual(longest)
    })
    expect(new Set(waits).size).toBe(9)
    expect(backOff.of("other")).toEqual({ ms: 0, error: undefined })
  })

  it("passes with time, keeps the error meanwhile, and begins anew after a success", async () => {
    const time = new VirtualTime()
    const backOff = new BackOff(time)
    backOff.failed("k", broken)
    backOff.failed("k", broken)
    await time.advance(2000)
    expect(backOff.of("k")).toEqual({ ms: 0, error: broken })
    backOff.succeeded("k")
    backOff.failed("k", broken)
    expect(backOff.of("k").ms).toBeLessThanOrEqual(1000)
  })

  it("is forgotten after ten minutes without a failure", async () => {
    const time = new VirtualTime()
    const backOff = new BackOff(time)
    backOff.failed("old", broken)
    await time.advance(10 * 60_000)
    backOff.failed("new", broken)
    expect(backOff.of("old").error).toBeUndefined()
    expect(backOff.of("new").error).toBe(broken)
  })
})
