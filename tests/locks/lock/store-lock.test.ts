/** The lock over a store, on virtual time: the calls of the published design, and what their callers are promised. */
import { describe, expect, it } from "vitest"
import {
  LockContentionError,
  type LockError,
  LockLostError,
  LockNotHeldError,
  LockTimeoutError,
  OwnedElsewhereError,
} from "../../../src/locks/api/errors.ts"
import type { Lease } from "../../../src/locks/api/lock.ts"
import {
  eventsOf,
  expectRest,
  failure,
  lockWorld,
  type LockWorld,
  recordOf,
  settling,
  spaced,
  types,
} from "../../support/lock-world.ts"
import { failApplied, failPut, failRead, hold, type ScriptedStore } from "../../support/scripted-store.ts"

/** It hears of nothing until its script is healed. */
function silenced({ script }: ScriptedStore): void {
  for (let request = 0; request < 20; request++) {
    script.onPut({ before: "lost" })
    script.onRead({ before: "lost" })
  }
}

/** A lease whose release nobody heard of, on a store that hears again. */
async function unheard(): Promise<LockWorld & { readonly lease: Lease }> {
  const world = lockWorld()
  const { time, store, lock } = world
  const lease = await time.runUntil(lock("a").acquire())
  silenced(store)
  expect(await time.runUntil(lease.release())).toBe("unknown")
  store.script.heal()
  return { ...world, lease }
}

