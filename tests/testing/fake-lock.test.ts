/** The lock for tests, by the package's own name: what a user's test can do with it. */
import { FakeLock, fakeWorld, type FakeWorld, VirtualTime } from "leasehold/testing"
import { describe, expect, it } from "vitest"
import type { LockEvent } from "../../src/locks/api/lock.ts"

const lockIn = (world: FakeWorld, id: string): FakeLock =>
  new FakeLock("orders/7", { world, incarnation: world.process(id) })

describe("a fake lock", () => {
  it("is acquired, renewed by itself and released in no real time", async () => {
    const world = fakeWorld()
    const lock = new FakeLock("orders/7", { world })
    const lease = await lock.acquire()
    await world.advance("10 min")
    expect(lease.isHeld()).toBe(true)
    expect(await lease.release()).toBe("released")
    expect(world.clock).toBeInstanceOf(VirtualTime)
    expect(world.clock.pendingTimers).toBe(0)
  })

  it("takes turns with another lock of the same process, and contends with that of another", async () => {
    const world = fakeWorld()
    const lease = await new FakeLock("orders/7", { world }).acquire()
    const same = await new FakeLock("orders/7", { world }).acquire({ timeout: 0 }).catch((error: Error) => error)
    expect(same).toMatchObject({ _tag: "LockTimeoutError", owner: { ownerId: "this-process" } })
    const other = lockIn(world, "b").acquire({ timeout: "5 s" })
    const asked: LockEvent[] = []
    lease.events$.subscribe((event) => asked.push(event))
    await expect(world.until(other)).rejects.toMatchObject({ _tag: "LockTimeoutError" })
    expect(asked.map(({ type }) => type)).toEqual(["ReleaseRequested"])
  })

  it("is taken over after its owner was killed, and not a moment before its lease is over", async () => {
    const world = fakeWorld()
    const first = await lockIn(world, "a").acquire()
    const from = world.clock.mono()
    world.process("a").kill()
    const second = await world.until(lockIn(world, "b").acquire({ timeout: "1 min" }))
    expect(second).toMatchObject({ how: "takeover" })
    expect(second.token).toBeGreaterThan(first.token)
    expect(world.clock.mono() - from).toBeGreaterThan(30_000)
    expect(first.isHeld()).toBe(false)
  })

  it("is lost by an owner that was paused or asleep for longer than its lease", async () => {
    for (const misfortune of ["pause", "sleep"] as const) {
      const world = fakeWorld()
      const process = world.process("a")
      const lease = await lockIn(world, "a").acquire()
      process[misfortune]()
      await world.advance("1 min")
      process.resume()
      expect(lease.isHeld()).toBe(false)
      expect(lease.signal.aborted).toBe(true)
    }
  })

  it("doesn't mind that its process's wall clock is set", async () => {
    const world = fakeWorld()
    const lease = await lockIn(world, "a").acquire()
    world.process("a").stepWall(-3_600_000)
    expect(lease.isHeld()).toBe(true)
    await world.advance("2 min")
    expect(lease.isHeld()).toBe(true)
  })

  // Tests locks: What a process remembers of a key depends on its use, never on the garbage collector.
  it("behaves the same in every run of one seed", async () => {
    const trace = async (seed: number): Promise<readonly string[]> => {
      const world = fakeWorld({ seed })
      const events: string[] = []
      for (const id of ["a", "b"]) {
        lockIn(world, id).events$.subscribe(({ at, ownerId, type }) => events.push(`${at} ${ownerId} ${type}`))
      }
      const lock = lockIn(world, "a")
      const lease = await lock.acquire()
      lock.onReleaseRequested(async () => void (await lease.release()))
      await world.advance("1 min")
      const next = await world.until(lockIn(world, "b").acquire())
      await world.advance("1 min")
      await next.release()
      return events
    }
    expect(await trace(7)).toEqual(await trace(7))
    expect(await trace(7)).not.toEqual(await trace(8))
  })
})

describe("a fake world", () => {
  it("knows each process by its id, and makes new ones without", () => {
    const world = fakeWorld()
    expect(world.process("a")).toBe(world.process("a"))
    expect(world.process().id).not.toBe(world.process().id)
  })

  it("refuses ids that are none and times that are none", async () => {
    const world = fakeWorld()
    expect(() => world.process("a b")).toThrow('with the id "a b"')
    await expect(world.advance(NaN)).rejects.toMatchObject({ _tag: "InvalidConfigError" })
  })
})
