/**
 * A lease is right by time: what it says of itself never depends on a timer, a store or an observer having been there.
 */
import { describe, expect, it } from "vitest"
import type { Lease, LockEvent } from "../../src/locks/api/lock.ts"
import { anySignal } from "../../src/runtime/latch-signal.ts"
import { eventsOf, expectRest, failure, lockWorld, types } from "../support/lock-world.ts"
import type { LockWorld } from "../support/lock-world.ts"
import { failPut, failRead, hold } from "../support/scripted-store.ts"

/** From now on the store is cut off: nothing arrives, nobody is told. */
function cutOff({ store }: LockWorld): void {
  for (let request = 0; request < 1000; request++) {
    store.script.onRead({ before: "lost" })
    store.script.onPut({ before: "lost" })
  }
}

/** From now on every request fails at once. */
function breakDown({ store }: LockWorld): void {
  for (let request = 0; request < 1000; request++) {
    store.script.onRead(failRead())
    store.script.onPut(failPut())
  }
}

/** The aborts that a signal derived from the lease's, of the runtime's own making, is told of. */
function derived(lease: Lease): string[] {
  const aborts: string[] = []
  const signal = AbortSignal.any([lease.signal])
  signal.addEventListener("abort", () => aborts.push((signal.reason as Error).name))
  return aborts
}

describe("after a stall of the event loop longer than the ttl", () => {
  // Tests rule 5: `isHeld()` is right by time: past the deadline, after a stall, while the clocks disagree.
  it("isHeld() is false at once, before any timer has run", async () => {
    const { time, lock } = lockWorld()
    const lease = await time.runUntil(lock("a").acquire())
    time.stall(26_000)
    expect(lease.isHeld()).toBe(true)
    time.stall(2000)
    expect(lease.isHeld()).toBe(false)
  })

  it("reading the signal aborts it, once, with the loss as its reason", async () => {
    const { time, lock } = lockWorld()
    const lease = await time.runUntil(lock("a").acquire())
    let aborts = 0
    lease.signal.addEventListener("abort", () => aborts++)
    time.stall(60_000)
    expect(aborts).toBe(0)
    expect(lease.signal.aborted).toBe(true)
    expect(() => lease.signal.throwIfAborted()).toThrow("was lost")
    expect(lease.signal.reason).toMatchObject({ _tag: "LockLostError", reason: "expired", key: "orders/7" })
    await time.advance(60_000)
    expect(aborts).toBe(1)
  })

  // Tests rule 5: The abort comes within a second of the lease's end, though nobody reads and the store is silent.
  it("the abort is dispatched without anybody reading it, by the first timer that runs", async () => {
    const { time, lock } = lockWorld()
    const lease = await time.runUntil(lock("a").acquire())
    const aborts = derived(lease)
    time.stall(60_000)
    expect(aborts).toEqual([])
    await time.advance(0)
    expect(aborts).toEqual(["LockLostError"])
  })

  it("a signal that is asked for only after the loss has aborted with it, and one after a release never does", async () => {
    const world = lockWorld()
    const { time, lock } = world
    const released = await time.runUntil(lock("b").acquire())
    await time.runUntil(released.release())
    const lease = await time.runUntil(lock("a").acquire())
    cutOff(world)
    await time.advance(40_000)
    expect(lease.signal.aborted).toBe(true)
    expect(lease.signal.reason).toMatchObject({ _tag: "LockLostError", reason: "expired" })
    expect(lease.signal).toBe(lease.signal)
    expect(released.signal.aborted).toBe(false)
  })

  it("a signal that was derived by anySignal is right by time too", async () => {
    const { time, lock } = lockWorld()
    const lease = await time.runUntil(lock("a").acquire())
    const { signal } = anySignal(lease.signal, new AbortController().signal)
    time.stall(60_000)
    expect(signal.aborted).toBe(true)
  })

  it("reading the signal of a lease that is only suspect changes nothing, however often a runtime reads it by itself", async () => {
    const drawn = async (readings: number): Promise<number> => {
      const world = lockWorld({ seed: 5 })
      const { time, lock } = world
      const lease = await time.runUntil(lock("a").acquire())
      cutOff(world)
      time.suspend(5000)
      await time.advance(1500)
      expect(lease.isHeld()).toBe(false)
      for (let reading = 0; reading < readings; reading++) expect(lease.signal.aborted).toBe(false)
      return time.random()
    }
    expect(await drawn(3)).toBe(await drawn(0))
  })

  it("the loss is dated to the end of the lease, not to its discovery", async () => {
    const { time, lock } = lockWorld()
    const lease = await time.runUntil(lock("a").acquire())
    const { deadline } = lease
    time.stall(60_000)
    expect(lease.signal.aborted).toBe(true)
    expect(lease.signal.reason).toMatchObject({ since: deadline })
  })

  it("the signal is right even to an observer that is being told of something else", async () => {
    const world = lockWorld()
    const { time, lock } = world
    const a = lock("a")
    const lease = await time.runUntil(a.acquire())
    const seen: unknown[] = []
    a.events$.subscribe((event) => {
      if (event.type !== "Degraded" || seen.length > 0) return
      time.stall(60_000)
      seen.push(lease.signal.aborted, lease.isHeld())
    })
    const events = eventsOf(a)
    breakDown(world)
    await time.advance(20_000)
    expect(seen).toEqual([true, false])
    expect(types(events)).toEqual(["Degraded", "Lost"])
  })
})