describe("a lock", () => {
  // Tests rule 9: A lock renews itself at a third of the ttl, in one write; it looks for a waiter in between.
  it("is acquired, held, renewed by itself and released, and leaves no timer", async () => {
    const { time, lock } = lockWorld()
    const a = lock("a")
    const events = eventsOf(a)
    const lease = await time.runUntil(a.acquire())
    expect(lease.isHeld()).toBe(true)
    await time.advance(60_000)
    expect(lease.isHeld()).toBe(true)
    expect(await time.runUntil(lease.release())).toBe("released")
    expect(lease.isHeld()).toBe(false)
    expect(types(events).slice(0, 3)).toEqual(["Acquired", "Renewed", "Renewed"])
    expect(types(events).at(-1)).toBe("Released")
    await expectRest(time)
  })

  // Tests rule 14: Cold acquire 2, warm 1, renew 1, release 1, waiter 1 more, poll 1.
  it("costs two requests cold, one warm, one a renewal and one a release", async () => {
    const { time, store, lock } = lockWorld()
    const a = lock("a")
    const counted = async (call: () => Promise<unknown>): Promise<string[]> => {
      const before = store.script.requests.length
      await time.runUntil(call())
      return store.script.requests.slice(before).map(({ op }) => op)
    }
    expect(await counted(() => a.acquire())).toEqual(["read", "put"])
    expect(await counted(() => a.renew())).toEqual(["put"])
    expect(await counted(() => a.release())).toEqual(["put"])
    expect(await counted(() => a.acquire())).toEqual(["put"])
  })

  it("refuses a second client while it is held, within that client's timeout", async () => {
    const { time, lock } = lockWorld()
    const lease = await time.runUntil(lock("a").acquire())
    const { ms, value: error } = await settling(time, failure(lock("b").acquire({ timeout: "2 s" })))
    expect(ms).toBeGreaterThanOrEqual(2000)
    expect(ms).toBeLessThanOrEqual(2010)
    expect(error).toBeInstanceOf(LockTimeoutError)
    expect(error).toMatchObject({ key: "orders/7", limitMs: 2000, source: "the timeout option", retryable: true })
    expect(error.owner).toMatchObject({ ownerId: "a", token: lease.token })
    expect(lease.isHeld()).toBe(true)
  })

  it("names the source of a budget that was given with one", async () => {
    const { time, lock } = lockWorld()
    await time.runUntil(lock("a").acquire())
    const call = lock("b").acquire({ timeout: 1000, timeoutSource: "the flag --lock-timeout" })
    const error = await time.runUntil(failure(call))
    expect(error.message).toContain("the flag --lock-timeout")
  })

  // Tests rule 7: `whenOwned` and `contention` decide what an acquire does about an owner and a waiter.
  it("lets a third client wait its turn, or refuses one that won't at once, naming owner and waiter", async () => {
    const { time, lock } = lockWorld()
    const [a, b, c] = [lock("a"), lock("b"), lock("c")]
    const first = await time.runUntil(a.acquire())
    const second = b.acquire()
    await time.advance(1000)
    const error = await time.runUntil(failure<LockContentionError>(c.acquire({ contention: "fail" })))
    expect(error).toBeInstanceOf(LockContentionError)
    expect(error).toMatchObject({ waiterId: "b", owner: { ownerId: "a" } })
    expect(error.retryAfterMs).toBeGreaterThan(0)
    const third = c.acquire()
    await time.runUntil(first.release())
    const handed = await time.runUntil(second)
    await time.advance(2000)
    await time.runUntil(handed.release())
    expect((await time.runUntil(third)).isHeld()).toBe(true)
  })

  it("tells who owns the key, and where, to a client that doesn't want to wait", async () => {
    const { time, store, lock } = lockWorld()
    await time.runUntil(lock("a", { address: "http://10.0.0.3:8080" }).acquire())
    const { ms, value: error } = await settling(time, failure(lock("b").acquire({ whenOwned: "report" })))
    expect(ms).toBe(0)
    expect(error).toBeInstanceOf(OwnedElsewhereError)
    expect(error.owner).toMatchObject({ ownerId: "a", address: "http://10.0.0.3:8080" })
    expect(store.script.requests.filter(({ op }) => op === "put")).toHaveLength(1)
  })

  it("goes to a waiter when its owner releases on request", async () => {
    const { time, lock } = lockWorld()
    const [a, b] = [lock("a"), lock("b")]
    const first = await time.runUntil(a.acquire())
    const events = eventsOf(a)
    a.onReleaseRequested(() => void first.release())
    const second = await time.runUntil(b.acquire({ timeout: "10 s" }))
    expect(second.token).toBeGreaterThan(first.token)
    expect(second.how).toBe("granted")
    expect(first.isHeld()).toBe(false)
    expect(types(events)).toEqual(["ReleaseRequested", "Granted", "Released"])
  })

  it("is taken over when its owner is silent for longer than its ttl", async () => {
    const { time, lock } = lockWorld()
    const first = await time.runUntil(lock("a", { ttl: "6 s" }).acquire())
    time.stall(8000) // the owner's process; b comes to it later
    const second = await time.runUntil(lock("b").acquire())
    expect(second.how).toBe("takeover")
    expect(second.token).toBeGreaterThan(first.token)
    expect(first.isHeld()).toBe(false)
  })

  it("waits 30 s without a timeout, and says so", async () => {
    const { time, lock } = lockWorld()
    await time.runUntil(lock("a").acquire())
    const { ms, value: error } = await settling(time, failure(lock("b").acquire()))
    expect(ms).toBeGreaterThanOrEqual(30_000)
    expect(ms).toBeLessThanOrEqual(30_010)
    expect(error).toMatchObject({ _tag: "LockTimeoutError", limitMs: 30_000, source: "the default timeout of 30 s" })
  })

  it("waits for as long as it takes with an infinite timeout", async () => {
    const { time, lock } = lockWorld()
    const first = await time.runUntil(lock("a").acquire())
    const second = lock("b").acquire({ timeout: "infinite" })
    await time.advance(600_000)
    expect(first.isHeld()).toBe(true)
    await time.runUntil(first.release())
    expect((await time.runUntil(second)).isHeld()).toBe(true)
  })

  it("is tried once with a budget of 0, and no mark is left", async () => {
    const world = lockWorld()
    const { time, store, lock } = world
    const free = await time.runUntil(lock("a").acquire({ timeout: 0 }))
    expect(free.isHeld()).toBe(true)
    const { ms, value: error } = await settling(time, failure(lock("b").acquire({ timeout: 0 })))
    expect(ms).toBe(0)
    expect(error).toMatchObject({ _tag: "LockTimeoutError", limitMs: 0, owner: { ownerId: "a" } })
    expect(await recordOf(world)).toMatchObject({ ownerId: "a", waitingOwnerId: null })
    expect(store.script.requests.filter(({ op }) => op === "put")).toHaveLength(1)
  })

  it("deletes its record on release where it is told to", async () => {
    const world = lockWorld()
    const lease = await world.time.runUntil(world.lock("a", { onRelease: "delete" }).acquire())
    expect(await world.time.runUntil(lease.release())).toBe("released")
    expect(await recordOf(world)).toBeUndefined()
  })

  it("leaves a released record otherwise", async () => {
    const world = lockWorld()
    const lease = await world.time.runUntil(world.lock("a").acquire())
    await world.time.runUntil(lease.release())
    expect(await recordOf(world)).toMatchObject({ ownerId: null, ended: { token: lease.token, how: "release" } })
  })
})

