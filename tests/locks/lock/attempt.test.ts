/** An acquire on its way: the store's start, the queue of this process, the key itself; each within the budget. */
import { describe, expect, it } from "vitest"
import {
  LockCancelledError,
  type LockTimeoutError,
  StoreMisconfiguredError,
  StoreUnavailableError,
} from "../../../src/locks/api/errors.ts"
import type { AcquireOptions } from "../../../src/locks/api/lock.ts"
import { StoreLock } from "../../../src/locks/lock/store-lock.ts"
import { memoryStore } from "../../../src/locks/stores/memory-store.ts"
import type { LeaseStore } from "../../../src/locks/stores/port.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"
import {
  eventsOf,
  expectRest,
  failure,
  lockWorld,
  recordOf,
  settling,
  silence,
  spaced,
  storeWith,
  types,
} from "../../support/lock-world.ts"
import { failPut, failRead, hold, late, loseAnswer, scripted } from "../../support/scripted-store.ts"

/** The same store for a process in which it takes a second to start. */
function slowlyStarting({ time, store }: ReturnType<typeof lockWorld>): LeaseStore {
  const waited = (): Promise<void> => new Promise((resolve) => void time.after(1000, resolve))
  return storeWith(store, { start: (options) => waited().then(() => store.start(options)) })
}

