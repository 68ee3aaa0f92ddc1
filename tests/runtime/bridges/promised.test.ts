import { describe, expect, it } from "vitest"
import { Fibers } from "../../../src/runtime/bridges/fibers.ts"
import { Promised } from "../../../src/runtime/bridges/promised.ts"
import { sleep } from "../../../src/runtime/time/sleep.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"

class World {
  readonly time = new VirtualTime()
  readonly errors: unknown[] = []
  readonly fibers = new Fibers(this.time, (error) => void this.errors.push(error))
  readonly told: string[] = []

  /** Code that takes so long, whatever its signal says. */
  begin(ms: number): Promised {
    return new Promised(this.fibers, async (signal) => {
      signal.addEventListener("abort", () => void this.told.push(`aborted at ${this.time.mono()}: ${signal.reason}`))
      await sleep(this.time, ms)
      this.told.push(`ended at ${this.time.mono()}`)
    })
  }

  limit(begun: Promised, ms: number): void {
    this.fibers.fork(begun.within(ms, () => void this.told.push(`over at ${this.time.mono()}`)))
  }
}

describe("code of promises as a fiber", () => {
  it("begins at once, and its fiber ends when it has ended", async () => {
    const { time, fibers, told, begin } = bound()
    begin(100)
    expect(fibers.size).toBe(1)
    await time.runUntilIdle()
    expect([told, fibers.size]).toEqual([["ended at 100"], 0])
  })

  it("is told by its signal of an interruption, once, and is waited for", async () => {
    const { time, fibers, told, begin } = bound()
    const begun = begin(100)
    await time.advance(10)
    begun.interrupt("leaving")
    begun.interrupt("and again")
    expect(told).toEqual(["aborted at 10: leaving"])
    expect(fibers.size).toBe(1)
    await time.runUntilIdle()
    expect([told, fibers.size]).toEqual([["aborted at 10: leaving", "ended at 100"], 0])
    begun.interrupt("too late")
    expect(told.length).toBe(2)
  })

  it("tells of a limit once that is over, and goes on", async () => {
    const { time, fibers, told, begin, limit } = bound()
    limit(begin(100), 30)
    await time.runUntilIdle()
    expect([told, fibers.size]).toEqual([["over at 30", "ended at 100"], 0])
  })

  it("tells of none where it ends before, and leaves no timer", async () => {
    const { time, told, begin, limit } = bound()
    limit(begin(20), 30)
    limit(begin(20), Infinity)
    await time.runUntilIdle()
    expect(told).toEqual(["ended at 20", "ended at 20"])
    expect(time.mono()).toBe(20)
  })

  it("is a limit's to end that an interruption doesn't end", async () => {
    const { time, told, begin, limit } = bound()
    const begun = begin(100)
    begun.interrupt("leaving")
    limit(begun, 30)
    await time.runUntilIdle()
    expect(told).toEqual(["aborted at 0: leaving", "over at 30", "ended at 100"])
  })

  it("that rejects says nothing more: its limit tells", async () => {
    const { time, fibers, told, errors, limit } = bound()
    const begun = new Promised(fibers, async () => {
      await sleep(time, 10)
      throw new Error("as scripted")
    })
    limit(begun, 30)
    await time.runUntilIdle()
    expect([told, errors.length, fibers.size]).toEqual([["over at 30"], 1, 0])
  })

  it.each([
    ["as it is", false],
    ["once it was interrupted", true],
  ])("is reported where it rejects, %s", async (_, interrupted) => {
    const { time, fibers, errors } = bound()
    const broken = new Error("as scripted")
    const begun = new Promised(fibers, async () => {
      await sleep(time, 10)
      throw broken
    })
    if (interrupted) begun.interrupt()
    await time.runUntilIdle()
    expect([errors, fibers.size]).toEqual([[broken], 0])
  })
})

function bound() {
  const world = new World()
  const { time, fibers, told, errors } = world
  return { time, fibers, told, errors, begin: world.begin.bind(world), limit: world.limit.bind(world) }
}
