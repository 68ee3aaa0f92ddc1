// Pins what the inside of a manager shows: who it is, each sandbox as its shell knows it, and what the store says of a
// key.
import { describe, expect, it } from "vitest"
import { setup } from "xstate"
import { insideOf } from "../../../src/actors/inside/inside.ts"
import { CorruptRecordError, InvalidKeyError } from "../../../src/locks/api/errors.ts"
import { ABSENT, InvalidConfigError, LockNotHeldError, memoryStore, StoreLock } from "../../../src/mod.ts"
import { counter, type Count, failure, gate, type Overrides, World } from "../world.ts"

describe("the inside of a manager", () => {
  // Tests inspector: A manager's inside is opened only to its holder, and a user's `inspectState` harms no sandbox.
  it("is there only of what SandboxManager.start made", async () => {
    const world = new World()
    const manager = await world.manager("a", counter())
    expect(insideOf(manager)).toBe(insideOf(manager))
    for (const other of [{}, { ...manager }, new Proxy(manager, {}), null as never, "a" as never]) {
      expect(() => insideOf(other)).toThrow(InvalidConfigError)
    }
    await world.end()
  })

  it("tells who it is, what it knows, and whether it takes sandboxes in", async () => {
    const world = new World()
    const sandbox = counter()
    const address = "http://10.0.0.3:8080"
    const manager = await world.manager("a", sandbox, { ttl: "60 s", address, trace: { worker: "one" } })
    const inside = insideOf(manager)
    expect(inside).toMatchObject({ worker: "one", ownerId: "a", address, ttl: 60_000, guard: 6000, closed: false })
    expect([...inside.definitions]).toEqual([sandbox])
    expect(inside.clock).toBe(world.time)
    expect(inside.stats()).toEqual(manager.stats())
    inside.cordon()
    expect(inside.closed).toBe(true)
    expect(await world.failure(manager.use(sandbox, "k", () => {}))).toMatchObject({ state: "cordoned" })
    await world.end()
    await inside.ended
    expect([...inside.sandboxes]).toEqual([])
  })

  it("is named by its incarnation, and has no address, where nothing else is said", async () => {
    const world = new World()
    const inside = insideOf(await world.manager("a", counter()))
    expect([inside.worker, inside.address]).toEqual(["a", null])
    await world.end()
  })

  it("shows a sandbox that waits, and one that is owned, each with since when, for whom and by whom", async () => {
    const world = new World()
    const end = gate()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const b = await world.manager("b", sandbox)
    const born = world.time.read().wall
    const held = a.use(sandbox, "k", () => end.promise)
    await world.time.advance(5000)
    const waiting = b.use(sandbox, "k", () => {})
    await world.time.advance(7000)
    const [owned] = insideOf(a).sandboxes
    const [other] = insideOf(b).sandboxes
    expect(owned).toMatchObject({ name: "counter", key: "k", lockKey: "counter/k", stuck: undefined, callers: 0 })
    expect(owned!.snapshot.value).toHaveProperty("handingOff")
    expect([owned!.ownedSince, owned!.waiterId]).toEqual([born, "b"])
    expect(owned!.since).toBeGreaterThanOrEqual(born + 5000)
    expect(owned!.lease?.isHeld()).toBe(true)
    expect(other!.snapshot.value).toEqual({ waiting: "watching" })
    expect([other!.ownedSince, other!.lease, other!.callers, other!.owner?.ownerId]).toEqual([
      undefined,
      undefined,
      1,
      "a",
    ])
    expect(insideOf(b).find("counter/k")?.key).toBe("k")
    expect(insideOf(b).find("counter/none")).toBeUndefined()
    end.resolve()
    await world.run(Promise.all([held, waiting]))
    expect(insideOf(b).find("counter/k")?.ownedSince).toBeGreaterThan(born)
    await world.end()
  })

  it("names the hook that goes on past its limit", async () => {
    const world = new World()
    const end = gate()
    const sandbox = counter({ close: () => end.promise })
    const manager = await world.manager("a", sandbox)
    const handle = await world.run(manager.restoreSandbox(sandbox, "k"))
    void handle.release()
    await world.time.advance(15_000)
    const [shown] = insideOf(manager).sandboxes
    expect(shown).toMatchObject({ stuck: "close", overrun: { hook: "close", option: "closeWithin" } })
    end.resolve()
    await world.end()
  })

  it("saves a sandbox and lets it go, as it is asked", async () => {
    const world = new World()
    const sandbox = counter()
    const manager = await world.manager("a", sandbox)
    await world.run(manager.use(sandbox, "k", (state) => void (state.n = 7)))
    const shown = insideOf(manager).find("counter/k")!
    await world.run(shown.checkpoint())
    expect(await world.saved(sandbox, "k")).toEqual({ n: 7 })
    expect(await world.run(shown.release())).toBe("released")
    expect(insideOf(manager).find("counter/k")).toBeUndefined()
    expect(await failure(shown.checkpoint())).toBeInstanceOf(LockNotHeldError)
    await world.end()
  })

  it("tells by how much the clock is ahead of the store's, and nothing where nobody told of late", async () => {
    const world = new World()
    const sandbox = counter()
    const host = world.host("a")
    const manager = await world.manager("a", sandbox, { clock: host })
    expect(insideOf(manager).clockOffset).toBeNull()
    await world.run(manager.use(sandbox, "k", () => {}))
    host.stepWall(400)
    await world.time.advance(15_000)
    expect(insideOf(manager).clockOffset).toBe(400)
    await world.end()
  })
})