describe("renew", () => {
  it("forces one renewal now", async () => {
    const { time, store, lock } = lockWorld()
    const a = lock("a")
    const lease = await time.runUntil(a.acquire())
    await time.advance(4000)
    const before = lease.deadline
    const requests = store.script.requests.length
    await time.runUntil(a.renew())
    expect(lease.deadline - before).toBe(4000)
    expect(store.script.requests.length - requests).toBe(1)
  })

  it("rejects with why it failed, while the lease tries on", async () => {
    const { time, store, lock } = lockWorld()
    const lease = await time.runUntil(lock("a").acquire())
    store.script.onPut(failPut())
    const error = await time.runUntil(failure(lease.renew()))
    expect(error._tag).toBe("StoreUnavailableError")
    const events = eventsOf(lease)
    await time.advance(2000)
    expect(types(events)).toEqual(["Recovered"])
    expect(lease.isHeld()).toBe(true)
  })

  it("rejects where nothing is held: before an acquire, after a release, after a loss", async () => {
    const { time, lock } = lockWorld({ capabilities: { deletes: true } })
    const a = lock("a")
    expect(await failure(a.renew())).toBeInstanceOf(LockNotHeldError)
    const lease = await time.runUntil(a.acquire())
    await time.runUntil(a.release())
    expect(await failure(a.renew())).toBeInstanceOf(LockNotHeldError)
    expect(await failure(lease.renew())).toBeInstanceOf(LockNotHeldError)
    const lost = await time.runUntil(a.acquire({ timeout: 0 }))
    time.stall(60_000)
    expect(lost.signal.aborted).toBe(true)
    expect(await failure(a.renew())).toBeInstanceOf(LockLostError)
  })

  it("rejects with the loss that it finds", async () => {
    const { time, lock } = lockWorld()
    const lease = await time.runUntil(lock("a").acquire())
    time.stall(60_000)
    expect(await time.runUntil(failure(lease.renew()))).toMatchObject({ _tag: "LockLostError", reason: "expired" })
  })

  it("rejects when the lease is released meanwhile", async () => {
    const { time, store, lock } = lockWorld()
    const lease = await time.runUntil(lock("a").acquire())
    const held = hold()
    store.script.onPut({ ...held, instead: { kind: "refused" } })
    const renewal = failure(lease.renew())
    await held.arrived
    const release = lease.release()
    held.answer()
    expect(await time.runUntil(renewal)).toBeInstanceOf(LockNotHeldError)
    expect(await time.runUntil(release)).toBe("released")
  })

  it("refuses a note that would make the record large, before it does anything", async () => {
    const { time, lock } = lockWorld()
    const lease = await time.runUntil(lock("a").acquire())
    for (const note of ["x".repeat(257), 7 as unknown as string]) {
      expect((await time.runUntil(failure(lease.release({ note }))))._tag).toBe("InvalidConfigError")
    }
    expect(lease.isHeld()).toBe(true)
    expect(await time.runUntil(lease.release({ note: "x".repeat(256) }))).toBe("released")
  })

  it("raises the token above a number, once the store has it", async () => {
    const world = lockWorld()
    const lease = await world.time.runUntil(world.lock("a").acquire())
    const above = lease.token + 1_000_000
    await world.time.runUntil(lease.renew({ tokenAbove: above }))
    expect(lease.token).toBe(above + 1)
    expect(await recordOf(world)).toMatchObject({ owner: { token: above + 1 } })
    await world.time.runUntil(lease.renew({ tokenAbove: 5 }))
    expect(lease.token).toBe(above + 1)
  })

  it.each([NaN, Infinity, -1, 1.5, Number.MAX_SAFE_INTEGER, "7" as unknown as number])(
    "refuses to raise the token above %s",
    async (tokenAbove) => {
      const { time, lock } = lockWorld()
      const lease = await time.runUntil(lock("a").acquire())
      const error = await time.runUntil(failure(lease.renew({ tokenAbove })))
      expect(error._tag).toBe("InvalidConfigError")
      await time.runUntil(lease.renew())
      expect(lease.isHeld()).toBe(true)
    },
  )
})

