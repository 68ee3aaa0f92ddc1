/** The simulated store: calm it keeps the contract of stores, and each fault does what its word says. */
import { describe, expect, it } from "vitest"
import type { CheckpointStore, LeaseStore, ObjectRef, WriteAnswer } from "../../../src/locks/stores/port.ts"
import { VirtualHost } from "../../../src/runtime/time/virtual-host.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"
import { conformance } from "../../../src/testing/conformance/mod.ts"
import { Draw } from "../../../src/testing/simulate/plan/draw.ts"
import { SimulatedConnection } from "../../../src/testing/simulated-store/connection.ts"
import { drawStoreFault, type StoreFault, storeFaultKinds } from "../../../src/testing/simulated-store/faults.ts"
import { generationStyles, type StoreProfileName } from "../../../src/testing/simulated-store/profile.ts"
import { SimulatedStore } from "../../../src/testing/simulated-store/store.ts"

describe.each(["exact", "memory", "clockless", "file", "gcs", "keeps"] as const)(
  "a calm simulated store, as %s",
  (profile) => {
    const time = new VirtualTime({ maxSteps: 50_000_000 })
    const places = new Map<string, SimulatedStore>()
    const make = (place: string): LeaseStore & CheckpointStore => {
      let store = places.get(place)
      if (store === undefined) places.set(place, (store = new SimulatedStore({ time, chance: new Draw(1), profile })))
      return new SimulatedConnection(store, "a", time)
    }
    const cases = conformance(make, { clock: time, deletes: profile !== "keeps", names: 1003 })
    it.each(cases)("$name", async ({ run }) => {
      await expect(time.runUntil(run())).resolves.toBeUndefined()
    })
  },
)

const ref: ObjectRef = { area: "leases", name: "k" }
const body = (text: string): Uint8Array => new TextEncoder().encode(text)

class World {
  readonly time = new VirtualTime()
  readonly applied: string[] = []
  readonly store: SimulatedStore
  readonly host: VirtualHost
  readonly wire: LeaseStore & CheckpointStore

  constructor(profile: StoreProfileName = "exact") {
    this.store = new SimulatedStore({
      ...{ time: this.time, chance: new Draw(2), profile },
      onApplied: ({ worker, before, generation }) =>
        void this.applied.push(`${worker} ${before === "0"} ${generation !== "0"}`),
    })
    this.host = new VirtualHost(this.time, { name: "a" })
    this.wire = new SimulatedConnection(this.store, "a", this.host)
  }

  put(text = "x", expected = "0"): Promise<WriteAnswer> {
    return this.wire.put(ref, expected, body(text), { deadline: 5000 })
  }

  async answer(fault: StoreFault): Promise<WriteAnswer> {
    this.store.inject(fault)
    return this.time.runUntil(this.put())
  }
}

