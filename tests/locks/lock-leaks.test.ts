/** What locks leave behind: nothing. Counted, not timed. */
import { describe, expect, it } from "vitest"
import { StoreLock } from "../../src/locks/lock/store-lock.ts"
import { memoryStore } from "../../src/locks/stores/memory-store.ts"
import { VirtualTime } from "../../src/runtime/time/virtual-time.ts"
import { collected, heapInUse } from "../support/gc.ts"
import { scripted } from "../support/scripted-store.ts"

/** A signal that counts its listeners: how many there are, and how many there ever were. */
function countedSignal(): { readonly signal: AbortSignal; readonly counts: { now: number; ever: number } } {
  const { signal } = new AbortController()
  const counts = { now: 0, ever: 0 }
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    counts.now++
    counts.ever++
    add(...args)
  }
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    counts.now--
    remove(...args)
  }
  return { signal, counts }
}

/** Ten thousand times; resolves to how much the heap grew after the first thousand, as a ratio. */
async function growth(time: VirtualTime, cycle: () => Promise<void>): Promise<number> {
  const thousand = async (): Promise<void> => {
    for (let count = 0; count < 1000; count++) await cycle()
  }
  await time.runUntil(thousand())
  const before = await heapInUse()
  for (let round = 1; round < 10; round++) await time.runUntil(thousand())
  return (await heapInUse()) / before
}

const MINUTE = 60_000

describe("ten thousand acquires and releases", () => {
  // Tests leftovers: 10,000 acquires and releases, and 1,500 sandboxes, leave nothing; an idle process ends.
  it(
    "of one lock leave no timer, listener or heap",
    async () => {
      const time = new VirtualTime()
      const lock = new StoreLock("k", { store: memoryStore({ clock: time }), clock: time, incarnation: { id: "a" } })
      const { signal, counts } = countedSignal()
      const handler = lock.onReleaseRequested(() => {})
      const ratio = await growth(time, async () => {
        const lease = await lock.acquire({ signal })
        await lease.release()
      })
      expect(time.pendingTimers).toBe(0)
      expect(counts.ever).toBeGreaterThanOrEqual(10_000)
      expect(counts.now).toBe(0)
      expect(ratio).toBeLessThan(1.1)
      handler[Symbol.dispose]()
    },
    MINUTE,
  )

  it(
    "by a lock each, of a key each, leave no heap once the locks are dropped and the records deleted",
    async () => {
      const time = new VirtualTime()
      const store = memoryStore({ clock: time })
      let key = 0
      const ratio = await growth(time, async () => {
        const lock = new StoreLock(`k/${key++}`, { store, clock: time, incarnation: { id: "a" }, onRelease: "delete" })
        const lease = await lock.acquire()
        await lease.release()
      })
      expect(key).toBe(10_000)
      expect(time.pendingTimers).toBe(0)
      expect(ratio).toBeLessThan(1.1)
    },
    MINUTE,
  )
})

describe("a lease whose lock nobody refers to", () => {
  it("is held all the same until it is released", async () => {
    const time = new VirtualTime()
    const store = memoryStore({ clock: time })
    const acquire = (id: string) => {
      const lock = new StoreLock("k", { store, clock: time, incarnation: { id } })
      return lock.acquire({ timeout: "2 s" })
    }
    await time.runUntil(acquire("a"))
    await heapInUse()
    await time.advance(120_000)
    await expect(time.runUntil(acquire("b"))).rejects.toMatchObject({ owner: { ownerId: "a" } })
  })
})

