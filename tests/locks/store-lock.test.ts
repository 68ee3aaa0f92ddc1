/** The lock over a store, on virtual time: what its callers are promised. */
import { describe, expect, it } from "vitest"
import type { LockEvent } from "../../src/locks/lock.ts"
import type { LockOptions } from "../../src/locks/options.ts"
import { StoreLock } from "../../src/locks/store-lock.ts"
import { memoryStore } from "../../src/locks/stores/memory.ts"
import { VirtualTime } from "../../src/runtime/virtual-time.ts"

function world() {
  const time = new VirtualTime()
  const store = memoryStore({ clock: time })
  const lock = (id: string, options: LockOptions = {}): StoreLock =>
    new StoreLock("orders/7", { store, clock: time, incarnation: { id }, ...options })
  return { time, store, lock }
}

const types = (events: readonly LockEvent[]): string[] => events.map((event) => event.type)

describe("a lock on a store", () => {
  it("is acquired, held, renewed by itself and released", async () => {
    const { time, lock } = world()
    const a = lock("a")
    const events: LockEvent[] = []
    a.events$.subscribe((event) => events.push(event))
    const lease = await time.runUntil(a.acquire())
    expect(lease.isHeld()).toBe(true)
    await time.advance(60_000)
    expect(lease.isHeld()).toBe(true)
    expect(await time.runUntil(lease.release())).toBe("released")
    expect(lease.isHeld()).toBe(false)
    expect(types(events).slice(0, 3)).toEqual(["Acquired", "Renewed", "Renewed"])
    expect(types(events).at(-1)).toBe("Released")
    await time.advance(10_000)
    expect(time.pendingTimers).toBe(0)
  })

  it("goes to a waiter when its owner releases on request", async () => {
    const { time, lock } = world()
    const [a, b] = [lock("a"), lock("b")]
    const first = await time.runUntil(a.acquire())
    let requests = 0
    a.onReleaseRequested(() => {
      requests++
      void first.release()
    })
    const second = await time.runUntil(b.acquire({ timeout: "10 s" }))
    expect(requests).toBe(1)
    expect(second.token).toBeGreaterThan(first.token)
    expect(second.how).toBe("granted")
    await time.runUntil(second.release())
  })
})