describe("two locks of one key in one incarnation", () => {
  // Tests rule 7: Attempts of one incarnation on one key take turns; two store objects are two incarnations.
  it("take turns, in the order of their calls", async () => {
    const { time, lock } = lockWorld()
    const order: string[] = []
    const turn = async (name: string): Promise<void> => {
      const lease = await lock("a").acquire()
      order.push(name)
      await new Promise<void>((resolve) => void time.after(1000, resolve))
      expect(lease.isHeld()).toBe(true)
      await lease.release()
    }
    await time.runUntil(Promise.all(["first", "second", "third"].map(turn)))
    expect(order).toEqual(["first", "second", "third"])
    await expectRest(time)
  })

  it("contend with nobody: no mark is written, and the holder is not asked to leave", async () => {
    const world = lockWorld()
    const { time, lock } = world
    const [one, two] = [lock("a"), lock("a")]
    const lease = await time.runUntil(one.acquire())
    const events = eventsOf(one)
    const second = two.acquire()
    await time.advance(3000)
    expect(await recordOf(world)).toMatchObject({ waitingOwnerId: null })
    expect(events).toEqual([])
    await time.runUntil(lease.release())
    expect((await time.runUntil(second)).isHeld()).toBe(true)
  })

  it("wait for their turn within their budgets", async () => {
    const { time, lock } = lockWorld()
    const held = await time.runUntil(lock("a").acquire())
    const { ms, value: error } = await settling(time, failure(lock("a").acquire({ timeout: "2 s" })))
    expect(ms).toBe(2000)
    expect(error).toMatchObject({ _tag: "LockTimeoutError", waitedMs: 2000, limitMs: 2000 })
    expect(error.owner).toMatchObject({ ownerId: "a", token: held.token })
    const third = lock("a").acquire({ timeout: "infinite" })
    await time.advance(60_000)
    await time.runUntil(held.release())
    expect((await time.runUntil(third)).isHeld()).toBe(true)
  })

  it("count the time in the queue: what is left of the budget is for the key", async () => {
    const { time, lock } = lockWorld()
    const mine = await time.runUntil(lock("a").acquire())
    const waiter = failure(lock("a").acquire({ timeout: "5 s" }))
    await time.advance(3000)
    const other = lock("b").acquire()
    await time.advance(500)
    const from = time.mono()
    await time.runUntil(mine.release())
    await time.runUntil(other)
    expect(await time.runUntil(waiter)).toMatchObject({ _tag: "LockTimeoutError", owner: { ownerId: "b" } })
    expect(time.mono() - from).toBeLessThanOrEqual(1510)
  })

  // Tests waits: The store is blamed only where it was asked and had the time to answer.
  it("do not blame the store where the queue took the budget, and it was hardly asked", async () => {
    const { time, store, lock } = lockWorld()
    const held = await time.runUntil(lock("a").acquire())
    const call = failure<LockTimeoutError>(lock("a").acquire({ timeout: "5 s" }))
    await time.advance(4900)
    store.script.onPut({}, late(3000)) // the release, and the claim behind it
    await time.runUntil(held.release())
    const error = await time.runUntil(call)
    expect(error).toMatchObject({ _tag: "LockTimeoutError", limitMs: 5000, source: "the timeout option" })
    expect(error.message).toMatch(
      /waited 50\d\d ms of 5000 ms \(the timeout option\), 4900 ms of it before its turn came/,
    )
    await expectRest(time)
  })

  // Tests waits: A timeout tells of a queue only where an earlier call was first; a budget of 0 is one try.
  it("tell of no queue where nobody was before them: the start of the store is none, though it counts", async () => {
    const world = lockWorld()
    const { time, store, lock } = world
    await time.runUntil(lock("b").acquire())
    const slow = slowlyStarting(world)
    const call = failure<LockTimeoutError>(lock("a", { store: slow }).acquire({ timeout: "5 s" }))
    const { ms, value: error } = await settling(time, call)
    expect(ms).toBe(5000)
    expect(error.message).toContain('"orders/7" is held by "b"; waited 5000 ms of 5000 ms (the timeout option). ')
    store.script.onRead(late(200))
    const once = await time.runUntil(failure<LockTimeoutError>(lock("a", { store: slow }).acquire({ timeout: 0 })))
    expect(once.message).toContain('"orders/7" is held by "b"; waited 200 ms in one try (the timeout option). ')
    expect(once).toMatchObject({ waitedMs: 200, limitMs: 0, next: "Pass a longer timeout" })
  })

  it("tell of the queue alone where the store had to start first", async () => {
    const world = lockWorld()
    const { time, store, lock } = world
    const slow = slowlyStarting(world)
    const first = lock("a", { store: slow }).acquire()
    const call = failure<LockTimeoutError>(lock("a", { store: slow }).acquire({ timeout: "5 s" }))
    await time.advance(1000)
    const held = await time.runUntil(first)
    await time.advance(3900 - (time.mono() - 1000))
    store.script.onPut({}, late(3000)) // the release, and the claim behind it
    await time.runUntil(held.release())
    const error = await time.runUntil(call)
    expect(error.message).toMatch(
      /waited 50\d\d ms of 5000 ms \(the timeout option\), 3\d\d\d ms of it before its turn came/,
    )
  })

  it("do blame a store that was silent for longer than the queue took, and tell for how long", async () => {
    const { time, store, lock } = lockWorld()
    const held = await time.runUntil(lock("a").acquire())
    const call = failure(lock("a").acquire({ timeout: "5 s" }))
    await time.advance(1000)
    const lost = Array.from({ length: 20 }, () => ({ before: "lost" as const }))
    store.script.onRead(...lost)
    store.script.onPut({}, ...lost)
    await time.runUntil(held.release())
    const error = await time.runUntil(call)
    expect(error).toMatchObject({ _tag: "StoreUnavailableError" })
    expect(error.message).toMatch(/ within 40\d\d ms/)
  })

  // Tests waits: A call that queues behind one of its own process names the holder in its error.
  it("are told who has the key, where an earlier call of this process waits for another's", async () => {
    const { time, lock } = lockWorld()
    await time.runUntil(lock("b").acquire())
    const first = failure(lock("a").acquire({ timeout: "20 s" }))
    const error = await time.runUntil(failure<LockTimeoutError>(lock("a").acquire({ timeout: "2 s" })))
    expect(error).toMatchObject({ _tag: "LockTimeoutError", owner: { ownerId: "b" }, next: "Pass a longer timeout" })
    expect(error.message).toContain('held by "b" and wanted by an earlier call of this process')
    expect(await time.runUntil(first)).toMatchObject({ _tag: "LockTimeoutError" })
  })

  it("fail at once with a budget of 0, and with whenOwned report", async () => {
    const { time, lock } = lockWorld()
    await time.runUntil(lock("a").acquire())
    const once = await settling(time, failure(lock("a").acquire({ timeout: 0 })))
    expect(once).toMatchObject({ ms: 0, value: { _tag: "LockTimeoutError", owner: { ownerId: "a" } } })
    const report = await settling(time, failure(lock("a").acquire({ whenOwned: "report" })))
    expect(report).toMatchObject({ ms: 0, value: { _tag: "OwnedElsewhereError", owner: { ownerId: "a" } } })
  })

  it("fail with whenOwned report as soon as another attempt of this process got the key", async () => {
    const { time, store, lock } = lockWorld()
    store.script.onRead(late(3000))
    const first = lock("a").acquire()
    const second = failure(lock("a").acquire({ whenOwned: "report" }))
    const { ms, value } = await settling(time, second)
    expect(value).toMatchObject({ _tag: "OwnedElsewhereError", owner: { ownerId: "a" } })
    expect(ms).toBe(3000)
    expect((await time.runUntil(first)).isHeld()).toBe(true)
  })

  it("have each its own options", async () => {
    const world = lockWorld()
    const { time, lock } = world
    const short = await time.runUntil(lock("a", { ttl: "6 s", address: "http://one" }).acquire())
    expect(await recordOf(world)).toMatchObject({ owner: { ttlMs: 6000, address: "http://one" } })
    await time.runUntil(short.release())
    await time.runUntil(lock("a", { ttl: "60 s", address: "http://two" }).acquire())
    expect(await recordOf(world)).toMatchObject({ owner: { ttlMs: 60_000, address: "http://two" } })
  })

  it("can't have each its own clock", () => {
    const { lock } = lockWorld()
    const first = lock("a")
    expect(() => lock("a", { clock: new VirtualTime() })).toThrow("clock")
    expect(first.key).toBe("orders/7")
  })

  it("know nothing of each other on two stores or in two incarnations", async () => {
    const { time, lock } = lockWorld()
    const elsewhere = memoryStore({ clock: time })
    const leases = [lock("a").acquire(), lock("a", { store: elsewhere }).acquire()]
    expect((await time.runUntil(Promise.all(leases))).map((lease) => lease.isHeld())).toEqual([true, true])
    expect(await time.runUntil(failure(lock("b").acquire({ timeout: 0 })))).toMatchObject({ owner: { ownerId: "a" } })
  })
})

