/** Renewals on a store in memory, which come on one beat. */
import { describe, expect, it } from "vitest"
import { StoreLock } from "../../src/locks/lock/store-lock.ts"
import { memoryStore } from "../../src/locks/stores/memory-store.ts"
import { VirtualTime } from "../../src/runtime/time/virtual-time.ts"

const TTL = 30_000
const BEAT = TTL / 60

describe("leases on a store in memory", () => {
  it("are renewed on one beat, each within a third of its ttl and a little", async () => {
    const time = new VirtualTime()
    const store = memoryStore({ clock: time })
    const renewals = new Map<string, number[]>()
    const leases = []
    for (let key = 0; key < 20; key++) {
      const lock = new StoreLock(`${key}`, { store, clock: time, incarnation: { id: "a" } })
      const lease = await time.runUntil(lock.acquire())
      lease.events$.subscribe(({ type }) => {
        if (type === "Renewed") renewals.set(lock.key, [...(renewals.get(lock.key) ?? [0]), time.mono()])
      })
      leases.push(lease)
    }
    await time.advance(5 * TTL)
    const all = [...renewals.values()]
    expect(all.length).toBe(20)
    const pauses = all.flatMap((times) => times.slice(2).map((at, index) => at - times[index + 1]!))
    expect(pauses.length).toBeGreaterThan(200)
    expect(Math.max(...pauses)).toBeLessThanOrEqual((TTL / 3) * 1.1 + BEAT)
    expect(all.flat().filter((at) => at % BEAT !== 0)).toEqual([])
    expect(new Set(all.flat()).size).toBeLessThan(all.flat().length / 2)
    for (const lease of leases) await time.runUntil(lease.release())
  })
})
