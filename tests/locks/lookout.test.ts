/** What wakes a key before its next look: a store that tells of changes, and a witness that tells of an owner's end. */
import { describe, expect, it } from "vitest"
import { encodeName } from "../../src/locks/keys.ts"
import type { HostHalf } from "../../src/locks/record.ts"
import type { LeaseStore, ObjectRef, Testimony, Witness } from "../../src/locks/store.ts"
import { memoryStore } from "../../src/locks/stores/memory.ts"
import { KEY, lockWorld, type LockWorld, settling, storeWith } from "../support/lock-world.ts"

/** A store that tells of every write, and knows when the process of a record has ended. */
class Telling implements Witness {
  readonly watched = new Map<() => void, ObjectRef>()
  readonly ends = new Set<() => void>()
  readonly store: LeaseStore
  says: Testimony | undefined

  constructor({ time }: LockWorld) {
    const inner = memoryStore({ clock: time })
    const capabilities = { ...inner.capabilities, bootId: "boot" }
    this.store = storeWith(inner, {
      capabilities,
      witness: this,
      put: async (ref, expected, body, options) => {
        const answer = await inner.put(ref, expected, body, options)
        time.soon(() => this.tell())
        return answer
      },
      watch: (ref, wake) => {
        const own = (): void => wake()
        this.watched.set(own, ref)
        return { [Symbol.dispose]: () => void this.watched.delete(own) }
      },
    })
  }

  tell(): void {
    for (const wake of [...this.watched.keys()]) wake()
  }

  testify(_: HostHalf): Testimony | undefined {
    return this.says
  }

  watch(_: HostHalf, wake: () => void): Disposable {
    this.ends.add(wake)
    return { [Symbol.dispose]: () => void this.ends.delete(wake) }
  }
}

function telling(): LockWorld & { readonly tells: Telling } {
  const world = lockWorld()
  const tells = new Telling(world)
  return { ...world, tells, lock: (id, own = {}) => world.lock(id, { store: tells.store, ...own }) }
}

describe("a lock on a store that tells of changes", () => {
  it("watches nothing while nobody contends, and its own key only while somebody does", async () => {
    const { time, lock, tells } = telling()
    const lease = await time.runUntil(lock("a").acquire())
    expect(tells.watched.size).toBe(0)
    const next = lock("b").acquire()
    await time.advance(100)
    expect([...tells.watched.values()]).toEqual([{ area: "leases", name: encodeName(KEY) }])
    await time.runUntil(lease.release())
    await time.runUntil((await time.runUntil(next)).release())
    expect(tells.watched.size).toBe(0)
    expect(tells.ends.size).toBe(0)
  })

  it("gets a released key at once, not at its next look", async () => {
    const { time, lock } = telling()
    const lease = await time.runUntil(lock("a").acquire({ timeout: "60 s" }))
    const next = lock("b").acquire({ timeout: "60 s" })
    await time.advance(20_050)
    void lease.release()
    const { ms, value } = await settling(time, next)
    expect(value.isHeld()).toBe(true)
    expect(ms).toBeLessThan(2)
  })

  it("hears of a waiter at once after its first look for one", async () => {
    const { time, lock } = telling()
    const owner = lock("a")
    await time.runUntil(owner.acquire())
    await time.advance(600)
    const asked = new Promise<void>((resolve) => void owner.onReleaseRequested(() => resolve()))
    void lock("b").acquire()
    expect((await settling(time, asked)).ms).toBeLessThan(2)
  })

  it("isn't watched by one outside of a full line, until that has room", async () => {
    const { time, lock, tells } = telling()
    const lease = await time.runUntil(lock("a").acquire())
    const line = Array.from({ length: 17 }, (_, at) => lock(`w${at}`).acquire({ contention: "retry" }))
    await time.advance(2000)
    const watched = tells.watched.size
    const outside = lock("outside").acquire({ contention: "retry" })
    await time.advance(3000)
    expect(tells.watched.size).toBe(watched)
    void lease.release()
    const first = await time.runUntil(Promise.race(line))
    await time.advance(1100)
    expect(tells.watched.size).toBe(watched)
    expect(first.isHeld()).toBe(true)
    outside.catch(() => {})
    for (const each of line) each.catch(() => {})
  })

  it("goes on looking where nothing is told", async () => {
    const { time, lock, tells } = telling()
    const lease = await time.runUntil(lock("a").acquire())
    const next = lock("b").acquire()
    await time.advance(5000)
    tells.watched.clear()
    void lease.release()
    expect((await settling(time, next)).ms).toBeLessThan(1100)
  })

  it("is told of its owner's end, and takes the key over then", async () => {
    const { time, lock, tells } = telling()
    await time.runUntil(lock("a").acquire())
    const next = lock("b").acquire()
    await time.advance(3050)
    expect(tells.ends.size).toBe(1)
    tells.says = "gone"
    for (const wake of tells.ends) wake()
    const { ms, value } = await settling(time, next)
    expect(value.how).toBe("takeover")
    expect(ms).toBeLessThan(2)
  })
})
