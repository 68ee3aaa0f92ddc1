// Lease stores of one name over one checkpoint store: whoever keeps its leases elsewhere takes no saved state over.
import { describe, expect, it } from "vitest"
import { StoreMisconfiguredError } from "../../src/locks/api/errors.ts"
import { memoryStore } from "../../src/locks/stores/memory-store.ts"
import { ABSENT, type LeaseStore } from "../../src/locks/stores/port.ts"
import { scripted, type ScriptedStore } from "../support/scripted-store.ts"
import { counter, World } from "./world.ts"

const sandbox = counter()

/** Leases of their own for one manager, in a store that has the name of all others. */
const elsewhere = (world: World, bootId?: string): ScriptedStore =>
  scripted(memoryStore({ clock: world.time }), world.time, { capabilities: bootId === undefined ? {} : { bootId } })

const headOf = async (world: World): Promise<Record<string, unknown>> => {
  const ref = { area: "state", name: "counter=2fk/head" } as const
  const answer = await world.store.read(ref, { deadline: 1000, limit: 65_536 })
  if (answer.kind !== "found") throw new Error(answer.kind)
  return JSON.parse(new TextDecoder().decode(answer.body)) as Record<string, unknown>
}

/** As a head of a release before this one: without what it doesn't know. */
const asBefore = async (world: World): Promise<void> => {
  const { leasesId: _id, leasesBoot: _boot, ...before } = await headOf(world)
  const ref = { area: "state", name: "counter=2fk/head" } as const
  const { generation } = (await world.store.read(ref, { deadline: 1000, limit: 65_536 })) as { generation: string }
  await world.store.put(ref, generation, new TextEncoder().encode(JSON.stringify(before)), { deadline: 1000 })
}

const add = (count: { n: number }): number => ++count.n

/** A manager of its own process, whose leases are in `store`. */
const manager = (world: World, id: string, store: LeaseStore, adoptHeads = false) =>
  world.manager(id, sandbox, { store, checkpoints: world.store, adoptHeads })

describe("two lease stores of one name over one checkpoint store", () => {
  // Tests rule 15: Lease stores of one name are told apart by identity; heads of older releases by name.
  it("are told apart: the second process is refused, and the first stays the one owner", async () => {
    const world = new World()
    const a = await manager(world, "a", elsewhere(world))
    const b = await manager(world, "b", elsewhere(world))
    expect(await world.run(a.use(sandbox, "k", add, { durable: true }))).toBe(1)
    const refused = await world.failure(b.use(sandbox, "k", add, { timeout: "2 min" }))
    expect(refused).toBeInstanceOf(StoreMisconfiguredError)
    expect(String(refused)).toMatch(/another store of that name.*adoptHeads/)
    expect(await world.run(a.use(sandbox, "k", add, { durable: true }))).toBe(2)
    await world.end()
  })

  it("don't keep processes of the one from each other", async () => {
    const world = new World()
    const leases = elsewhere(world)
    const a = await manager(world, "a", leases)
    const b = await manager(world, "b", leases)
    expect(await world.run(a.use(sandbox, "k", add, { durable: true }))).toBe(1)
    expect(await world.run(b.use(sandbox, "k", add, { durable: true }))).toBe(2)
    expect(await world.run(a.use(sandbox, "k", add, { durable: true }))).toBe(3)
    await world.end()
  })

  it("are moved between by adoptHeads, which leaves the new one's identity in the head", async () => {
    const world = new World()
    const a = await manager(world, "a", elsewhere(world))
    expect(await world.run(a.use(sandbox, "k", add, { durable: true }))).toBe(1)
    const { leasesId } = await headOf(world)
    expect(leasesId).toMatch(/^\S+$/)
    await world.run(a[Symbol.asyncDispose]())
    const leases = elsewhere(world)
    const b = await manager(world, "b", leases, true)
    expect(await world.run(b.use(sandbox, "k", add, { timeout: "2 min" }))).toBe(2)
    const moved = await headOf(world)
    expect(moved["leases"]).toBe("memory")
    expect(moved["leasesId"]).not.toBe(leasesId)
    await world.run(b[Symbol.asyncDispose]())
    const c = await manager(world, "c", leases)
    expect(await world.run(c.use(sandbox, "k", add))).toBe(3)
    await world.end()
  })

  it("are compared by name where a head of an older release tells no identity, and it tells one from then on", async () => {
    const world = new World()
    const a = await manager(world, "a", elsewhere(world))
    expect(await world.run(a.use(sandbox, "k", add, { durable: true }))).toBe(1)
    await world.run(a[Symbol.asyncDispose]())
    await asBefore(world)
    const b = await manager(world, "b", elsewhere(world))
    expect(await world.run(b.use(sandbox, "k", add, { timeout: "2 min" }))).toBe(2)
    expect(await headOf(world)).toHaveProperty("leasesId")
    await world.end()
  })
})