describe("release", () => {
  // Tests rule 11: A release is idempotent, and waits for the write in flight, not for its retries.
  it("is idempotent: one write, one result", async () => {
    const { time, store, lock } = lockWorld()
    const a = lock("a")
    const lease = await time.runUntil(a.acquire())
    const before = store.script.requests.length
    const results = await time.runUntil(Promise.all([lease.release(), lease.release(), a.release()]))
    expect(results).toEqual(["released", "released", "released"])
    expect(await a.release()).toBe("released")
    await lease[Symbol.asyncDispose]()
    expect(store.script.requests.length - before).toBe(1)
  })

  it("has nothing to do before an acquire and after a loss", async () => {
    const { time, lock } = lockWorld()
    const a = lock("a")
    expect(await a.release()).toBe("alreadyLost")
    const lease = await time.runUntil(a.acquire())
    time.stall(60_000)
    expect(await time.runUntil(lease.release())).toBe("alreadyLost")
  })

  // Tests waits: Every call settles within its budget, whatever the store does.
  it("ends ownership before anything is sent, and settles within 10 s of the store's silence", async () => {
    const { time, store, lock } = lockWorld()
    const lease = await time.runUntil(lock("a").acquire())
    silenced(store)
    const release = lease.release()
    expect(lease.isHeld()).toBe(false)
    const { ms, value } = await settling(time, release)
    expect(value).toBe("unknown")
    expect(ms).toBeLessThanOrEqual(10_010)
    expect(lease.signal.aborted).toBe(false)
  })

  // Tests rule 11: A release after one that nobody could tell the end of looks first, and leaves what is its own.
  it("is tried again by a call after `unknown`, and by none after it is known", async () => {
    const world = lockWorld()
    const { time, store, lock } = world
    const lease = await time.runUntil(lock("a").acquire())
    silenced(store)
    expect(await time.runUntil(Promise.all([lease.release(), lease.release()]))).toEqual(["unknown", "unknown"])
    silenced(store)
    const { ms, value } = await settling(time, lease.release())
    expect(value).toBe("unknown")
    expect(ms).toBeLessThanOrEqual(10_010)
    store.script.heal()
    expect(await recordOf(world)).toMatchObject({ ownerId: "a" })
    expect(await time.runUntil(Promise.all([lease.release(), lease.release()]))).toEqual(["released", "released"])
    expect(await recordOf(world)).toMatchObject({ ownerId: null })
    const { length } = store.script.requests
    expect(await time.runUntil(lease.release())).toBe("released")
    expect(store.script.requests).toHaveLength(length)
    await expectRest(time)
  })

  it("isn't tried again by the end of a block that has heard `unknown`", async () => {
    const { time, store, lock } = lockWorld()
    const ended = (async () => {
      await using lease = await lock("a").acquire()
      silenced(store)
      return await lease.release()
    })()
    const { ms, value } = await settling(time, ended)
    expect(value).toBe("unknown")
    expect(ms).toBeLessThanOrEqual(10_010)
  })

  it("is not tried again where this process has asked for the key since", async () => {
    const { time, lock, lease } = await unheard()
    const next = await time.runUntil(lock("a").acquire())
    expect(await time.runUntil(lease.release())).toBe("unknown")
    expect(next.isHeld()).toBe(true)
    expect(await time.runUntil(next.release())).toBe("released")
  })

  it("takes a turn of its own when it is tried again", async () => {
    const { time, lock, lease } = await unheard()
    const again = lease.release()
    const next = lock("a").acquire()
    expect(await time.runUntil(again)).toBe("released")
    expect((await time.runUntil(next)).isHeld()).toBe(true)
  })

  it("learns by reading that its lost answer was a success", async () => {
    const { time, store, lock } = lockWorld()
    const lease = await time.runUntil(lock("a").acquire())
    store.script.onPut({ after: "lost" })
    expect(await time.runUntil(lease.release())).toBe("released")
  })

  it("ends the block that uses the lease", async () => {
    const { time, lock } = lockWorld()
    const a = lock("a")
    const block = async (): Promise<number> => {
      await using lease = await a.acquire()
      return lease.token
    }
    const token = await time.runUntil(block())
    expect(await time.runUntil(a.peek())).toBeUndefined()
    expect(token).toBeGreaterThan(0)
  })
})

