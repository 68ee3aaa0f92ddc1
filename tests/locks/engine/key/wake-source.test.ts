/** What wakes a key before its next look: a store that tells of changes, and a oracle that tells of an owner's end. */
import { describe, expect, it } from "vitest"
import { encodeName } from "../../../../src/locks/api/keys.ts"
import type { HostHalf } from "../../../../src/locks/record.ts"
import { memoryStore } from "../../../../src/locks/stores/memory-store.ts"
import type {
  Generation,
  LeaseStore,
  ObjectRef,
  Liveness,
  Watching,
  ProcessOracle,
} from "../../../../src/locks/stores/port.ts"
import { unwatched } from "../../../../src/runtime/machine/processes.ts"
import { KEY, lockWorld, type LockWorld, settling, silence, storeWith } from "../../../support/lock-world.ts"

/** A store that tells of every write, and knows when the process of a record has ended. */
class Telling implements ProcessOracle {
  readonly watched = new Map<(generation?: Generation) => void, ObjectRef>()
  readonly ends = new Set<() => void>()
  readonly store: LeaseStore
  /** The same place, of whose requests nothing is told and nothing is counted. */
  readonly aside: LeaseStore
  says: Liveness | undefined
  /** Which of its watches may be relied on. */
  readonly hears = { record: false, process: false, all: false }
  /** The generation of the last write that was applied. */
  newest: Generation | undefined
  /** Reads so far. */
  reads = 0

  constructor({ time }: LockWorld) {
    const inner = memoryStore({ clock: time })
    const capabilities = { ...inner.capabilities, bootId: "boot" }
    this.aside = storeWith(inner, { capabilities, oracle: this })
    this.store = storeWith(inner, {
      capabilities,
      oracle: this,
      put: async (ref, expected, body, options) => {
        const answer = await inner.put(ref, expected, body, options)
        if (answer.kind === "applied") this.newest = answer.generation
        time.soon(() => this.tell(this.newest))
        return answer
      },
      read: (ref, options) => {
        this.reads++
        return inner.read(ref, options)
      },
      watch: (ref, wake) => {
        const { hears } = this
        this.watched.set(wake, ref)
        return {
          get hears() {
            return hears.record
          },
          get hearsAll() {
            return hears.all
          },
          [Symbol.dispose]: () => void this.watched.delete(wake),
        }
      },
    })
  }

  /** The same place as another process of this machine has it. */
  of(pid: number): LeaseStore {
    const self = { name: "here", pid, startedAt: "1", bootId: "boot", pidNs: "1", life: 3, groups: [] }
    const { capabilities } = this.aside
    return storeWith(this.aside, {
      capabilities,
      oracle: { self, livenessOf: () => this.says, watch: () => unwatched },
    })
  }

  tell(generation?: Generation): void {
    for (const wake of [...this.watched.keys()]) wake(generation)
  }

  livenessOf(_: HostHalf): Liveness | undefined {
    return this.says
  }

  watch(_: HostHalf, wake: () => void): Watching {
    const { process } = this.hears
    let over = false
    const end = (): void => {
      over = true
      wake()
    }
    this.ends.add(end)
    return {
      get hears() {
        return process && !over
      },
      [Symbol.dispose]: () => void this.ends.delete(end),
    }
  }
}

/** Each write is told of 50 ms before its writer has the answer. */
function lateAnswers(tells: Telling, time: LockWorld["time"]): Partial<LeaseStore> {
  return {
    oracle: tells,
    watch: (ref, wake) => tells.store.watch!(ref, wake),
    put: async (ref, expected, body, options) => {
      const answer = await tells.store.put(ref, expected, body, options)
      await new Promise<void>((resolve) => void time.after(50, resolve))
      return answer
    },
  }
}

function telling(): LockWorld & { readonly tells: Telling } {
  const world = lockWorld()
  const tells = new Telling(world)
  return { ...world, tells, lock: (id, own = {}) => world.lock(id, { store: tells.store, ...own }) }
}

