// Pins what the memory store adds to the contract of all stores: its clock and its determinism.
import { describe, expect, it } from "vitest"
import { StoreLock } from "../../../src/locks/lock/store-lock.ts"
import { memoryStore } from "../../../src/locks/stores/memory-store.ts"
import { ABSENT, type Generation, type PromptRequests } from "../../../src/locks/stores/port.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"
import { describeConformance } from "../../support/conformance.ts"
import { settling, storeWith } from "../../support/lock-world.ts"
import { names, write } from "../../support/objects.ts"

const options = { deadline: 1000 }
const ref = { area: "leases", name: "key" } as const

describe("memoryStore", () => {
  const places = new Map<string, ReturnType<typeof memoryStore>>()
  describeConformance((place) => {
    const store = places.get(place) ?? memoryStore()
    places.set(place, store)
    return store
  })

  it("lists in the order of names, page by page, and goes on after any name", async () => {
    const store = memoryStore()
    const many = Array.from({ length: 1203 }, (_, number) => `n${String(number).padStart(5, "0")}`)
    for (const name of many.toReversed()) await write(store, { area: "leases", name }, ABSENT, "1")
    expect(await names(store, "leases", "n")).toEqual(many)
    const page = await store.list("leases", { ...options, prefix: "n", after: "n01200x" })
    expect(page).toEqual({
      items: [expect.objectContaining({ name: "n01201" }), expect.objectContaining({ name: "n01202" })],
    })
  })

  it("is fit for leases and for checkpoints, with an exact clock that isHeld reads too", () => {
    expect(memoryStore()).toMatchObject({
      name: "memory",
      leases: true,
      checkpoints: true,
      capabilities: { clock: "exact", sameClock: true, deletes: true, cheapReads: true, writeSpacing: 0 },
    })
    expect(memoryStore({ name: "of test 7" }).name).toBe("of test 7")
  })

  it("tells every watch of a write but those that are disposed by then, and whatever one of them throws", async () => {
    const time = new VirtualTime()
    const store = memoryStore({ clock: time })
    const told: string[] = []
    const other = { area: "leases", name: "other" } as const
    store.watch!(ref, () => {
      second[Symbol.dispose]()
      throw new Error("as scripted")
    })
    const second = store.watch!(ref, () => void told.push("second"))
    store.watch!(ref, () => void told.push("third"))
    store.watch!(other, () => void told.push("another's"))
    await write(store, ref, ABSENT, "1")
    await write(store, other, ABSENT, "1")
    await expect(time.advance(0)).rejects.toThrow("a watch of the memory store threw")
    expect(told).toEqual(["third", "another's"])
  })

  it("shares nothing with another store", async () => {
    const [one, other] = [memoryStore(), memoryStore()]
    await write(one, ref, ABSENT, "mine")
    expect(await other.read(ref, { ...options, limit: 10 })).toMatchObject({ kind: "absent" })
  })

  it.each([true, false])(
    "stamps every answer with a time that no step of the wall moves (boot clock: %s)",
    async (bootClock) => {
      const clock = new VirtualTime({ wall: 1_700_000_000_000, bootClock })
      const store = memoryStore({ clock })
      clock.advanceSync(500)
      clock.stepWall(-3_600_000)
      const storeTime = 1_700_000_000_500
      expect(await store.read(ref, { ...options, limit: 10 })).toEqual({ kind: "absent", storeTime })
      expect(await store.put(ref, ABSENT, new Uint8Array(), options)).toMatchObject({ kind: "applied", storeTime })
      expect(await store.put(ref, ABSENT, new Uint8Array(), options)).toEqual({ kind: "refused", storeTime })
      expect(await store.remove(ref, "0", options)).toEqual({ kind: "refused", storeTime })
      expect(await store.read(ref, { ...options, limit: 10 })).toMatchObject({ kind: "found", storeTime })
    },
  )

  // Tests stores: A waiter is woken by changes of the record and by its owner's end, and looks all the same.
  it("tells of each write when the call that made it is over, in order, and of nothing else", async () => {
    const clock = new VirtualTime()
    const store = memoryStore({ clock })
    const told: unknown[] = []
    const [first, second] = ["first", "second"].map((who) =>
      store.watch!(ref, (generation) => void told.push([who, generation])),
    )
    expect([first!.hears, first!.hearsAll]).toEqual([true, true])
    const applied = store.prompt!.put(ref, ABSENT, new Uint8Array(), options) as { generation: Generation }
    expect(applied).toMatchObject({ kind: "applied" })
    store.prompt!.put(ref, ABSENT, new Uint8Array(), options) // refused
    await write(store, { ...ref, name: "other" }, ABSENT, "1")
    await write(store, { ...ref, area: "state" }, ABSENT, "1")
    await store.read(ref, { ...options, limit: 10 })
    expect(told).toEqual([])
    await clock.advance(0)
    expect(told.splice(0)).toEqual([
      ["first", applied.generation],
      ["second", applied.generation],
    ])
    await store.remove(ref, applied.generation, options)
    first![Symbol.dispose]()
    first![Symbol.dispose]()
    await clock.advance(0)
    expect(told.splice(0)).toEqual([["second", ABSENT]])
    second![Symbol.dispose]()
    await write(store, ref, ABSENT, "2")
    await clock.advance(0)
    expect(told).toEqual([])
  })

  // Tests stores: Looks are seldom only while the system tells of changes and ends; own writes are no news.
  it("is asked nothing by an owner at rest but its renewals, until a waiter writes", async () => {
    const clock = new VirtualTime()
    const inner = memoryStore({ clock })
    const requests: string[] = []
    const prompt: PromptRequests = {
      read: (...args) => (requests.push("read"), inner.prompt!.read(...args)),
      put: (...args) => (requests.push("put"), inner.prompt!.put(...args)),
      remove: (...args) => inner.prompt!.remove(...args),
    }
    const store = storeWith(inner, { prompt, watch: (...args) => inner.watch!(...args) })
    const lock = (id: string): StoreLock => new StoreLock("k", { store, clock, incarnation: { id } })
    const owner = lock("a")
    const lease = await clock.runUntil(owner.acquire())
    await clock.advance(5000)
    requests.length = 0
    await clock.advance(600_000)
    expect(new Set(requests)).toEqual(new Set(["put"]))
    expect(requests.length).toBeGreaterThan(50)
    expect(requests.length).toBeLessThan(70)
    const asked = new Promise<void>((resolve) => void owner.onReleaseRequested(() => resolve()))
    const waits = lock("b").acquire()
    expect((await settling(clock, asked)).ms).toBeLessThan(30)
    void lease.release()
    expect((await settling(clock, waits)).ms).toBeLessThan(2)
  })

  it("counts the time that the machine sleeps, as isHeld does", async () => {
    const clock = new VirtualTime({ wall: 1_700_000_000_000 })
    const store = memoryStore({ clock })
    clock.suspend(60_000)
    expect(await store.read(ref, { ...options, limit: 10 })).toMatchObject({ storeTime: 1_700_000_060_000 })
  })
})