describe("a fault of a simulated store", () => {
  it.each([
    ["loseRequest", { kind: "loseRequest", worker: "a" }, 0],
    ["loseAnswer", { kind: "loseAnswer", worker: null }, 1],
    ["mutePartition", { kind: "mutePartition", worker: "a", forMs: 10 }, 1],
    ["partition", { kind: "partition", worker: "a", forMs: 10 }, 0],
    ["outage", { kind: "outage", worker: null, forMs: 10 }, 0],
    ["status before", { kind: "status", worker: "a", status: 503, applied: false }, 0],
    ["status after", { kind: "status", worker: "a", status: 503, applied: true }, 1],
    ["throttle", { kind: "throttle", worker: "a" }, 0],
  ] as const)(
    "%s leaves the outcome unknown, and what took effect is told by the store alone",
    async (_, fault, effects) => {
      const world = new World()
      expect((await world.answer(fault)).kind).toBe("unknown")
      expect(world.applied).toHaveLength(effects)
      expect((await world.time.runUntil(world.wire.read(ref, { limit: 100, deadline: 5000 }))).kind).toBe(
        effects === 1 ? "found" : "absent",
      )
    },
  )

  it("late takes effect when its sender has given up", async () => {
    const world = new World()
    expect((await world.answer({ kind: "late", worker: "a", ms: 8000 })).kind).toBe("unknown")
    expect(world.applied).toEqual([])
    await world.time.advance(10_000)
    expect(world.applied).toEqual(["a true true"])
  })

  it("duplicate applies the first and answers for the second, which is refused", async () => {
    const world = new World()
    expect((await world.answer({ kind: "duplicate", worker: "a", ms: 100, hears: "second" })).kind).toBe("refused")
    expect(world.applied).toEqual(["a true true"])
  })

  it("duplicate creates again what was removed between its two copies, also when its sender hears of the first", async () => {
    const world = new World()
    const answer = await world.answer({ kind: "duplicate", worker: "a", ms: 1000, hears: "first" })
    expect(answer.kind).toBe("applied")
    world.store.tamper(ref, undefined)
    await world.time.advance(2000)
    expect(world.applied).toEqual(["a true true", "null false false", "a true true"])
  })

  it("tooMany answers everything with 429, and a write so that it is known to have come too soon", async () => {
    const world = new World()
    world.store.inject({ kind: "tooMany", worker: null, forMs: 500 })
    const [write, read] = await world.time.runUntil(
      Promise.all([world.put(), world.wire.read(ref, { limit: 100, deadline: 1000 })]),
    )
    expect(write).toMatchObject({ kind: "unknown", throttled: true, error: { status: 429 } })
    expect(read).toMatchObject({ kind: "failed", error: { status: 429 } })
    expect(world.applied).toEqual([])
  })

  it("staleDate tells a time that is over, and never one further behind than the worst of two such faults", async () => {
    const world = new World()
    const now = world.time.read().wall
    world.store.inject({ kind: "skewDate", worker: null, ms: -450, forMs: 60_000 })
    const { storeTime } = await world.answer({ kind: "staleDate", worker: "a", ms: 400 })
    expect((storeTime ?? 0) - now).toBeGreaterThanOrEqual(-450)
    expect((storeTime ?? 0) - now).toBeLessThan(-300)
  })

  it("strikes beside others: one that lasts hides none that comes later", async () => {
    const world = new World()
    world.store.inject({ kind: "noDate", worker: null, forMs: 60_000 })
    expect((await world.answer({ kind: "loseAnswer", worker: "a" })).kind).toBe("unknown")
    expect(await world.time.runUntil(world.put("y"))).not.toHaveProperty("storeTime")
    expect(world.applied).toHaveLength(1)
  })

  it.each(["partition", "outage", "mutePartition"] as const)(
    "%s stops what is on its way when it begins",
    async (kind) => {
      const world = new World()
      world.store.inject({ kind: "late", worker: "a", ms: 1000 })
      const answer = world.put()
      await world.time.advance(500)
      world.store.inject({ kind, worker: null, forMs: 2000 })
      expect((await world.time.runUntil(answer)).kind).toBe("unknown")
      expect(world.applied).toHaveLength(kind === "mutePartition" ? 1 : 0)
    },
  )

  it.each([
    [{ kind: "looseRequest", worker: "a" }, /kind of a fault of the store is "looseRequest"/],
    [{ kind: "late", worker: "a" }, /ms of a fault of the store is undefined/],
    [{ kind: "slow", worker: "a", ms: -1 }, /ms of a fault of the store is -1/],
    [{ kind: "skewDate", worker: "a", ms: -501 }, /Give 500 at most/],
    [{ kind: "staleDate", worker: "a", ms: 501 }, /Give 500 at most/],
    [{ kind: "loseAnswer", worker: "a", time: 2 }, /time is no option of the fault loseAnswer/],
    [{ kind: "loseAnswer", worker: "a", times: 0 }, /times of a fault of the store is 0/],
    [{ kind: "loseAnswer" }, /worker of a fault of the store is undefined/],
    [{ kind: "loseAnswer", worker: "a", op: "write" }, /op is "write"/],
    [{ kind: "duplicate", worker: "a", ms: 1 }, /hears is undefined/],
    [{ kind: "status", worker: "a", status: 200, applied: true }, /status of a fault of the store is 200/],
    [{ kind: "capacity", worker: null, forMs: 1, perSecond: 0 }, /perSecond of a fault of the store is 0/],
    [{ kind: "capacity", worker: "a", forMs: 1, perSecond: 9 }, /worker of a fault of the store is "a"/],
    [{ kind: "capacity", worker: null, perSecond: 9 }, /forMs of a fault of the store is undefined/],
  ])("that can't be meant is refused: %j", (fault, says) => {
    const { store } = new World()
    expect(() => store.inject(fault as StoreFault)).toThrow(says)
  })

  it("capacity serves one request after the other, as they come, for as long as it lasts", async () => {
    const world = new World()
    world.store.inject({ kind: "capacity", worker: null, perSecond: 10, forMs: 2000 })
    const from = world.time.mono()
    const took: number[] = []
    const ask = (): Promise<unknown> =>
      world.wire.read(ref, { limit: 100, deadline: 5000 }).then(() => took.push(world.time.mono() - from))
    await world.time.runUntil(Promise.all(Array.from({ length: 10 }, ask)))
    expect(took[9]! - took[0]!).toBeGreaterThan(800)
    expect(took[9]!).toBeGreaterThan(1000)
    await world.time.advance(2000)
    const later = world.time.mono()
    await world.time.runUntil(Promise.all(Array.from({ length: 10 }, ask)))
    expect(world.time.mono() - later).toBeLessThan(200)
  })

  it("is drawn as one that is accepted, and stays what it is as JSON", () => {
    const { store } = new World()
    for (const kind of storeFaultKinds)
      for (let seed = 1; seed <= 50; seed++) {
        const fault = drawStoreFault(kind, "a", new Draw(seed), [2000, 10_000])
        expect(fault.kind).toBe(kind)
        expect(JSON.parse(JSON.stringify(fault))).toEqual(fault)
        store.inject(fault)
      }
  })

  it("cachedAnswer shows what was seen before and no time, and never less than an own write", async () => {
    const world = new World()
    const first = await world.time.runUntil(world.put("one"))
    const read = () => world.time.runUntil(world.wire.read(ref, { limit: 100, deadline: 5000 }))
    world.store.tamper(ref, body("two"))
    world.store.inject({ kind: "cachedAnswer", worker: "a" })
    const cached = await read()
    expect(cached).toMatchObject({
      kind: "found",
      body: body("one"),
      generation: (first as { generation: string }).generation,
    })
    expect(cached).not.toHaveProperty("storeTime")
    expect(await read()).toMatchObject({ kind: "found", body: body("two") })
  })

  it("skewDate and noDate change what an answer tells of the time", async () => {
    const world = new World()
    const now = world.time.read().wall
    expect(((await world.answer({ kind: "skewDate", worker: null, ms: -400 })).storeTime ?? 0) - now).toBeLessThan(-300)
    world.store.inject({ kind: "noDate", worker: "a" })
    expect(await world.time.runUntil(world.put("y"))).not.toHaveProperty("storeTime")
  })

  it("strikes those it names, so often or so long", async () => {
    const world = new World()
    world.store.inject({ kind: "loseRequest", worker: "b" })
    world.store.inject({ kind: "loseRequest", worker: "a", op: "read", times: 2 })
    const kinds: string[] = []
    for (let asked = 0; asked < 3; asked++)
      kinds.push((await world.time.runUntil(world.wire.read(ref, { limit: 100, deadline: 1000 }))).kind)
    expect(kinds).toEqual(["failed", "failed", "absent"])
    expect((await world.time.runUntil(world.put())).kind).toBe("applied")
    world.store.inject({ kind: "outage", worker: null, forMs: 3000 })
    await world.time.advance(3001)
    expect((await world.time.runUntil(world.wire.read(ref, { limit: 100, deadline: 1000 }))).kind).toBe("found")
  })
})

