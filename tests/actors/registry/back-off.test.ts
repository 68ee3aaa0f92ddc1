import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { describe, expect, it } from "vitest"
import { BackOff } from "../../../src/actors/registry/back-off.ts"
import type { BackOffSchedule } from "../../../src/mod.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"

const broken = new Error("as scripted")
const stands = (): Effect.Effect<[number, Duration.Duration]> => Effect.succeed([0, Duration.millis(0)])
const throws = (): never => {
  throw broken
}
const refuse = (error: unknown): never => {
  throw error
}

describe("the back-off of a key", () => {
  it("doubles with each failure, with jitter, up to a minute, and is each key's own", async () => {
    const time = new VirtualTime()
    const backOff = new BackOff(time, refuse)
    const waits: number[] = []
    for (let failures = 1; failures <= 9; failures++) {
      backOff.failed("k", undefined, broken)
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
    const backOff = new BackOff(time, refuse)
    backOff.failed("k", undefined, broken)
    backOff.failed("k", undefined, broken)
    await time.advance(2000)
    expect(backOff.of("k")).toEqual({ ms: 0, error: broken })
    backOff.succeeded("k")
    backOff.failed("k", undefined, broken)
    expect(backOff.of("k").ms).toBeLessThanOrEqual(1000)
  })

  it("is forgotten after ten minutes without a failure, counted from the end of its pause", async () => {
    const time = new VirtualTime()
    const backOff = new BackOff(time, refuse)
    backOff.failed("old", undefined, broken)
    await time.advance(10 * 60_000 + 1000)
    backOff.failed("new", undefined, broken)
    expect(backOff.of("old").error).toBeUndefined()
    expect(backOff.of("new").error).toBe(broken)
  })

  it("is what a definition's schedule says, which sees what was thrown, and stays at its last pause", async () => {
    const time = new VirtualTime()
    const backOff = new BackOff(time, refuse)
    const seen: unknown[] = []
    const schedule = Schedule.exponential("100 millis", 3).pipe(
      Schedule.upTo({ times: 3 }),
      Schedule.tap(({ input }) => Effect.sync(() => seen.push(input))),
    )
    const waits: number[] = []
    for (let failures = 1; failures <= 5; failures++) {
      backOff.failed("k", schedule, broken)
      waits.push(backOff.of("k").ms)
    }
    expect(waits).toEqual([100, 300, 900, 900, 900])
    expect(seen.slice(0, 3)).toEqual([broken, broken, broken])
    backOff.succeeded("k")
    backOff.failed("k", schedule, broken)
    expect(backOff.of("k").ms).toBe(100)
  })

  it("isn't forgotten while its own pause lasts", async () => {
    const time = new VirtualTime()
    const backOff = new BackOff(time, refuse)
    backOff.failed("k", Schedule.spaced("1 hour"), broken)
    await time.advance(30 * 60_000)
    backOff.failed("other", undefined, broken)
    expect(backOff.of("k")).toEqual({ ms: 30 * 60_000, error: broken })
  })

  it("grows on where its pauses are longer than ten minutes", async () => {
    const time = new VirtualTime()
    const backOff = new BackOff(time, refuse)
    const waits: number[] = []
    for (let failures = 1; failures <= 4; failures++) {
      backOff.failed("k", Schedule.exponential("8 minutes"), broken)
      waits.push(backOff.of("k").ms / 60_000)
      await time.advance(backOff.of("k").ms)
    }
    expect(waits).toEqual([8, 16, 32, 64])
  })

  it.each<readonly [string, BackOffSchedule]>([
    ["waits", Schedule.addDelay(Schedule.forever, () => Effect.as(Effect.sleep(5), 1))],
    ["throws", Schedule.addDelay(Schedule.forever, () => Effect.die(broken))],
    ["waits before its first step", Schedule.fromStep(Effect.as(Effect.sleep(5), stands))],
    ["throws outside of its Effect", Schedule.fromStep(Effect.succeed(throws))],
  ])("is the longest where its schedule %s, and that is reported", (_, schedule) => {
    const reported: unknown[] = []
    const backOff = new BackOff(new VirtualTime(), (error) => void reported.push(error))
    backOff.failed("k", schedule, broken)
    expect(backOff.of("k").ms).toBe(60_000)
    expect(reported).toEqual([
      expect.objectContaining({ key: "k", code: "LEASEHOLD_CONFIG", next: expect.any(String) }),
    ])
  })
})