describe("a lease that is lost", () => {
  // Tests rule 5.
  it("is so to every observer of the loss, also to one that was there before the lease", async () => {
    const world = lockWorld()
    const { time, lock } = world
    const a = lock("a")
    const seen: unknown[] = []
    a.events$.subscribe((event) => event.type === "Lost" && seen.push(lease.signal.aborted, lease.isHeld()))
    const lease = await time.runUntil(a.acquire())
    cutOff(world)
    await time.advance(30_000)
    expect(seen).toEqual([true, false])
  })

  it("aborts at its deadline when the store is silent", async () => {
    const world = lockWorld()
    const { time, lock } = world
    const lease = await time.runUntil(lock("a").acquire())
    const { deadline } = lease
    let abortedAt = 0
    lease.signal.addEventListener("abort", () => void (abortedAt = time.read().wall))
    cutOff(world)
    await time.advance(30_000)
    expect(abortedAt).toBeGreaterThanOrEqual(deadline)
    expect(abortedAt).toBeLessThanOrEqual(deadline + 10)
  })

  it("leaves the key to the next acquire of the same process", async () => {
    const { time, lock } = lockWorld()
    const a = lock("a")
    const first = await time.runUntil(a.acquire())
    time.stall(60_000)
    expect(first.signal.aborted).toBe(true)
    const second = await time.runUntil(a.acquire())
    expect(second.isHeld()).toBe(true)
    expect(second.token).toBeGreaterThan(first.token)
    expect(first.isHeld()).toBe(false)
    expect(await first.release()).toBe("alreadyLost")
    expect(second.isHeld()).toBe(true)
  })

  it("keeps what it was: key, token, and a deadline that is past", async () => {
    const { time, lock } = lockWorld()
    const lease = await time.runUntil(lock("a").acquire())
    const { token, deadline } = lease
    time.stall(60_000)
    expect(lease.signal.aborted).toBe(true)
    expect(lease).toMatchObject({ key: "orders/7", token, deadline, how: "created" })
  })
})

