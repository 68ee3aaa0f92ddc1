import { describe, expect, it } from "vitest"
import { VirtualHost } from "../../../src/runtime/time/virtual-host.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"

const notes = (world: VirtualTime): { list: [string, number][]; note: (what: string) => () => void } => {
  const list: [string, number][] = []
  return { list, note: (what) => () => list.push([what, world.read().mono]) }
}

describe("a host of a virtual world", () => {
  it("has a wall clock of its own, ahead or behind, and one world's time behind it", async () => {
    const world = new VirtualTime({ wall: 100_000 })
    const [ahead, behind] = [
      new VirtualHost(world, { wallOffset: 60_000 }),
      new VirtualHost(world, { wallOffset: -60_000 }),
    ]
    await world.advance(5000)
    expect(ahead.read()).toEqual({ wall: 165_000, mono: 5000, boot: 605_000 })
    expect(behind.read().wall).toBe(45_000)
    ahead.stepWall(-60_000)
    expect(ahead.read().wall).toBe(105_000)
    expect(world.read().wall).toBe(105_000)
  })

  it("with a fast clock waits by its own clock, and less than the world does", async () => {
    const world = new VirtualTime()
    const { list, note } = notes(world)
    const fast = new VirtualHost(world, { rate: 1.25 })
    fast.after(1000, note("fast"))
    new VirtualHost(world, { rate: 0.8 }).after(1000, note("slow"))
    await world.advance(2000)
    expect(list).toEqual([
      ["fast", 800],
      ["slow", 1250],
    ])
    expect(fast.read().mono).toBe(2500)
  })

  it("paused, runs nothing while its clocks go on, and then what came due, in order, at once", async () => {
    const world = new VirtualTime()
    const { list, note } = notes(world)
    const host = new VirtualHost(world)
    host.after(20, note("b"))
    host.after(10, note("a"))
    host.after(90, note("c"))
    host.pause()
    host.soon(note("soon"))
    await world.advance(50)
    expect(list).toEqual([])
    host.resume()
    await world.advance(50)
    expect(list).toEqual([
      ["soon", 50],
      ["a", 50],
      ["b", 50],
      ["c", 90],
    ])
    expect(host.read().mono).toBe(100)
  })

  it("asleep, has no monotonic time pass, so that its timers are late by as long", async () => {
    const world = new VirtualTime({ wall: 0 })
    const { list, note } = notes(world)
    const host = new VirtualHost(world)
    host.after(20, note("late"))
    await world.advance(5)
    host.sleep()
    await world.advance(1000)
    expect(host.read()).toEqual({ wall: 1005, mono: 5, boot: 601_005 })
    host.resume()
    await world.advance(1000)
    expect(list).toEqual([["late", 1020]])
    expect(host.pendingTimers).toBe(0)
  })

  it("killed, never runs anything again and leaves no timer in the world", async () => {
    const world = new VirtualTime()
    const { list, note } = notes(world)
    const host = new VirtualHost(world)
    host.after(10, note("timer"))
    host.soon(note("soon"))
    host.pause()
    await world.advance(20)
    host.kill()
    host.resume()
    host.after(10, note("after death"))
    await world.advance(100)
    expect(list).toEqual([])
    expect([host.pendingTimers, world.pendingTimers]).toEqual([0, 0])
  })

  it("is never early, whatever its rate: what waits for a time finds that time there", async () => {
    const world = new VirtualTime()
    const early: number[] = []
    for (let count = 0; count < 500; count++) {
      await world.advance(world.random() * 1000)
      const host = new VirtualHost(world, { rate: 0.95 + world.random() / 10 })
      await world.advance(world.random() * 1000)
      const due = host.mono() + world.random() * 1000
      host.after(due - host.mono(), () => {
        if (host.mono() < due) early.push(due - host.mono())
      })
    }
    await world.advance(2000)
    expect(early).toEqual([])
  })

  it("leaves the other hosts alone when it is stopped", async () => {
    const world = new VirtualTime()
    const { list, note } = notes(world)
    const [stopped, other] = [new VirtualHost(world), new VirtualHost(world)]
    stopped.after(10, note("stopped"))
    other.after(10, note("other"))
    stopped.pause()
    await world.advance(10)
    expect(list).toEqual([["other", 10]])
  })

  it("cancels its timers, also those that came due while it was paused", async () => {
    const world = new VirtualTime()
    const { list, note } = notes(world)
    const host = new VirtualHost(world)
    const timer = host.after(10, note("cancelled"))
    host.pause()
    await world.advance(20)
    timer.cancel()
    timer.cancel()
    host.resume()
    await world.advance(20)
    expect(list).toEqual([])
  })

  it("shares its boot clock with an elder host of its name and rate", async () => {
    const world = new VirtualTime()
    const elder = new VirtualHost(world, { name: "m", rate: 1.05 })
    await world.advance(10_000)
    const younger = new VirtualHost(world, { name: "m", rate: 1.05 })
    await world.advance(10_000)
    expect(younger.read().boot).toBeCloseTo(elder.read().boot, 6)
  })

  it("shares a boot id with hosts of its name alone, and has none where the boot clock can't be read", () => {
    const world = new VirtualTime()
    const ids = ["a", "a", "b"].map((name) => new VirtualHost(world, { name }).bootId)
    expect(ids[0]).toBe(ids[1])
    expect(ids[0]).not.toBe(ids[2])
    const blind = new VirtualHost(world, { bootClock: false })
    blind.stepWall(5000)
    expect(blind.bootId).toBeUndefined()
    expect(blind.read().boot).toBe(blind.read().wall)
  })
})
