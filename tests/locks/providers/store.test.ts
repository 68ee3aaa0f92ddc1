// What a provider over a store adds: other processes, leases that are lost, and the counters of both.
import { LockLostError, memoryStore, noLockProvider, storeLockProvider } from "leasehold"
import { describe, expect, it } from "vitest"
import { VirtualHost } from "../../../src/runtime/virtual-host.ts"
import { VirtualTime } from "../../../src/runtime/virtual-time.ts"
import { storeWith } from "../../support/lock-world.ts"

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
  return { time, all }
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

describe("the provider that keeps nobody out", () => {
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
  })
})