describe("a lease that is released", () => {
  it("never aborts its signal", async () => {
    const { time, lock } = lockWorld()
    const lease = await time.runUntil(lock("a").acquire())
    await time.runUntil(lease.release())
    await time.advance(120_000)
    expect(lease.signal.aborted).toBe(false)
    expect(lease.isHeld()).toBe(false)
  })

  it("is not the lease that the same process acquires next", async () => {
    const { time, lock } = lockWorld()
    const a = lock("a")
    const first = await time.runUntil(a.acquire())
    await time.runUntil(first.release())
    const second = await time.runUntil(a.acquire())
    expect([first.isHeld(), second.isHeld()]).toEqual([false, true])
    expect(await first.release()).toBe("released")
    expect(await failure(first.renew())).toMatchObject({ _tag: "LockNotHeldError" })
    expect(second.isHeld()).toBe(true)
  })

  it("can be released by an observer of its own events", async () => {
    const { time, lock } = lockWorld()
    const a = lock("a")
    const lease = await time.runUntil(a.acquire())
    const events = eventsOf(a)
    lease.events$.subscribe((event) => event.type === "Renewed" && void lease.release())
    await time.runUntil(lease.renew())
    expect(lease.isHeld()).toBe(false)
    await time.advance(1000)
    expect(types(events)).toEqual(["Renewed", "Released"])
  })
})

describe("the deadline", () => {
  it("is the guard before the end of the lease in the store, and moves with each renewal", async () => {
    const { time, lock } = lockWorld()
    const lease = await time.runUntil(lock("a").acquire())
    const start = time.read().wall
    expect(lease.deadline).toBe(start + 27_000)
    await time.advance(5000)
    expect(lease.deadline).toBe(start + 27_000)
    await time.runUntil(lease.renew())
    expect(lease.deadline).toBe(start + 32_000)
  })

  it("is the deadline of the event that told of it", async () => {
    const { time, lock } = lockWorld()
    const a = lock("a")
    const events = eventsOf(a)
    const lease = await time.runUntil(a.acquire())
    expect(events[0]).toMatchObject({
      type: "Acquired",
      deadline: lease.deadline,
      token: lease.token,
      at: time.read().wall,
    })
    await time.advance(3000)
    await time.runUntil(lease.renew())
    expect(events[1]).toMatchObject({ type: "Renewed", deadline: lease.deadline })
  })

  it("follows the wall clock that it is told in", async () => {
    const { time, lock } = lockWorld()
    const lease = await time.runUntil(lock("a").acquire())
    const { deadline } = lease
    time.stepWall(-3_600_000)
    expect(lease.deadline).toBe(deadline - 3_600_000)
  })
})

describe("a suspended owner", () => {
  // Tests rule 5: A suspended owner holds nothing until a renewal sent after it woke is applied.
  it("doesn't hold its lease from the moment it wakes, and holds it again once a renewal was applied", async () => {
    const { time, lock } = lockWorld()
    const a = lock("a")
    const lease = await time.runUntil(a.acquire())
    const events = eventsOf(a)
    time.suspend(5000)
    expect(lease.isHeld()).toBe(false)
    expect(lease.signal.aborted).toBe(false)
    await time.advance(1000)
    expect(types(events)).toEqual(["Suspect", "Recovered"])
    expect(lease.isHeld()).toBe(true)
  })

  it("stays in doubt until the answer to a renewal that was sent after it woke", async () => {
    const { time, store, lock } = lockWorld()
    const a = lock("a")
    const lease = await time.runUntil(a.acquire())
    const events = eventsOf(a)
    const before = hold()
    const after = hold()
    store.script.onPut(before, after)
    const renewal = lease.renew()
    await before.arrived
    time.suspend(5000)
    before.answer()
    await time.advance(1500)
    expect(lease.isHeld()).toBe(false)
    after.answer()
    await time.runUntil(renewal)
    expect(lease.isHeld()).toBe(true)
    // what was sent before it slept tells its deadline
    expect(types(events)).toEqual(["Suspect", "Suspect", "Recovered"])
  })

  it("has lost its lease where it slept past its end, whatever its monotonic clock says", async () => {
    const { time, lock } = lockWorld()
    const lease = await time.runUntil(lock("a").acquire())
    time.suspend(28_000)
    expect(lease.isHeld()).toBe(false)
    expect(lease.signal.aborted).toBe(true)
    expect(lease.signal.reason).toMatchObject({ reason: "expired" })
  })

  it("is told so within a second of waking, without reading anything", async () => {
    const { time, lock } = lockWorld()
    const lease = await time.runUntil(lock("a").acquire())
    const aborts = derived(lease)
    time.suspend(28_000)
    await time.advance(1010)
    expect(aborts).toHaveLength(1)
  })

  it("is told of the end of its lease within a second, also where it slept for a part of it and the store is silent", async () => {
    const world = lockWorld({ capabilities: { cheapReads: false } })
    const { time, lock } = world
    const lease = await time.runUntil(lock("a", { ttl: "10 min" }).acquire())
    const aborts = derived(lease)
    const left = lease.deadline - time.read().wall
    cutOff(world)
    time.suspend(left - 2500)
    await time.advance(1500)
    expect(aborts).toEqual([])
    expect(lease.isHeld()).toBe(false)
    await time.advance(2010)
    expect(aborts).toHaveLength(1)
  })
})