describe("a machine's image that was copied with the leases on it", () => {
  /** The same objects, which the one wrote before the other was made of it. */
  const copies = async (world: World): Promise<[ScriptedStore, ScriptedStore]> => {
    const [a, b] = [elsewhere(world, "boot-of-a"), elsewhere(world, "boot-of-b")]
    for (const store of [a, b]) {
      const body = new TextEncoder().encode(JSON.stringify({ v: 1, identity: "of-the-image" }))
      await store.put({ area: "store", name: "identity" }, ABSENT, body, { deadline: 1000 })
    }
    return [a, b]
  }

  // Tests rule 15: Copies of one lease directory are told apart by the boots that each has seen.
  it("is told apart by the boot of who wrote the head", async () => {
    const world = new World()
    const [one, two] = await copies(world)
    const a = await manager(world, "a", one)
    const b = await manager(world, "b", two)
    expect(await world.run(a.use(sandbox, "k", add, { durable: true }))).toBe(1)
    expect(await headOf(world)).toMatchObject({ leasesId: "of-the-image", leasesBoot: "boot-of-a" })
    const refused = await world.failure(b.use(sandbox, "k", add, { timeout: "2 min" }))
    expect(refused).toBeInstanceOf(StoreMisconfiguredError)
    expect(String(refused)).toMatch(/a copy of memory.*boot-of-a.*adoptHeads/)
    expect(await world.run(a.use(sandbox, "k", add, { durable: true }))).toBe(2)
    await world.end()
  })

  it("is taken for one store where the boot was seen: after a restart, and by machines that share it", async () => {
    const world = new World()
    const memory = memoryStore({ clock: world.time })
    const before = scripted(memory, world.time, { capabilities: { bootId: "before" } })
    const after = scripted(memory, world.time, { capabilities: { bootId: "after" } })
    const a = await manager(world, "a", before)
    expect(await world.run(a.use(sandbox, "k", add, { durable: true }))).toBe(1)
    await world.run(a[Symbol.asyncDispose]())
    const b = await manager(world, "b", after)
    expect(await world.run(b.use(sandbox, "k", add, { timeout: "2 min", durable: true }))).toBe(2)
    await world.end()
  })

  it("is asked for the boot again where it can't tell, and isn't taken for a copy meanwhile", async () => {
    const world = new World()
    const memory = memoryStore({ clock: world.time })
    const a = await manager(world, "a", scripted(memory, world.time, { capabilities: { bootId: "before" } }))
    expect(await world.run(a.use(sandbox, "k", add, { durable: true }))).toBe(1)
    await world.run(a[Symbol.asyncDispose]())
    const after = scripted(memory, world.time, { capabilities: { bootId: "after" } })
    const b = await manager(world, "b", after)
    after.script.onRead({ before: "lost", of: /^boot-before$/ })
    expect(await world.run(b.use(sandbox, "k", add, { timeout: "2 min" }))).toBe(2)
    expect(after.script.pending).toBe(0)
    await world.end()
  })
})