// Tests rule 10: A live waiter is passed on exactly once, after `minTenure`.
describe("a release-requested handler", () => {
  it("is called once for a waiter, however often the waiter refreshes its mark", async () => {
    const { time, lock } = lockWorld()
    const [a, b] = [lock("a"), lock("b")]
    await time.runUntil(a.acquire())
    let calls = 0
    a.onReleaseRequested(() => void calls++)
    const waiting = failure(b.acquire({ timeout: "40 s" }))
    await time.advance(39_000)
    expect(calls).toBe(1)
    await time.runUntil(waiting)
    const again = failure(b.acquire({ timeout: "5 s" }))
    await time.runUntil(again)
    expect(calls).toBe(2)
  })

  it("that registers late is called once, soon", async () => {
    const { time, lock } = lockWorld()
    const [a, b] = [lock("a"), lock("b")]
    await time.runUntil(a.acquire())
    const waiting = failure(b.acquire({ timeout: "10 s" }))
    await time.advance(3000)
    let calls = 0
    a.onReleaseRequested(() => void calls++)
    expect(calls).toBe(0)
    await time.advance(0)
    expect(calls).toBe(1)
    await time.runUntil(waiting)
    expect(calls).toBe(1)
  })

  it("that registers while the request is being told is called once", async () => {
    const { time, lock } = lockWorld()
    const [a, b] = [lock("a"), lock("b")]
    await time.runUntil(a.acquire())
    let calls = 0
    a.events$.subscribe((event) => {
      if (event.type === "ReleaseRequested") a.onReleaseRequested(() => void calls++)
    })
    const waiting = failure(b.acquire({ timeout: "5 s" }))
    await time.runUntil(waiting)
    expect(calls).toBe(1)
  })

  it("that registers late is not called for a waiter that is gone", async () => {
    const { time, lock } = lockWorld()
    const [a, b] = [lock("a"), lock("b")]
    await time.runUntil(a.acquire())
    await time.runUntil(failure(b.acquire({ timeout: "2 s" })))
    await time.advance(5000)
    let calls = 0
    a.onReleaseRequested(() => void calls++)
    await time.advance(5000)
    expect(calls).toBe(0)
  })

  it("is not called any more once it is disposed, not even for a waiter that is there already", async () => {
    const { time, lock } = lockWorld()
    const [a, b] = [lock("a"), lock("b")]
    await time.runUntil(a.acquire())
    const waiting = failure(b.acquire({ timeout: "10 s" }))
    await time.advance(3000)
    let calls = 0
    a.onReleaseRequested(() => void calls++)[Symbol.dispose]()
    await time.runUntil(waiting)
    expect(calls).toBe(0)
  })

  it("can release the lock even where the request comes with the lease itself", async () => {
    const { time, store, lock } = lockWorld()
    const [a, b] = [lock("a"), lock("b")]
    const claim = hold()
    store.script.onPut({ ...failApplied(), ...claim })
    a.onReleaseRequested(() => void a.release())
    const first = a.acquire()
    await claim.arrived
    claim.deliver()
    const second = b.acquire({ timeout: "5 s" })
    await time.advance(1000) // b has marked itself; a doesn't know yet that it owns the key
    claim.answer()
    expect((await time.runUntil(second)).how).toBe("granted")
    expect((await time.runUntil(first)).isHeld()).toBe(false)
  })

  it("waits for the minimum tenure", async () => {
    const { time, lock } = lockWorld()
    const [a, b] = [lock("a"), lock("b")]
    const lease = await time.runUntil(a.acquire({ minTenure: "5 s" }))
    const acquiredAt = time.mono()
    let askedAfter = 0
    a.onReleaseRequested(() => {
      askedAfter = time.mono() - acquiredAt
      void lease.release()
    })
    await time.runUntil(b.acquire())
    expect(askedAfter).toBeGreaterThanOrEqual(5000)
    expect(askedAfter).toBeLessThanOrEqual(5010)
  })
})