describe("a key that nobody uses", () => {
  const alone = () => {
    const time = new VirtualTime()
    const store = scripted(memoryStore({ clock: time }), time)
    const lock = (key: string): StoreLock => new StoreLock(key, { store, clock: time, incarnation: { id: "a" } })
    const cycle = async (key: string): Promise<string[]> => {
      const before = store.script.requests.length
      const lease = await lock(key).acquire()
      await lease.release()
      return store.script.requests.slice(before).map(({ op }) => op)
    }
    return { time, lock, cycle }
  }

  it("is observed for as long as an observer is subscribed, also when its lock was dropped", async () => {
    const { time, lock, cycle } = alone()
    const told: string[] = []
    lock("k").events$.subscribe(({ type }) => told.push(type))
    await collected()
    await time.runUntil(cycle("k"))
    await collected()
    for (let other = 0; other < 1500; other++) await cycle(`other/${other}`)
    await time.runUntil(cycle("k"))
    expect(told).toEqual(["Acquired", "Released", "Acquired", "Released"])
  })

  // Tests locks: What a process remembers of a key depends on its use, never on the garbage collector.
  it("is remembered, whatever the garbage collector does, until a thousand others came to rest", async () => {
    const { time, cycle } = alone()
    expect(await time.runUntil(cycle("k"))).toEqual(["read", "put", "put"])
    await collected()
    for (let other = 0; other < 999; other++) await cycle(`other/${other}`)
    expect(await time.runUntil(cycle("k"))).toEqual(["put", "put"])
    for (let other = 0; other < 1000; other++) await cycle(`another/${other}`)
    expect(await time.runUntil(cycle("k"))).toEqual(["read", "put", "put"])
  })

  it("is not forgotten while it is used", async () => {
    const { time, lock, cycle } = alone()
    await time.runUntil(lock("k").acquire())
    for (let other = 0; other < 1500; other++) await cycle(`other/${other}`)
    const error = await lock("k")
      .acquire({ timeout: 0 })
      .catch((reason: unknown) => reason)
    expect(error).toMatchObject({ _tag: "LockTimeoutError", owner: { ownerId: "a" } })
  })
})

describe("three hundred leases", () => {
  // Tests rule 9: A lock renews itself at a third of the ttl, in one write; it looks for a waiter in between.
  it("wait on one timer, which doesn't keep the process alive", async () => {
    const time = new VirtualTime()
    const store = memoryStore({ clock: time })
    const leases = await time.runUntil(
      Promise.all(
        Array.from({ length: 300 }, (_, index) =>
          new StoreLock(`k/${index}`, { store, clock: time, incarnation: { id: "a" } }).acquire(),
        ),
      ),
    )
    expect(time.pendingTimers).toBe(1)
    expect(time.pendingBackground).toBe(1)
    await time.advance(12_000)
    expect(leases.every((lease) => lease.isHeld())).toBe(true)
    await time.runUntil(Promise.all(leases.map((lease) => lease.release())))
    expect(time.pendingTimers).toBe(0)
  })
})

describe("what keeps the process alive", () => {
  const alone = () => {
    const time = new VirtualTime()
    const store = memoryStore({ clock: time })
    const lock = (id: string) => new StoreLock("k", { store, clock: time, incarnation: { id } })
    const foreground = (): number => time.pendingTimers - time.pendingBackground
    return { time, lock, foreground }
  }

  it("is a wait for another process, and not the lease of this one", async () => {
    const { time, lock, foreground } = alone()
    await time.runUntil(lock("a").acquire())
    expect(foreground()).toBe(0)
    const controller = new AbortController()
    const waiting = lock("b").acquire({ timeout: "infinite", signal: controller.signal })
    await time.advance(10_000)
    expect(foreground()).toBeGreaterThan(0)
    controller.abort()
    await expect(time.runUntil(waiting)).rejects.toMatchObject({ _tag: "LockCancelledError" })
    expect(foreground()).toBe(0)
  })

  it("is a wait for this process itself, however long", async () => {
    const { time, lock, foreground } = alone()
    const held = await time.runUntil(lock("a").acquire())
    const controller = new AbortController()
    const waiting = lock("a").acquire({ timeout: "infinite", signal: controller.signal })
    await time.advance(10_000)
    expect(foreground()).toBeGreaterThan(0)
    controller.abort()
    await expect(waiting).rejects.toMatchObject({ _tag: "LockCancelledError" })
    expect(foreground()).toBe(0)
    expect(held.isHeld()).toBe(true)
  })
})
