import { describe, expect, it } from "vitest"
import type { Reading } from "../../../src/runtime/time/clock.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"
import { watchClocks } from "../../../src/runtime/time/watch-clocks.ts"

describe("the clocks comparison", () => {
  it("gives every listener one reading a second, in the background, and stops with the last listener", async () => {
    const time = new VirtualTime()
    const seen: [string, number][] = []
    const first = watchClocks(time, ({ mono }) => seen.push(["first", mono]))
    const second = watchClocks(time, ({ mono }) => seen.push(["second", mono]))
    expect([time.pendingTimers, time.pendingBackground]).toEqual([1, 1])
    await time.advance(1000)
    first[Symbol.dispose]()
    first[Symbol.dispose]()
    await time.advance(1000)
    second[Symbol.dispose]()
    await time.advance(5000)
    expect(seen).toEqual([
      ["first", 1000],
      ["second", 1000],
      ["second", 2000],
    ])
    expect(time.pendingTimers).toBe(0)
  })

  it("shows a suspend and a stepped wall clock within a second", async () => {
    const time = new VirtualTime({ wall: 0 })
    const readings: Reading[] = []
    using _watch = watchClocks(time, (reading) => void readings.push(reading))
    await time.advance(1000)
    time.suspend(40_000)
    time.stepWall(-7000)
    await time.advance(1000)
    const [before, after] = readings
    expect(after!.mono - before!.mono).toBe(1000)
    expect(after!.boot - before!.boot).toBe(41_000)
    expect(after!.wall - before!.wall).toBe(34_000)
  })

  it("tells the others when a listener throws, throws it to the clock, and goes on", async () => {
    const time = new VirtualTime()
    let told = 0
    using _throwing = watchClocks(time, () => {
      throw new Error("listener")
    })
    using _other = watchClocks(time, () => void told++)
    await expect(time.advance(1000)).rejects.toThrow("clocks comparison")
    await expect(time.advance(1000)).rejects.toThrow("clocks comparison")
    expect(told).toBe(2)
  })

  it("counts one function that listens twice as two listeners", async () => {
    const time = new VirtualTime()
    let told = 0
    const listener = (): void => void told++
    const first = watchClocks(time, listener)
    const second = watchClocks(time, listener)
    first[Symbol.dispose]()
    await time.advance(1000)
    second[Symbol.dispose]()
    expect(told).toBe(1)
  })
})