describe("what the store says of a key", () => {
  it("is the record with its generation: owner, waiter and line", async () => {
    const world = new World()
    const sandbox = counter()
    const end = gate()
    const ids = ["a", "b", "c"]
    for (const id of ids) await world.manager(id, sandbox)
    const { managers } = world
    expect(await world.run(insideOf(managers[0]!).read("counter/k"))).toBeNull()
    const uses = [managers[0]!.use(sandbox, "k", () => end.promise)]
    for (const manager of managers.slice(1)) {
      await world.time.advance(1000)
      uses.push(manager.use(sandbox, "k", () => Promise.resolve()))
    }
    await world.time.advance(5000)
    const record = await world.run(insideOf(managers[2]!).read("counter/k"))
    expect(record).toMatchObject({ owner: { ownerId: "a" }, waiterId: "b", line: ["c"], quiet: [] })
    expect(record).toMatchObject({ storeTime: world.time.read().wall, at: world.time.read().wall })
    expect(record!.generation).toMatch(/^\d+$/)
    end.resolve()
    await world.run(Promise.all(uses))
    await world.end()
  })

  it("is refused for what is no key, and where something else lies there", async () => {
    const world = new World()
    const inside = insideOf(await world.manager("a", counter()))
    expect(await world.failure(inside.read("a/../b"))).toBeInstanceOf(InvalidKeyError)
    const ref = { area: "leases", name: "odd" } as const
    await world.store.put(ref, ABSENT, new TextEncoder().encode("<script>"), { deadline: 1000 })
    expect(await world.failure(inside.read("odd"))).toBeInstanceOf(CorruptRecordError)
    await world.end()
  })

  it("is what a peek tells of locks that are made elsewhere", async () => {
    const world = new World()
    const { store, time } = world
    const lockFactory = (key: string): StoreLock => new StoreLock(key, { store, clock: time, incarnation: { id: "a" } })
    const checkpoints = memoryStore({ clock: time })
    const sandbox = counter()
    const overrides = { store: undefined, lockFactory, checkpoints } as unknown as Overrides
    const manager = await world.manager("a", sandbox, overrides)
    const inside = insideOf(manager)
    expect([inside.guard, inside.clockOffset, await world.run(inside.read("counter/k"))]).toEqual([null, null, null])
    await world.run(manager.use(sandbox, "k", () => {}))
    expect(await world.run(inside.read("counter/k"))).toMatchObject({ owner: { ownerId: "a" }, generation: undefined })
    await world.end()
  })
})

describe("the machine in a sandbox", () => {
  const machine = setup({}).createMachine({ id: "order", initial: "open", states: { open: {}, paid: {} } })

  async function shown(inspectState: (state: Count) => never): Promise<{ world: World; inspect: () => unknown }> {
    const world = new World()
    const sandbox = counter({ inspectState })
    const manager = await world.manager("a", sandbox)
    await world.run(manager.use(sandbox, "k", (state) => ++state.n))
    return { world, inspect: () => insideOf(manager).find("counter/k")!.inspect() }
  }

  // Tests inspector.
  it("is what the definition names, asked only when somebody looks", async () => {
    let asked = 0
    const { world, inspect } = await shown((state) => {
      asked++
      return { machine, value: state.n === 1 ? "open" : "paid" } as never
    })
    expect(asked).toBe(0)
    expect(inspect()).toEqual({ machine, value: "open" })
    expect(asked).toBe(1)
    await world.end()
  })

  it("is none where the definition names none, and none before there is a state", async () => {
    const world = new World()
    const end = gate()
    const sandbox = counter({ restore: () => end.promise.then(() => ({ n: 0 })), inspectState: () => raise("asked") })
    const manager = await world.manager("a", sandbox)
    const use = manager.use(sandbox, "k", () => {})
    await world.time.advance(1000)
    expect(insideOf(manager).find("counter/k")!.inspect()).toBeUndefined()
    end.resolve()
    await world.run(use)
    await world.end()
    const { world: other, inspect } = await shown(undefined as never)
    expect(inspect()).toBeUndefined()
    await other.end()
  })

  it("that throws, or is none, is told of once, shown as that, and harms nothing", async () => {
    const bad: readonly ((state: Count) => unknown)[] = [
      () => raise("hunter2"),
      () => undefined,
      () => Promise.resolve({ machine, value: "open" }),
      () => ({ machine: {}, value: "open" }),
      () => ({ machine, value: 7 }),
      () => "hunter2",
      () => ({ machine, value: { status: "active", context: { password: "hunter2" }, value: "open" } }),
      () => ({ machine, value: { open: { password: "hunter2" } } }),
      async () => raise("hunter2"), // Vitest fails where its rejection is nobody's
    ]
    for (const inspectState of bad) {
      const { world, inspect } = await shown(inspectState as never)
      for (const _look of [1, 2]) expect(inspect()).toMatchObject({ machine: null, error: {} })
      expect(JSON.stringify(inspect())).not.toContain("hunter2")
      expect(world.errors).toHaveLength(1)
      await world.end()
    }
  })

  it("has a state of regions and states within", async () => {
    const states = { one: { initial: "x", states: { x: {}, y: {} } }, two: {} }
    const parallel = setup({}).createMachine({ type: "parallel", states })
    const value = { one: "y", two: {} }
    const { world, inspect } = await shown(() => ({ machine: parallel, value }) as never)
    expect(inspect()).toEqual({ machine: parallel, value })
    await world.end()
  })
})

function raise(message: string): never {
  throw new Error(message)
}