describe("the tenure of an owner that prepares", () => {
  it("counts from when it says so: until then it isn't asked, however long that takes", async () => {
    const { time, lock } = lockWorld()
    const [a, b] = [lock("a"), lock("b")]
    const lease = await time.runUntil(a.acquire({ minTenure: "infinite" }))
    let asked = 0
    a.onReleaseRequested(() => {
      asked = time.mono()
      void lease.release()
    })
    const next = b.acquire({ timeout: "10 min" })
    await time.advance(120_000)
    expect(asked).toBe(0)
    const from = time.mono()
    lease.stay("5 s")
    const after = await time.runUntil(next)
    expect(asked - from).toBeGreaterThanOrEqual(5000)
    expect(asked - from).toBeLessThanOrEqual(5010)
    lease.stay("5 s") // over: it changes nothing of the next one's
    await after.release()
  })

  it.each([-1, Number.NaN, "soon", "infinite"])("is a duration (%s)", async (minTenure) => {
    const { time, lock } = lockWorld()
    const lease = await time.runUntil(lock("a").acquire())
    expect(() => lease.stay(minTenure as never)).toThrow(/minTenure/)
  })
})

describe("a renewal-error handler", () => {
  it("is called for each failed renewal and for the loss", async () => {
    const { time, store, lock } = lockWorld()
    const a = lock("a")
    const lease = await time.runUntil(a.acquire())
    const told: LockError[] = []
    const handler = a.onRenewalError((error) => void told.push(error))
    for (let request = 0; request < 1000; request++) {
      store.script.onPut(failPut())
      store.script.onRead(failRead())
    }
    await time.advance(60_000)
    expect(told.length).toBeGreaterThan(2)
    expect(told.slice(0, -1).every(({ _tag }) => _tag === "StoreUnavailableError")).toBe(true)
    expect(told.at(-1)).toMatchObject({ _tag: "LockLostError", reason: "expired" })
    expect(lease.signal.reason).toBe(told.at(-1))
    handler[Symbol.dispose]()
  })

  // Tests rule 9: `strict` takes any failure as a loss; a 412, a 429 and an overtaken write are none.
  it("is called once, with the loss, under strict renewal", async () => {
    const { time, store, lock } = lockWorld()
    const a = lock("a", { renewal: "strict" })
    const lease = await time.runUntil(a.acquire())
    const told: LockError[] = []
    a.onRenewalError((error) => void told.push(error))
    store.script.onPut(failPut())
    const error = await time.runUntil(failure(lease.renew()))
    expect(error).toMatchObject({ _tag: "LockLostError", reason: "strict" })
    expect(error.cause).toMatchObject({ _tag: "StoreUnavailableError" })
    expect(told).toEqual([error])
    expect(lease.isHeld()).toBe(false)
    expect(lease.signal.aborted).toBe(true)
  })

  it("is not called after it was disposed", async () => {
    const { time, lock } = lockWorld()
    const a = lock("a")
    const lease = await time.runUntil(a.acquire())
    let calls = 0
    a.onRenewalError(() => void calls++)[Symbol.dispose]()
    time.stall(60_000)
    expect(lease.signal.aborted).toBe(true)
    expect(calls).toBe(0)
  })
})