describe("a simulated store", () => {
  it("answers a process that is stopped when it goes on, and one that was killed never", async () => {
    const world = new World()
    const heard: string[] = []
    void world.put().then(({ kind }) => heard.push(kind))
    world.host.pause()
    await world.time.advance(1000)
    expect([world.applied.length, heard]).toEqual([1, []])
    world.host.resume()
    await world.time.advance(1000)
    expect(heard).toEqual(["applied"])
    void world.wire.read(ref, { limit: 100, deadline: 1000 }).then(({ kind }) => heard.push(kind))
    world.host.kill()
    await world.time.advance(10_000)
    expect(heard).toEqual(["applied"])
  })

  it("tells where it is like a directory the time of the reader's boot, when that one looks, and one for all of a boot", async () => {
    const { time, store } = new World("file")
    const hosts = [
      new VirtualHost(time, { name: "m1", wallOffset: 5000 }),
      new VirtualHost(time, { name: "m1", wallOffset: 5400 }),
      new VirtualHost(time, { name: "m2", wallOffset: -5000 }),
      new VirtualHost(time, { name: "m3", bootClock: false }),
      new VirtualHost(time, { name: "m1", wallOffset: 5000, bootAhead: -9000 }),
    ] as const
    const ahead = async (host: VirtualHost): Promise<number | undefined> => {
      const read = new SimulatedConnection(store, "a", host).read(ref, { limit: 100, deadline: 90_000 })
      const { storeTime } = await time.runUntil(read)
      return storeTime === undefined ? undefined : storeTime - time.read().wall
    }
    expect(await Promise.all(hosts.slice(0, 1).map(ahead))).toEqual([5000])
    expect([await ahead(hosts[1]), await ahead(hosts[2]), await ahead(hosts[3])]).toEqual([5000, -5000, undefined])
    expect(await ahead(hosts[4])).toBe(5000) // by a clock of its own
    const { capabilities } = new SimulatedConnection(store, "a", hosts[4])
    expect(capabilities).toMatchObject({ clock: "exact", bootId: `${hosts[0].bootId}~1` })
    const wire = new SimulatedConnection(store, "a", hosts[0])
    const read = wire.read(ref, { limit: 100, deadline: 90_000 })
    hosts[0].pause()
    await time.advance(40_000)
    hosts[0].resume()
    expect((await time.runUntil(read)).storeTime).toBe(time.read().wall + 5000)
    expect(wire.capabilities).toMatchObject({ clock: "exact", bootId: hosts[0].bootId, sameClock: true })
    expect(new SimulatedConnection(store, "a", hosts[3]).capabilities).toMatchObject({
      clock: "none",
      sameClock: false,
    })
    expect(new SimulatedConnection(store, "a", hosts[3]).capabilities).not.toHaveProperty("bootId")
  })

  it("takes one write a second for an object where it is like GCS", async () => {
    const world = new World("gcs")
    const first = await world.time.runUntil(world.put("one"))
    const generation = first.kind === "applied" ? first.generation : ""
    expect(await world.time.runUntil(world.put("two", generation))).toMatchObject({ kind: "unknown", throttled: true })
    await world.time.advance(1000)
    expect((await world.time.runUntil(world.put("two", generation))).kind).toBe("applied")
  })

  it.each(generationStyles)("never names two versions alike, by the style %s", async (generations) => {
    const time = new VirtualTime()
    const seen = new Set<string>()
    const onApplied = ({ generation }: { readonly generation: string }): void => void seen.add(generation)
    const store = new SimulatedStore({ time, chance: new Draw(3), generations, onApplied })
    for (let n = 0; n < 500; n++) store.tamper(ref, body(String(n)))
    expect(seen.size).toBe(500)
  })
})