describe("a step of the wall clock", () => {
  it("means nothing where there is a boot clock", async () => {
    const { time, lock } = lockWorld()
    const a = lock("a")
    const lease = await time.runUntil(a.acquire())
    const events = eventsOf(a)
    for (const step of [3_600_000, -7_200_000]) {
      time.stepWall(step)
      expect(lease.isHeld()).toBe(true)
      await time.advance(2000)
    }
    expect(lease.signal.aborted).toBe(false)
    expect(events).toEqual([])
  })

  it("puts the lease in doubt where the wall clock stands in for one, until it is renewed", async () => {
    const { time, lock } = lockWorld({ bootClock: false })
    const a = lock("a")
    const lease = await time.runUntil(a.acquire())
    const events = eventsOf(a)
    time.stepWall(-60_000)
    expect(lease.isHeld()).toBe(false)
    await time.advance(1010)
    expect(lease.isHeld()).toBe(true)
    expect(types(events)).toEqual(["Suspect", "Recovered"])
  })

  it("forward past the end is a loss there: nobody can tell it from a suspend", async () => {
    const { time, lock } = lockWorld({ bootClock: false })
    const lease = await time.runUntil(lock("a").acquire())
    time.stepWall(60_000)
    expect(lease.isHeld()).toBe(false)
    expect(lease.signal.aborted).toBe(true)
  })
})

describe("the events of a lease", () => {
  it("begin with it, and complete with its end", async () => {
    const { time, lock } = lockWorld()
    const a = lock("a")
    const told: LockEvent[] = []
    const completed: string[] = []
    const first = await time.runUntil(a.acquire())
    first.events$.subscribe({ next: (event) => void told.push(event), complete: () => void completed.push("first") })
    await time.runUntil(first.renew())
    await time.runUntil(first.release())
    expect(types(told)).toEqual(["Renewed", "Released"])
    expect(completed).toEqual(["first"])
    const second = await time.runUntil(a.acquire())
    second.events$.subscribe({ complete: () => void completed.push("second") })
    first.events$.subscribe({
      next: () => void completed.push("an event"),
      complete: () => void completed.push("late"),
    })
    expect(completed).toEqual(["first", "late"])
    time.stall(60_000)
    expect(second.signal.aborted).toBe(true)
    expect(completed).toEqual(["first", "late", "second"])
    expect(told).toHaveLength(2)
  })

  it("survive an observer that throws", async () => {
    const { time, lock, errors } = lockWorld()
    const lease = await time.runUntil(lock("a").acquire())
    lease.events$.subscribe(() => {
      throw new Error("in an observer")
    })
    const events = eventsOf(lease)
    await time.runUntil(lease.renew())
    await time.runUntil(lease.release())
    expect(types(events)).toEqual(["Renewed", "Released"])
    expect(errors).toHaveLength(1)
    await expectRest(time)
  })

  it("reach every observer in the order in which they happened, also those that an observer brings about", async () => {
    const { time, lock } = lockWorld()
    const a = lock("a")
    const lease = await time.runUntil(a.acquire())
    lease.events$.subscribe((event) => {
      if (event.type === "Renewed") time.stall(60_000)
      return lease.signal.aborted
    })
    const events = eventsOf(a)
    await time.runUntil(lease.renew().catch(() => {}))
    expect(types(events)).toEqual(["Renewed", "Lost"])
  })
})
