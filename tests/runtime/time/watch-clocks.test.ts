import { describe, expect, it } from "vitest"
import type { Reading } from "../../../src/runtime/time/clock.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"
import { type ClockListener, watchClocks } from "../../../src/runtime/time/watch-clocks.ts"

/** One who writes down when it was called. */
class Listener implements ClockListener {
  readonly readings: Reading[] = []
  readonly onReading = (reading: Reading): void => void this.readings.push(reading)

  get times(): number[] {
    return this.readings.map(({ mono }) => mono)
  }
}

describe("the clocks comparison", () => {
  it("is made once a second, in the background, and stops with the last listener", async () => {
    const time = new VirtualTime()
    const watch = watchClocks(time)
    const [first, second] = [new Listener(), new Listener()]
    watch.add(first, time.read())
    watch.add(second, time.read())
    expect([time.pendingTimers, time.pendingBackground]).toEqual([1, 1])
    time.suspend(40_000)
    await time.advance(1000)
    watch.delete(first)
    watch.delete(first)
    time.suspend(40_000)
    await time.advance(1000)
    watch.delete(second)
    expect([first.times, second.times]).toEqual([[1000], [1000, 2000]])
    expect(time.pendingTimers).toBe(0)
    await time.advance(5000)
    expect(second.times).toHaveLength(2)
  })

  it("calls nobody as long as the clocks agree", async () => {
    const time = new VirtualTime()
    const listener = new Listener()
    watchClocks(time).add(listener, time.read())
    await time.advance(3_600_000)
    time.suspend(200)
    await time.advance(3_600_000)
    expect(listener.readings).toEqual([])
  })

  it("shows a suspend within a second, once, and a wall clock that was stepped where that stands in", async () => {
    const time = new VirtualTime({ wall: 0 })
    const listener = new Listener()
    watchClocks(time).add(listener, time.read())
    await time.advance(1000)
    time.suspend(40_000)
    await time.advance(5000)
    expect(listener.times).toEqual([2000])

    const bootless = new VirtualTime({ wall: 0, bootClock: false })
    const stepped = new Listener()
    watchClocks(bootless).add(stepped, bootless.read())
    bootless.stepWall(-7000)
    await bootless.advance(5000)
    expect(stepped.times).toEqual([1000])
  })

  it("misses no drift that comes in steps too small to be one", async () => {
    const time = new VirtualTime()
    const listener = new Listener()
    watchClocks(time).add(listener, time.read())
    for (let second = 0; second < 30; second++) {
      time.suspend(100)
      await time.advance(1000)
    }
    expect(listener.readings.length).toBeGreaterThan(8)
  })

  it("calls also for what one of them saw in between, though by the next second it is over", async () => {
    const time = new VirtualTime({ bootClock: false })
    const [one, other] = [new Listener(), new Listener()]
    const watch = watchClocks(time)
    watch.add(one, time.read())
    watch.add(other, time.read())
    time.stepWall(5000)
    watch.note(time.read())
    time.stepWall(-5000)
    await time.advance(3000)
    expect([one.times, other.times]).toEqual([[1000], [1000]])
  })

  it("counts from the first listener that came, not from one before", async () => {
    const time = new VirtualTime()
    const [early, late] = [new Listener(), new Listener()]
    const watch = watchClocks(time)
    watch.add(early, time.read())
    watch.delete(early)
    time.suspend(60_000)
    watch.add(late, time.read())
    await time.advance(3000)
    expect(late.readings).toEqual([])
  })

  it("tells the others when a listener throws, throws it to the clock, and goes on", async () => {
    const time = new VirtualTime()
    const listener = new Listener()
    const throwing: ClockListener = {
      onReading: () => {
        throw new Error("listener")
      },
    }
    watchClocks(time).add(throwing, time.read())
    watchClocks(time).add(listener, time.read())
    for (let second = 1; second <= 2; second++) {
      time.suspend(1000)
      await expect(time.advance(1000)).rejects.toThrow("clocks comparison")
    }
    expect(listener.times).toEqual([1000, 2000])
  })
})
