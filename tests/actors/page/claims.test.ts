/** What docs/sandboxes.md says beside its examples, where no other test pins it. */
import { CheckpointVersionError, defineSandbox, InvalidConfigError, memoryStore, SandboxManager } from "leasehold"
import { describe, expect, it } from "vitest"
import * as z from "zod"
import { counter, failure, gate, World } from "../world.ts"

describe("a use", () => {
  it("that throws leaves in the state what it had changed by then, and asks for no checkpoint", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const half = new Error("half")
    const use = a.use(
      sandbox,
      "k",
      (state) => {
        state.n = 7
        throw half
      },
      { durable: true },
    )
    expect(await world.failure(use)).toBe(half)
    expect(await world.run(a.use(sandbox, "k", ({ n }) => n))).toBe(7)
    expect(await world.saved(sandbox, "k")).toBeUndefined()
    await world.end()
  })

  it("past settleWithin is awaited by its caller until it ends; its sandbox is stuck meanwhile", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const ending = gate()
    const use = a.use(sandbox, "k", async (state) => {
      await ending.promise
      return ++state.n
    })
    await world.time.advance(10)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    const released = handle.release()
    await world.time.advance(10_001)
    expect(world.errors).toMatchObject([{ _tag: "HookOverrunError", hook: "use", option: "settleWithin" }])
    expect(a.stats()).toMatchObject({ stuck: 1 })
    expect(await released).toBe("unknown")
    ending.resolve()
    expect(await world.run(use)).toBe(1)
    expect(await world.run(handle.ended)).toEqual({ reason: "released" })
    expect(await world.saved(sandbox, "k")).toEqual({ n: 1 })
    await world.end()
  })

  it("in each of two sandboxes that waits for the other one ends by the budget of one", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const [one, two] = [gate(), gate()]
    const crossing = (own: string, other: string, mine: typeof one, theirs: typeof one) =>
      a.use(sandbox, own, async () => {
        mine.resolve()
        await theirs.promise
        return a.use(sandbox, other, () => other)
      })
    const [first, second] = await world.run(
      Promise.all([failure(crossing("1", "2", one, two)), crossing("2", "1", two, one)]),
    )
    expect(first).toMatchObject({ _tag: "LockTimeoutError", waitedMs: 30_000 })
    expect((first as Error).message).toMatch(/for the sandbox of counter\/2, where another turn of it goes on in this/)
    expect(second).toBe("1")
    await world.end()
  })
})

