// What a provider over a store adds: other processes, leases that are lost, and the counters of both.
import {
  InvalidConfigError,
  type LeaseStore,
  LockLostError,
  memoryLockProvider,
  memoryStore,
  noLockProvider,
  storeLockProvider,
} from "leasehold"
import { describe, expect, it } from "vitest"
import { encodeName } from "../../../src/locks/api/keys.ts"
import { StoreLock } from "../../../src/locks/lock/store-lock.ts"
import { VirtualHost } from "../../../src/runtime/time/virtual-host.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"
import { spaced, storeWith } from "../../support/lock-world.ts"
import { scripted, throttle } from "../../support/scripted-store.ts"

const sleep = (clock: VirtualTime | VirtualHost, ms: number): Promise<void> =>
  new Promise((resolve) => void clock.after(ms, resolve))

function processes(...ids: readonly string[]) {
  const time = new VirtualTime()
  const store = memoryStore({ clock: time })
  const all = ids.map((id) => {
    const clock = new VirtualHost(time, { name: id })
    // The same objects by another store object, as another process has one.
    return {
      clock,
      provider: storeLockProvider({ store: storeWith(store, {}), clock, incarnation: { id }, ttl: "6 s" }),
    }
  })
  return { time, store, all }
}

/** As an operator takes a key away: its record is deleted. */
async function takeAway(store: LeaseStore, key: string): Promise<void> {
  const ref = { area: "leases", name: encodeName(key) } as const
  const options = { deadline: 1000 }
  const found = await store.read(ref, { limit: 65_536, ...options })
  if (found.kind !== "found") throw new Error(`there is no record of ${key}`)
  expect(await store.remove(ref, found.generation, options)).toMatchObject({ kind: "applied" })
}

describe("a provider over a store", () => {
  it("keeps processes apart: the waiter gets the key when the section has ended", async () => {
    const { time, all } = processes("a", "b")
    const [a, b] = all as [(typeof all)[0], (typeof all)[0]]
    const told: string[] = []
    const section = (name: string, clock: VirtualHost) => async (): Promise<void> => {
      told.push(`${name} begins`)
      await sleep(clock, 3000)
      told.push(`${name} ends`)
    }
    const first = a.provider.withLock("k", section("a", a.clock))
    await time.advance(100)
    const second = b.provider.withLock("k", section("b", b.clock))
    await time.runUntil(Promise.all([first, second]))
    expect(told).toEqual(["a begins", "a ends", "b begins", "b ends"])
    expect(b.provider.stats()).toMatchObject({ acquisitions: 1, waits: 1, contention: 0, losses: 0 })
  })

  // Tests providers: The counters count acquisitions, waits, contention, losses, renewals, and writes without room.
  // Tests providers: A section under a lost lease is aborted at once, and its result is dropped.
  it("tells a section at once that its lease is lost, whose result is nobody's any more", async () => {
    const { time, all } = processes("a", "b")
    const [a, b] = all as [(typeof all)[0], (typeof all)[0]]
    let signal: AbortSignal | undefined
    const lost = a.provider
      .withLock("k", async (section) => {
        signal = section.signal
        await sleep(a.clock, 20_000)
        return "too late"
      })
      .catch((error: unknown) => error)
    await time.advance(1000)
    a.clock.pause()
    const taken = await time.runUntil(b.provider.withLock("k", ({ token }) => token))
    a.clock.resume()
    expect(await time.runUntil(lost)).toBeInstanceOf(LockLostError)
    expect(signal?.aborted).toBe(true)
    expect(taken).toBeGreaterThan(0)
    expect(a.provider.stats()).toMatchObject({ acquisitions: 1, losses: 1 })
    await time.advance(20_000)
  })

  // Tests providers: Of several keys, the loss of one is the loss of all, and aborts their signal.
  it("aborts the signal of several keys at the loss of one, and holds them all no more", async () => {
    const { time, store, all } = processes("a", "b")
    const [a, b] = all as [(typeof all)[0], (typeof all)[0]]
    const locks = await time.runUntil(a.provider.acquireAll(["k", "l"]))
    const told: unknown[] = []
    locks.signal.addEventListener("abort", () => told.push(locks.signal.reason))
    await takeAway(store, "k")
    await time.advance(4000)
    expect(told).toEqual([expect.any(LockLostError)])
    expect(locks.signal.reason).toMatchObject({ key: "k" })
    expect(locks.isHeld()).toBe(false)
    expect(await time.runUntil(locks.release())).toBe("alreadyLost")
    const l = await time.runUntil(b.provider.acquire("l", { timeout: 0 }))
    expect(l.isHeld()).toBe(true)
    await time.runUntil(l.release())
  })

  it("doesn't hand several keys out of which one was lost while the rest was waited for", async () => {
    const { time, store, all } = processes("a", "b")
    const [a, b] = all as [(typeof all)[0], (typeof all)[0]]
    const l = await time.runUntil(b.provider.acquire("l"))
    const both = a.provider.acquireAll(["k", "l"], { timeout: "1 min" }).catch((error: unknown) => error)
    await time.advance(2000)
    await takeAway(store, "k")
    await time.advance(4000)
    await time.runUntil(l.release())
    const error = await time.runUntil(both)
    expect(error).toBeInstanceOf(LockLostError)
    expect(error).toMatchObject({ key: "k" })
    const again = await time.runUntil(b.provider.acquireAll(["k", "l"], { timeout: 0 }))
    await time.runUntil(again.release())
  })

  it("counts renewals, and waiters that met another", async () => {
    const { time, all } = processes("a", "b", "c")
    const [a, b, c] = all as [(typeof all)[0], (typeof all)[0], (typeof all)[0]]
    const first = a.provider.withLock("k", () => sleep(a.clock, 9000))
    await time.advance(100)
    const second = b.provider.withLock("k", () => "b")
    await time.advance(100)
    const third = c.provider.withLock("k", () => "c")
    await time.runUntil(Promise.all([first, second, third]))
    expect(a.provider.stats().renewals).toBeGreaterThan(2)
    expect(c.provider.stats()).toMatchObject({ acquisitions: 1, waits: 1, contention: 1 })
  })
})