describe("a lock on a store that tells of changes", () => {
  // Tests stores: A waiter is woken by changes of the record and by its owner's end, and looks all the same.
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

  // Tests rule 13a: A change wakes only those whose turn may be next.
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

  // Tests stores.
  it("goes on looking where nothing is told", async () => {
    const { time, lock, tells } = telling()
    const lease = await time.runUntil(lock("a").acquire())
    const next = lock("b").acquire()
    await time.advance(5000)
    tells.watched.clear()
    void lease.release()
    expect((await settling(time, next)).ms).toBeLessThan(1100)
  })

  // Tests stores: Looks are seldom only while the system tells of changes and ends; own writes are no news.
  it.each([
    { record: true, process: true, least: 18, most: 45 },
    { record: true, process: false, least: 55, most: 130 },
    { record: false, process: true, least: 55, most: 130 },
  ])("is looked at seldom where both watches may be relied on: $record, $process", async (each) => {
    const { time, lock, tells } = telling()
    Object.assign(tells.hears, { record: each.record, process: each.process })
    await time.runUntil(lock("a", { store: tells.aside }).acquire())
    const next = lock("b").acquire({ timeout: "infinite" })
    await time.advance(10_000)
    tells.reads = 0
    await time.advance(60_000)
    expect(tells.reads).toBeGreaterThan(each.least)
    expect(tells.reads).toBeLessThan(each.most)
    next.catch(() => {})
  })

  // Tests stores: Looks are seldom only while the system tells of changes and ends; own writes are no news.
  it("is looked at by its owner once in the life of a mark while every machine's writes are told, else twice a second", async () => {
    const { time, lock, tells } = telling()
    Object.assign(tells.hears, { record: true, process: true })
    const owner = lock("a", { ttl: "10 min" })
    await time.runUntil(owner.acquire())
    const readsIn = async (ms: number): Promise<number> => {
      const before = tells.reads
      await time.advance(ms)
      return tells.reads - before
    }
    await time.advance(2000)
    expect(await readsIn(10_000)).toBeGreaterThan(15)
    tells.hears.all = true
    await time.advance(1000)
    expect(await readsIn(50_000)).toBe(4)
    tells.hears.all = false
    tells.tell() // as a watch does that has ended
    expect(await readsIn(5000)).toBeGreaterThan(8)
  })

  it.each([
    [true, ["watch", "read"]],
    [false, ["watch", "read", "read"]],
  ])("is watched before its owner's look, which is repeated unless all is told (%s)", async (all, asked) => {
    const { time, lock, tells } = telling()
    Object.assign(tells.hears, { record: true, all })
    const seen: string[] = []
    const noting = storeWith(tells.store, {
      oracle: tells,
      read: (ref, options) => (seen.push("read"), tells.store.read(ref, options)),
      watch: (ref, wake) => (seen.push("watch"), tells.store.watch!(ref, wake)),
    })
    await time.runUntil(lock("a", { store: noting }).acquire())
    seen.length = 0
    await time.advance(550)
    expect(seen).toEqual(asked)
  })

  it("is not looked at by its owner for a renewal, which was told before it was answered", async () => {
    const { time, lock, tells } = telling()
    Object.assign(tells.hears, { record: true, all: true })
    const owner = lock("a", { store: storeWith(tells.store, { ...lateAnswers(tells, time) }) })
    const lease = await time.runUntil(owner.acquire())
    await time.advance(1000)
    const { reads } = tells
    for (let renewals = 0; renewals < 3; renewals++) await time.runUntil(lease.renew())
    await time.advance(60_000)
    expect(tells.reads).toBe(reads)
  })

  it("is looked at soon, and often again, once the owner's end was told, though others were ahead who died with it", async () => {
    for (let after = 20_000; after < 24_000; after += 377) {
      const { time, lock, tells } = telling()
      Object.assign(tells.hears, { record: true, process: true })
      let dead = false
      const mortal = storeWith(tells.aside, {
        capabilities: tells.aside.capabilities,
        oracle: tells,
        read: (ref, options) => (dead ? silence() : tells.aside.read(ref, options)),
        put: (ref, expected, body, options) => (dead ? silence() : tells.aside.put(ref, expected, body, options)),
      })
      await time.runUntil(lock("a", { store: mortal }).acquire())
      for (const id of ["b", "c"]) {
        void lock(id, { store: mortal }).acquire({ timeout: "infinite" })
        await time.advance(1500)
      }
      const last = lock("d").acquire({ timeout: "infinite" })
      await time.advance(after)
      dead = true
      tells.says = "gone"
      for (const wake of tells.ends) wake()
      const { ms, value } = await settling(time, last)
      expect(value.how).toBe("takeover")
      expect(ms).toBeLessThan(1100)
    }
  })

  it("is looked at often once its owner is one whose process can't be watched", async () => {
    for (let after = 20_000; after < 24_000; after += 377) {
      const { time, lock, tells } = telling()
      Object.assign(tells.hears, { record: true, process: true })
      const lease = await time.runUntil(lock("a", { store: tells.of(100) }).acquire())
      const quiet = lock("b").acquire({ timeout: "infinite", whenOwned: "wait" })
      await time.advance(1500)
      const asking = lock("c", { store: tells.of(200) }).acquire({ timeout: "infinite" })
      await time.advance(after)
      tells.hears.process = false
      await time.runUntil(lease.release())
      const other = await time.runUntil(asking)
      tells.tell("its claim")
      await time.advance(50)
      const { ms } = await settling(time, Promise.all([other.release(), quiet])) // of which nothing is told
      expect(ms).toBeLessThan(1100)
    }
  })

  it("is not looked at for a write of one's own", async () => {
    const { time, lock, tells } = telling()
    Object.assign(tells.hears, { record: true, process: true })
    await time.runUntil(lock("a", { store: tells.aside }).acquire())
    const next = lock("b").acquire({ timeout: "infinite" })
    await time.advance(5000)
    const { reads } = tells
    tells.tell(tells.newest)
    expect(tells.reads).toBe(reads)
    tells.tell("another")
    expect(tells.reads).toBe(reads + 1)
    next.catch(() => {})
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