describe("two store objects on one place in one process", () => {
  // Tests rule 7.
  it("contend as two processes do, since neither knows of the other's attempts", async () => {
    const time = new VirtualTime()
    const place = memoryStore({ clock: time })
    const lockOn = () => new StoreLock("k", { store: scripted(place, time), clock: time })
    const [one, two] = [lockOn(), lockOn()]
    const first = await time.runUntil(one.acquire())
    expect(await time.runUntil(failure(two.acquire({ timeout: "5 s" })))).toMatchObject({ _tag: "LockTimeoutError" })
    expect(first.isHeld()).toBe(true)
    one.onReleaseRequested(() => void first.release())
    const second = await time.runUntil(two.acquire())
    expect([first.isHeld(), second.isHeld(), second.how]).toEqual([false, true, "granted"])
  })
})

// Tests rule 8: An acquire can be cancelled at every stage, and leaves nothing.
describe("cancelling an acquire", () => {
  const cancelled = async (
    world: ReturnType<typeof lockWorld>,
    options: AcquireOptions,
    when: (abort: () => void) => Promise<void>,
    lock = world.lock("b"),
  ): Promise<number> => {
    const controller = new AbortController()
    const call = failure(lock.acquire({ ...options, signal: controller.signal }))
    let at = 0
    await when(() => {
      at = world.time.mono()
      controller.abort()
    })
    const error = await world.time.runUntil(call)
    expect(error).toBeInstanceOf(LockCancelledError)
    expect(error).toMatchObject({ key: "orders/7", retryable: false })
    return world.time.mono() - at
  }

  it("before it began sends nothing", async () => {
    const { store, lock } = lockWorld()
    const error = await failure(lock("a").acquire({ signal: AbortSignal.abort() }))
    expect(error).toBeInstanceOf(LockCancelledError)
    expect(store.script.requests).toHaveLength(0)
  })

  it("while the store starts ends the wait at once", async () => {
    const world = lockWorld()
    const store = storeWith(world.store, { start: silence })
    const took = await cancelled(
      world,
      { timeout: "infinite" },
      async (abort) => {
        await world.time.advance(100)
        abort()
      },
      world.lock("b", { store }),
    )
    expect(took).toBe(0)
    expect(world.store.script.requests).toHaveLength(0)
  })

  it("in the queue of this process leaves the queue, and the next one gets its turn", async () => {
    const world = lockWorld()
    const { time, lock } = world
    const held = await time.runUntil(lock("b").acquire())
    const took = await cancelled(world, {}, async (abort) => {
      await time.advance(100)
      abort()
    })
    expect(took).toBe(0)
    const next = lock("b").acquire()
    await time.runUntil(held.release())
    expect((await time.runUntil(next)).isHeld()).toBe(true)
  })

  it("while it reads ends the wait at once", async () => {
    const world = lockWorld()
    const read = hold()
    world.store.script.onRead(read)
    const took = await cancelled(world, {}, async (abort) => {
      await read.arrived
      abort()
    })
    expect(took).toBe(0)
    await expectRest(world.time)
    expect(await recordOf(world)).toBeUndefined()
  })

  it("while its claim is under way gives back what the claim got", async () => {
    const world = lockWorld()
    const claim = hold()
    world.store.script.onPut(claim)
    await cancelled(world, {}, async (abort) => {
      await claim.arrived
      claim.deliver()
      await world.time.advance(100)
      abort()
      claim.answer()
    })
    expect(await recordOf(world)).toMatchObject({ ownerId: null })
    await expectRest(world.time)
  })

  it("while it waits takes its mark off before it settles", async () => {
    const world = lockWorld()
    await world.time.runUntil(world.lock("a").acquire())
    await cancelled(world, { timeout: "infinite" }, async (abort) => {
      await world.time.advance(2000)
      expect(await recordOf(world)).toMatchObject({ waitingOwnerId: "b" })
      abort()
    })
    expect(await recordOf(world)).toMatchObject({ ownerId: "a", waitingOwnerId: null })
  })

  it("gives back what it is granted afterwards", async () => {
    const world = lockWorld()
    const { time, store, lock } = world
    const a = lock("a")
    const held = await time.runUntil(a.acquire())
    const controller = new AbortController()
    const call = failure(lock("b").acquire({ signal: controller.signal, timeout: "20 s" }))
    await time.advance(3000)
    const grant = hold()
    store.script.onPut(grant)
    const released = held.release()
    await grant.arrived
    controller.abort()
    grant.answer()
    expect(await time.runUntil(call)).toBeInstanceOf(LockCancelledError)
    expect(await time.runUntil(released)).toBe("released")
    await time.advance(3000)
    expect(await recordOf(world)).toMatchObject({ ownerId: null, waitingOwnerId: null })
    expect((await time.runUntil(a.acquire({ timeout: 0 }))).isHeld()).toBe(true)
  })

  it("after it settled changes nothing", async () => {
    const { time, lock } = lockWorld()
    const controller = new AbortController()
    const lease = await time.runUntil(lock("a").acquire({ signal: controller.signal }))
    controller.abort()
    await time.advance(1000)
    expect(lease.isHeld()).toBe(true)
    expect(lease.signal.aborted).toBe(false)
  })

  it("settles within seconds although the store is silent", async () => {
    const world = lockWorld()
    const { time, store, lock } = world
    await time.runUntil(lock("a").acquire())
    const took = await cancelled(world, { timeout: "infinite" }, async (abort) => {
      await time.advance(3000)
      for (let request = 0; request < 100; request++) {
        store.script.onRead({ before: "lost" })
        store.script.onPut({ before: "lost" })
      }
      abort()
    })
    expect(took).toBeLessThanOrEqual(5010)
  })
})