describe("handlers and observers that throw or reject", () => {
  it("are reported, and stop nothing", async () => {
    const { time, store, lock, errors } = lockWorld()
    const [a, b] = [lock("a"), lock("b")]
    const fail = (what: string): never => {
      throw new Error(what)
    }
    a.onReleaseRequested(() => fail("in a handler"))
    a.onReleaseRequested(async () => fail("in an async handler"))
    a.onRenewalError(() => fail("in an error handler"))
    a.events$.subscribe((event) => event.type === "Acquired" && fail("in an observer"))
    const events = eventsOf(a)
    const lease = await time.runUntil(a.acquire())
    store.script.onPut(failPut())
    await time.runUntil(failure(lease.renew()))
    await time.advance(2000)
    await time.runUntil(failure(b.acquire({ timeout: "3 s" })))
    expect(lease.isHeld()).toBe(true)
    expect(types(events)).toEqual(["Acquired", "Degraded", "Recovered", "ReleaseRequested"])
    expect(errors.map((error) => (error as Error).message)).toEqual([
      "in an observer",
      "in an error handler",
      "in a handler",
      "in an async handler",
    ])
  })

  it("are reported to the onError of their own lock where two locks of one key differ in it", async () => {
    const { time, lock, errors } = lockWorld()
    const others: unknown[] = []
    lock("a").events$.subscribe(() => {})
    const second = lock("a", { onError: (error) => void others.push(error) })
    second.events$.subscribe(() => {
      throw new Error("in an observer")
    })
    await time.runUntil(second.acquire())
    expect(errors).toEqual([])
    expect(others).toHaveLength(1)
  })
})

describe("peek", () => {
  it("is one read that tells who owns the key, by the record", async () => {
    const { time, store, lock } = lockWorld()
    const [a, b] = [lock("a", { address: "http://a" }), lock("b")]
    expect(await time.runUntil(b.peek())).toBeUndefined()
    const lease = await time.runUntil(a.acquire({ stateVersion: 3 }))
    const before = store.script.requests.length
    expect(await time.runUntil(b.peek())).toEqual({
      ownerId: "a",
      address: "http://a",
      token: lease.token,
      expiresAt: time.read().wall + 30_000,
      checkpointVersion: 3,
    })
    expect(store.script.requests.length - before).toBe(1)
    const waiting = failure(b.acquire({ timeout: "5 s" }))
    await time.advance(1000)
    expect(await time.runUntil(a.peek())).toMatchObject({ waiterId: "b" })
    await time.runUntil(waiting)
    await time.runUntil(lease.release())
    expect(await time.runUntil(b.peek())).toBeUndefined()
  })

  it("rejects with what is wrong with the record or the store", async () => {
    const { time, store, lock } = lockWorld()
    const a = lock("a")
    store.script.onRead(failRead())
    expect(await time.runUntil(failure(a.peek()))).toMatchObject({ _tag: "StoreUnavailableError" })
    const answer = { kind: "found", generation: "1", body: new TextEncoder().encode("[]"), storeTime: 1 } as const
    store.script.onRead({ instead: answer })
    expect(await time.runUntil(failure(a.peek()))).toMatchObject({ _tag: "CorruptRecordError", key: "orders/7" })
    store.script.onRead({ instead: { kind: "tooLarge", generation: "1", storeTime: 1 } })
    expect(await time.runUntil(failure(a.peek()))).toMatchObject({ _tag: "CorruptRecordError" })
  })

  it("doesn't wait for a store that is silent", async () => {
    const { time, store, lock } = lockWorld()
    store.script.onRead({ before: "lost" })
    const { ms, value: error } = await settling(time, failure(lock("a").peek()))
    expect(error._tag).toBe("StoreUnavailableError")
    expect(ms).toBeLessThanOrEqual(5250)
  })
})

describe("a lock on a store whose writes are spaced", () => {
  it("is acquired, renewed and handed over by the same calls", async () => {
    const { time, lock } = lockWorld({ capabilities: spaced })
    const [a, b] = [lock("a"), lock("b")]
    const first = await time.runUntil(a.acquire())
    a.onReleaseRequested(() => void first.release())
    await time.runUntil(a.renew())
    const { ms, value: second } = await settling(time, b.acquire())
    expect(second.how).toBe("granted")
    expect(ms).toBeLessThan(10_000)
    await time.runUntil(second.release())
    await expectRest(time)
  })
})
