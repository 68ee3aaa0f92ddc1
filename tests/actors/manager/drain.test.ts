import { describe, expect, it, vi } from "vitest"
import { encodeName } from "../../../src/locks/api/keys.ts"
import { HandingOffError, LockError, ManagerClosedError, StatesUnsavedError } from "../../../src/mod.ts"
import { lateAnswer, loseRequest } from "../../support/scripted-store.ts"
import { counter, failure, gate, World } from "../world.ts"

describe("a manager that is to end", () => {
  it("drains: every sandbox is saved and released, and none is taken in any more", async () => {
    const world = new World()
    const reasons: string[] = []
    const sandbox = counter({ close: (_state, { reason }) => void reasons.push(reason) })
    const a = await world.manager("a", sandbox)
    for (const key of ["x", "y", "z"]) await world.run(a.use(sandbox, key, (state) => (state.n = 3)))
    const handle = await world.run(a.restoreSandbox(sandbox, "x"))
    expect(await world.run(a.drain({ grace: "20 s" }))).toEqual({ stuck: [] })
    expect(await handle.ended).toEqual({ reason: "drain" })
    expect(reasons).toEqual(["drain", "drain", "drain"])
    for (const key of ["x", "y", "z"]) expect(await world.saved(sandbox, key)).toEqual({ n: 3 })
    expect(await world.failure(a.use(sandbox, "x", () => 0))).toMatchObject({ state: "draining" })
    expect([...a.sandboxes()]).toEqual([])
    await world.end()
  })

  // Tests stores: A drain waits, within its grace, until no mark of a wait that it cancelled is left.
  it("settles once no mark of a wait that it cancelled is left, within its grace", async () => {
    const ref = { area: "leases", name: encodeName("counter/k") } as const
    for (const [lost, grace, waiter] of [
      [2, "25 s", null],
      [1000, "12 s", "b"],
    ] as const) {
      const world = new World()
      const sandbox = counter()
      const a = await world.manager("a", sandbox, { minTenure: "5 min" })
      await world.run(a.restoreSandbox(sandbox, "k"))
      const wire = world.wire()
      const b = await world.manager("b", sandbox, { store: wire, checkpoints: wire })
      const waiting = failure(b.restoreSandbox(sandbox, "k", { whenOwned: "request", timeout: "5 min" }))
      await world.time.advance(100)
      wire.script.onPut(...Array.from({ length: lost }, loseRequest))
      const from = world.time.mono()
      const drained = b.drain({ grace })
      expect(await world.run(waiting)).toBeInstanceOf(HandingOffError)
      await world.run(drained)
      expect(world.time.mono() - from).toBeLessThanOrEqual(25_000)
      const read = await world.store.read(ref, { limit: 65_536, deadline: 1000 })
      const record = JSON.parse(new TextDecoder().decode((read as { body: Uint8Array }).body)) as object
      expect(record).toMatchObject({ waitingOwnerId: waiter })
      wire.script.heal()
      await world.end()
    }
  })

  it("refuses at once what comes during the drain", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const going = gate()
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    const use = handle.use(() => going.promise)
    const drained = a.drain()
    expect(await world.failure(a.use(sandbox, "k", () => "never"))).toBeInstanceOf(ManagerClosedError)
    expect(await world.failure(a.restoreSandbox(sandbox, "other"))).toBeInstanceOf(ManagerClosedError)
    expect(await world.failure(handle.use(() => "never"))).toMatchObject({
      code: "LEASEHOLD_HANDING_OFF",
      next: expect.stringContaining("Ask another process"),
    })
    going.resolve()
    await world.run(Promise.all([use, drained]))
    await world.end()
  })

  it("cordoned takes no new sandbox in, and lets the ones it has go on", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    await world.run(a.use(sandbox, "k", (state) => ++state.n))
    a.cordon()
    expect(await world.run(a.use(sandbox, "k", (state) => ++state.n))).toBe(2)
    const error = await world.failure(a.use(sandbox, "new", () => 0))
    expect(error).toBeInstanceOf(ManagerClosedError)
    expect(error).toMatchObject({ state: "cordoned", key: "counter/new" })
    await world.end()
  })

  it("calls off the acquires that are on their way, leaving no mark behind", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const b = await world.manager("b", sandbox, { minTenure: "10 min" })
    const held = await world.run(b.restoreSandbox(sandbox, "k"))
    const waiting = failure(a.restoreSandbox(sandbox, "k"))
    await world.time.advance(1000)
    expect(a.stats()).toMatchObject({ waiting: 1 })
    expect(await world.run(a.drain())).toEqual({ stuck: [] })
    expect(await waiting).toBeInstanceOf(HandingOffError)
    await world.time.advance(5000)
    const where = await world.run(b.whereIs(sandbox, "k"))
    expect(where).toMatchObject({ ownerId: "b", here: true })
    expect(where).not.toHaveProperty("waiterId")
    expect(held.lease.isHeld()).toBe(true)
    await world.end()
  })

  it("is disposed only when what is left of old checkpoints is deleted, too", async () => {
    const world = new World()
    const sandbox = counter({ checkpoint: ({ n }) => ({ n, text: String(n).repeat(50_000) }) })
    const a = await world.manager("a", sandbox, { keepCheckpoints: 0 })
    await world.run(a.use(sandbox, "k", (state) => ++state.n, { durable: true }))
    world.store.script.onRemove(lateAnswer(3000))
    await world.run(a.use(sandbox, "k", (state) => ++state.n, { durable: true }))
    const took = await world.took(a[Symbol.asyncDispose]())
    expect(took).toBeGreaterThan(2000)
    expect(world.store.script.pending).toBe(0)
    expect(world.time.pendingTimers).toBe(0)
    await world.end()
  })

  it("completes events$ when it is disposed, and can be disposed again", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    let completed = 0
    a.events$.subscribe({ complete: () => completed++ })
    await world.run(a.use(sandbox, "k", () => 0))
    await world.run(a[Symbol.asyncDispose]())
    await world.run(a[Symbol.asyncDispose]())
    expect(completed).toBe(1)
    expect(await world.failure(a.restoreSandbox(sandbox, "k"))).toMatchObject({ state: "closed" })
    await world.end()
  })

  // Tests load: A drain's one error counts the unsaved states and names the first keys; `onError` tells each once.
  it("says in one error of how many sandboxes the last state couldn't be saved, and of each once by onError", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox, { checkpointWithin: "2 s" })
    const keys = Array.from({ length: 14 }, (_, index) => `k${index}`)
    for (const key of keys) await world.run(a.use(sandbox, key, (state) => ++state.n))
    for (let lost = 0; lost < 1000; lost++) world.store.script.onPut({ before: "lost", of: /k(\d|1[01])\/head$/ })
    const { stuck, error } = await world.run(a.drain({ grace: "20 s" }))
    world.store.script.heal()
    expect(stuck).toEqual([])
    expect(error).toBeInstanceOf(StatesUnsavedError)
    expect(error).toMatchObject({ count: 12, code: "LEASEHOLD_UNSAVED" })
    expect(error!.keys).toEqual(keys.slice(0, 10).map((key) => `counter/${key}`))
    expect(error!.message).toContain("12 of 14 sandboxes")
    expect(error!.cause).toBeInstanceOf(LockError)
    expect(world.errors).toHaveLength(12)
    expect(await world.saved(sandbox, "k13")).toEqual({ n: 1 })
    await world.end()
  })

  it("says so too of those that are still to be saved when its grace is over", async () => {
    const world = new World()
    const going = gate()
    const sandbox = counter({ checkpoint: ({ n }) => going.promise.then(() => ({ n })) })
    const a = await world.manager("a", sandbox, { checkpointWithin: "8 s" })
    for (const key of ["x", "y"]) await world.run(a.use(sandbox, key, (state) => ++state.n))
    const { stuck, error } = await world.run(a.drain({ grace: "1 s" }))
    expect(stuck).toEqual(["counter/x", "counter/y"])
    expect(error).toMatchObject({ count: 2, keys: stuck })
    going.resolve()
    expect(await world.run(a.drain())).toEqual({ stuck: [] })
    expect(world.errors).toEqual([])
    await world.end()
  })

  it("without an onError tells of them once, on standard error", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox, { checkpointWithin: "2 s", onError: undefined } as never)
    for (const key of ["x", "y", "z"]) await world.run(a.use(sandbox, key, (state) => ++state.n))
    for (let lost = 0; lost < 1000; lost++) world.store.script.onPut({ before: "lost", of: /head$/ })
    const told: unknown[] = []
    using _console = vi.spyOn(console, "error").mockImplementation((...what: unknown[]) => void told.push(what.at(-1)))
    const { error } = await world.run(a.drain({ grace: "20 s" }))
    world.store.script.heal()
    expect(error).toMatchObject({ count: 3 })
    expect(told).toEqual([error])
    await world.end()
  })
})