describe("an acquire whose turn to write is further off than its budget", () => {
  // Tests waits.
  it("times out, and does not blame a store that it asked nothing", async () => {
    const { time, store, lock } = lockWorld({ capabilities: spaced })
    const held = await time.runUntil(lock("a").acquire())
    await time.advance(5000)
    await time.runUntil(held.release())
    const asked = store.script.requests.length
    const error = await time.runUntil(failure(lock("a").acquire({ timeout: 300 })))
    expect(store.script.requests).toHaveLength(asked)
    expect(error).toMatchObject({ _tag: "LockTimeoutError", limitMs: 300 })
  })
})

// Tests waits: Every call settles within its budget, whatever the store does.
describe("an acquire on a store that is silent", () => {
  it.each([500, 3000, 30_000])("settles within its budget of %i ms", async (timeout) => {
    const world = lockWorld()
    const store = storeWith(world.store, { read: silence, put: silence })
    const { ms, value } = await settling(world.time, failure(world.lock("a", { store }).acquire({ timeout })))
    expect(ms).toBeLessThanOrEqual(timeout + 10)
    expect(value).toBeInstanceOf(StoreUnavailableError)
    expect(value).toMatchObject({ key: "orders/7", retryable: true })
    await expectRest(world.time)
  })

  it("settles within 10 s with a budget of 0", async () => {
    const world = lockWorld()
    const store = storeWith(world.store, { read: silence })
    const { ms, value } = await settling(world.time, failure(world.lock("a", { store }).acquire({ timeout: 0 })))
    expect(ms).toBeLessThanOrEqual(10_010)
    expect(value).toBeInstanceOf(StoreUnavailableError)
  })

  it("settles within its budget when only writes are lost", async () => {
    const world = lockWorld()
    const store = storeWith(world.store, { put: silence })
    const { ms } = await settling(world.time, failure(world.lock("a", { store }).acquire({ timeout: "8 s" })))
    expect(ms).toBeLessThanOrEqual(8010)
    await expectRest(world.time)
  })

  it("goes on as soon as it speaks again", async () => {
    const { time, store, lock } = lockWorld()
    store.script.onRead({ before: "lost" }, failRead(), {})
    store.script.onPut(failPut(), loseAnswer())
    const lease = await time.runUntil(lock("a").acquire({ timeout: "infinite" }))
    expect(lease.isHeld()).toBe(true)
    expect(lease.how).toBe("created")
  })
})