describe("older code", () => {
  const old = counter()
  const young = counter({ version: 2, migrate: (saved) => saved })

  it("is told by a refusal where the newer owner is, and may still list and find sandboxes", async () => {
    const world = new World()
    const a = await world.manager("a", old)
    const b = await world.manager("b", young, { address: "http://b" })
    await world.run(a.use(old, "k", (state) => ++state.n, { durable: true }))
    await world.run(b.use(young, "k", ({ n }) => n, { durable: true }))
    await world.time.advance(10)
    const refusal = { _tag: "CheckpointVersionError", owner: { address: "http://b" } }
    expect(await world.failure(a.use(old, "k", () => 0))).toMatchObject(refusal)
    expect(await world.failure(a.restoreSandbox(old, "k"))).toMatchObject(refusal)
    expect(await world.failure(a.remove(old, "k"))).toMatchObject(refusal)
    expect(await world.failure(a.readCheckpoint(old, "k"))).toBeInstanceOf(CheckpointVersionError)
    expect(await world.run(a.whereIs(old, "k"))).toMatchObject({ ownerId: "b", checkpointVersion: 2 })
    const keys: string[] = []
    for await (const key of a.list(old)) keys.push(key)
    expect(keys).toEqual(["k"])
    await world.end()
  })

  it("that wants a free key of newer state is refused, and waits longer before each next try", async () => {
    const world = new World()
    const a = await world.manager("a", old)
    const b = await world.manager("b", young)
    await world.run(b.use(young, "k", (state) => ++state.n))
    await world.run(b.drain())
    const took: number[] = []
    for (let tries = 0; tries < 3; tries++) {
      const refused = failure(a.use(old, "k", () => 0))
      took.push(await world.took(refused))
      expect(await refused).toBeInstanceOf(CheckpointVersionError)
    }
    expect(took[0]).toBe(0)
    expect(took[1]).toBeGreaterThan(400)
    expect(took[2]).toBeGreaterThan(900)
    expect(await world.run(a.whereIs(old, "k"))).toBeUndefined()
    await world.end()
  })

  it("whose waiting use is behind a handoff to newer code is refused", async () => {
    const world = new World()
    const a = await world.manager("a", old)
    const b = await world.manager("b", young)
    const ending = gate()
    const running = a.use(old, "k", () => ending.promise)
    await world.time.advance(10)
    const waiting = failure(a.use(old, "k", () => 0))
    const moved = b.use(young, "k", ({ n }) => n)
    await world.time.advance(1000)
    ending.resolve()
    await world.run(Promise.all([running, moved]))
    expect(await world.run(waiting)).toBeInstanceOf(CheckpointVersionError)
    await world.end()
  })

  it("may go on where newer code died before it had saved; newer code that leaves saves, changed or not", async () => {
    const world = new World()
    const a = await world.manager("a", old)
    const host = world.host("b")
    const b = await world.manager("b", young, { clock: host })
    await world.run(a.use(old, "k", (state) => ++state.n))
    await world.run(b.use(young, "k", ({ n }) => n))
    host.kill()
    await world.time.advance(60_000)
    expect(await world.run(a.use(old, "k", ({ n }) => n))).toBe(1)
    const c = await world.manager("c", young)
    const handle = await world.run(c.restoreSandbox(young, "k"))
    await world.run(handle.release())
    expect(await world.failure(a.readCheckpoint(old, "k"))).toMatchObject({ saved: 2 })
    world.managers.splice(world.managers.indexOf(b), 1)
    await world.end()
  })

  it("of the same version drops a field that its schema doesn't know", async () => {
    const world = new World()
    const define = (schema: z.ZodType<{ n: number; m?: number | undefined }>) =>
      defineSandbox({
        name: "counter",
        schema,
        restore: ({ checkpoint }) => checkpoint ?? { n: 0, m: 1 },
        checkpoint: (state) => state,
      })
    const before = define(z.object({ n: z.number() }))
    const after = define(z.object({ n: z.number(), m: z.number().optional() }))
    const a = await world.manager("a", before)
    const b = await world.manager("b", after)
    await world.run(b.use(after, "k", () => 0, { durable: true }))
    expect(await world.run(b.readCheckpoint(after, "k"))).toEqual({ n: 0, m: 1 })
    await world.run(a.use(before, "k", (state) => ++state.n, { durable: true }))
    expect(await world.run(b.readCheckpoint(after, "k"))).toEqual({ n: 1 })
    await world.end()
  })
})

it("a schema that refuses what it accepted before makes its state unreadable, and says so", async () => {
  const world = new World()
  const strict = defineSandbox({
    name: "counter",
    schema: z.object({ n: z.number().max(3) }),
    restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
    checkpoint: ({ n }) => ({ n }),
  })
  const loose = counter()
  const b = await world.manager("b", loose)
  await world.run(b.use(loose, "k", (state) => void (state.n = 5)))
  const c = await world.manager("c", strict)
  expect(await world.failure(c.use(strict, "k", () => 0))).toMatchObject({ _tag: "CorruptCheckpointError" })
  expect(await world.run(b.readCheckpoint(loose, "k"))).toEqual({ n: 5 })
  await world.end()
})

it("a manager with less time before SIGKILL than its work and its last checkpoint may take doesn't start", async () => {
  const start = (more: object) => SandboxManager.start({ store: memoryStore(), sandboxes: [counter()], ...more })
  await expect(start({ killGrace: "10 s" })).rejects.toBeInstanceOf(InvalidConfigError)
  await using manager = await start({ killGrace: "10 s", settleWithin: "4 s", checkpointWithin: "4 s" })
  expect(manager.stats()).toMatchObject({ owning: 0 })
})

it("a drain waits for no minTenure", async () => {
  const world = new World()
  const sandbox = counter()
  const a = await world.manager("a", sandbox, { minTenure: "1 min" })
  await world.run(a.use(sandbox, "k", (state) => ++state.n))
  expect(await world.took(a.drain())).toBeLessThan(1000)
  expect(await world.saved(sandbox, "k")).toEqual({ n: 1 })
  await world.end()
})