describe("a call that has waited for other keys", () => {
  // Tests providers: The budget of several keys, and the waited time of its error, count from the call.
  it.each([
    [5000, "LockTimeoutError"],
    [4000, undefined],
  ])("%i ms of 5 s is told that it is too late, not that the store is: it has started", async (waited, tag) => {
    const time = new VirtualTime()
    const store = scripted(memoryStore({ clock: time }), time, {})
    await store.start({ deadline: 1000 })
    const lock = new StoreLock("k", { store, clock: time, incarnation: { id: "a" } })
    await time.runUntil(lock.peek())
    const late = lock.acquireSince(time.mono() - waited, { timeout: "5 s" }).then(
      () => ({ _tag: undefined }),
      (error: unknown) => error,
    )
    expect(await time.runUntil(late)).toMatchObject({ _tag: tag })
  })
})

describe("the counters of a provider over a store", () => {
  // Tests providers.
  it("tell of a lease write that the store had no room for", async () => {
    const time = new VirtualTime()
    const store = scripted(memoryStore({ clock: time }), time, { capabilities: spaced })
    const provider = storeLockProvider({ store, clock: time, incarnation: { id: "a" } })
    store.script.onPut(throttle())
    const lock = await time.runUntil(provider.acquire("k"))
    expect(provider.stats()).toMatchObject({ acquisitions: 1, throttled: 1 })
    await time.advance(5000)
    store.script.onPut(throttle(), throttle())
    await time.runUntil(lock.release())
    await time.advance(60_000)
    expect(store.script.pending).toBe(0)
    expect(provider.stats()).toMatchObject({ throttled: 3 })
  })
})

describe("how a provider is made", () => {
  // Tests input: Unknown options of locks, acquires, providers, observers and budgets are refused.
  it("refuses options that nobody reads, by name, and what are no options", () => {
    const store = memoryStore()
    const makers: readonly [string, (options: never) => unknown, object][] = [
      ["memoryLockProvider", memoryLockProvider, {}],
      ["noLockProvider", noLockProvider, {}],
      ["storeLockProvider", storeLockProvider, { store }],
    ]
    for (const [name, maker, needed] of makers) {
      expect(() => maker({ ...needed, timeout: 5 } as never)).toThrow(`timeout is no option of ${name}`)
      for (const options of [null, 5]) expect(() => maker(options as never)).toThrow(InvalidConfigError)
      expect(maker(needed as never)).toBeDefined()
    }
  })
})

describe("the provider that keeps nobody out", () => {
  it("tells a section by its signal that its caller gave up", async () => {
    const caller = new AbortController()
    const section = noLockProvider().withLock(
      "k",
      ({ signal }) => {
        caller.abort()
        return signal.aborted
      },
      { signal: caller.signal },
    )
    expect(await section).toBe(true)
  })

  it("runs sections of one key side by side, with the token 0", async () => {
    const provider = noLockProvider()
    const { promise: met, resolve } = Promise.withResolvers<void>()
    const both = [
      provider.withLock("k", ({ token }) => met.then(() => token)),
      provider.withLock("k", ({ token }) => (resolve(), token)),
    ]
    expect(await Promise.all(both)).toEqual([0, 0])
    await using locks = await provider.acquireAll(["b", "a"])
    expect([locks.keys, locks.isHeld()]).toEqual([["a", "b"], true])
    expect(provider.stats()).toMatchObject({ acquisitions: 4, waits: 0 })
    await expect(provider.withLock("", () => {})).rejects.toMatchObject({ _tag: "InvalidKeyError" })
    for (const options of [{ patience: 1 }, { observer: null }, null] as never[])
      await expect(provider.acquire("k", options)).rejects.toBeInstanceOf(InvalidConfigError)
    await expect(provider.withLock("k", undefined as never)).rejects.toBeInstanceOf(InvalidConfigError)
  })
})