describe("an acquire on a store that breaks its contract", () => {
  const broken = (how: "throws" | "rejects"): (() => Promise<never>) => {
    const error = new TypeError("broken")
    if (how === "rejects") return () => Promise.reject(error)
    return () => {
      throw error
    }
  }

  it.each(["throws", "rejects"] as const)("settles with a typed error where reading %s", async (how) => {
    const world = lockWorld()
    const store = storeWith(world.store, { read: broken(how) })
    const call = world.lock("a", { store }).acquire({ timeout: "2 s" })
    const { ms, value } = await settling(world.time, failure(call))
    expect(ms).toBeLessThanOrEqual(2010)
    expect(value).toBeInstanceOf(StoreUnavailableError)
    expect(value.message).toContain("broken")
    await expectRest(world.time)
  })

  it.each(["throws", "rejects"] as const)("settles with a typed error where writing %s", async (how) => {
    const world = lockWorld()
    const store = storeWith(world.store, { put: broken(how) })
    const a = world.lock("a", { store })
    const { ms, value } = await settling(world.time, failure(a.acquire({ timeout: "2 s" })))
    expect(ms).toBeLessThanOrEqual(2010)
    expect(value).toBeInstanceOf(StoreUnavailableError)
    await expectRest(world.time)
    expect(world.errors).toEqual([])
  })

  it.each(["throws", "rejects"] as const)("peeks with a typed error where reading %s", async (how) => {
    const world = lockWorld()
    const store = storeWith(world.store, { read: broken(how) })
    const error = await world.time.runUntil(failure(world.lock("a", { store }).peek()))
    expect(error).toBeInstanceOf(StoreUnavailableError)
    expect(error).toMatchObject({ key: "orders/7", cause: { message: "broken" } })
  })

  it("peeks within seconds where reading never ends", async () => {
    const world = lockWorld()
    const store = storeWith(world.store, { read: silence })
    const { ms, value } = await settling(world.time, failure(world.lock("a", { store }).peek()))
    expect(value).toBeInstanceOf(StoreUnavailableError)
    expect(ms).toBeLessThanOrEqual(5250)
  })
})

describe("an acquire on a store that doesn't start", () => {
  it.each([500, 3000])("settles within its budget of %i ms while the start hangs", async (timeout) => {
    const world = lockWorld()
    const store = storeWith(world.store, { start: silence })
    const { ms, value } = await settling(world.time, failure(world.lock("a", { store }).acquire({ timeout })))
    expect(ms).toBe(timeout)
    expect(value).toBeInstanceOf(StoreUnavailableError)
    expect(value.key).toBe("orders/7")
  })

  it("settles within 10 s with a budget of 0", async () => {
    const world = lockWorld()
    const store = storeWith(world.store, { start: silence })
    const { ms } = await settling(world.time, failure(world.lock("a", { store }).acquire({ timeout: 0 })))
    expect(ms).toBe(10_000)
  })

  it("starts it anew after a start that never ended", async () => {
    const world = lockWorld()
    let starts = 0
    const store = storeWith(world.store, { start: () => (++starts === 1 ? silence() : Promise.resolve()) })
    const a = world.lock("a", { store })
    const lease = await world.time.runUntil(a.acquire({ timeout: "infinite" }))
    expect(lease.isHeld()).toBe(true)
    expect(starts).toBe(2)
    await world.time.runUntil(lease.release())
    await expectRest(world.time)
  })

  it("tries on within its budget where trying again can help", async () => {
    const world = lockWorld()
    let starts = 0
    const start = async (): Promise<void> => {
      if (++starts < 4) throw new StoreUnavailableError({ message: "It is down", next: "Wait" })
    }
    const a = world.lock("a", { store: storeWith(world.store, { start }) })
    expect((await world.time.runUntil(a.acquire())).isHeld()).toBe(true)
    expect(starts).toBe(4)
  })

  it("says why when its budget is over", async () => {
    const world = lockWorld()
    const start = (): Promise<void> =>
      Promise.reject(new StoreUnavailableError({ message: "It is down", next: "Wait" }))
    const a = world.lock("a", { store: storeWith(world.store, { start }) })
    const { ms, value } = await settling(world.time, failure(a.acquire({ timeout: "5 s" })))
    expect(ms).toBe(5000)
    expect(value).toBeInstanceOf(StoreUnavailableError)
    expect(value.message).toContain("It is down")
  })

  it("fails at once where trying again can't help", async () => {
    const world = lockWorld()
    const misconfigured = new StoreMisconfiguredError({ message: "No bucket", next: "Make it" })
    const start = (): Promise<void> => Promise.reject(misconfigured)
    const a = world.lock("a", { store: storeWith(world.store, { start }) })
    const { ms, value } = await settling(world.time, failure(a.acquire()))
    expect([ms, value]).toEqual([0, misconfigured])
  })

  it.each(["throws", "rejects"])("settles with a typed error where the start %s what is none of ours", async (how) => {
    const world = lockWorld()
    const cause = new TypeError("broken")
    const start = (): Promise<void> => {
      if (how === "throws") throw cause
      return Promise.reject(cause)
    }
    const a = world.lock("a", { store: storeWith(world.store, { start }) })
    const error = await world.time.runUntil(failure(a.acquire({ timeout: "1 s" })))
    expect(error).toBeInstanceOf(StoreUnavailableError)
    expect(error.message).toContain("broken")
  })
})

describe("an acquire on a store whose writes are spaced", () => {
  it("leaves no mark with a budget too short to be served, and settles within it", async () => {
    const world = lockWorld({ capabilities: spaced })
    const { time, lock } = world
    const a = lock("a")
    const events = eventsOf(a)
    await time.runUntil(a.acquire())
    const { ms, value } = await settling(time, failure(lock("b").acquire({ timeout: "3 s" })))
    expect(ms).toBeLessThanOrEqual(3010)
    expect(value).toMatchObject({ _tag: "LockTimeoutError", owner: { ownerId: "a" } })
    await time.advance(5000)
    expect(types(events)).not.toContain("ReleaseRequested")
  })

  it("settles at the end of its budget, and erases its mark behind it", async () => {
    const world = lockWorld({ capabilities: spaced })
    const { time, store, lock } = world
    await time.runUntil(lock("a").acquire())
    store.script.onPut({}, late(3000)) // the mark, and its erasure
    const { ms } = await settling(time, failure(lock("b").acquire({ timeout: "6 s" })))
    expect(ms).toBeLessThanOrEqual(6010)
    expect(await recordOf(world)).toMatchObject({ waitingOwnerId: "b" })
    await time.advance(4000)
    expect(await recordOf(world)).toMatchObject({ ownerId: "a", waitingOwnerId: null })
  })
})
