/** Calls that wait when a drain begins: they run, or are told to go elsewhere. */
import { describe, expect, it } from "vitest"
import { defineSandbox, HandingOffError, unchecked } from "../../../src/mod.ts"
import { counter, failure, gate, World } from "../world.ts"

/** What a call that waited rejects with: nothing of it ran, and another process may be asked at once. */
const moves = { code: "LEASEHOLD_HANDING_OFF", retryable: true, next: expect.stringContaining("Ask another process") }

describe("calls that wait when a drain begins", () => {
  // Tests chart: Uses that wait when a drain begins run first, or may be made at another process at once.
  it("run before the sandbox leaves, in their order, and those that are durable are stored", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    const going = gate()
    const first = handle.use(() => going.promise)
    const queued = Array.from({ length: 20 }, (_, index) =>
      a.use(sandbox, "k", (state) => ++state.n, { durable: index % 2 === 0 }),
    )
    await world.time.advance(100)
    const drained = a.drain({ grace: "20 s" })
    going.resolve()
    expect(await world.run(Promise.all(queued))).toEqual(queued.map((_, index) => index + 1))
    await world.run(first)
    expect(await world.run(drained)).toEqual({ stuck: [] })
    expect(await handle.ended).toEqual({ reason: "drain" })
    expect(await world.saved(sandbox, "k")).toEqual({ n: 20 })
    expect(world.errors).toEqual([])
    await world.end()
  })

  it("run where they are calls by name, too", async () => {
    const world = new World()
    const sandbox = defineSandbox({
      name: "counter",
      schema: unchecked<{ n: number }>(),
      restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
      checkpoint: ({ n }) => ({ n }),
      calls: { add: { durable: true, handle: (state) => ++state.n } },
    })
    const a = await world.manager("a", sandbox)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    const going = gate()
    const first = handle.use(() => going.promise)
    const call = a.call(sandbox, "k", "add", undefined)
    await world.time.advance(100)
    const drained = a.drain()
    going.resolve()
    expect(await world.run(call)).toBe(1)
    await world.run(Promise.all([first, drained]))
    await world.end()
  })

  // Tests chart: Uses that wait when a drain begins run first, or may be made at another process at once.
  it("are told to go elsewhere where their turn doesn't come within half the time that work has to end", async () => {
    for (const [settleWithin, grace, at] of [
      ["10 s", "30 s", 5000],
      ["10 s", "4 s", 2000],
      ["3 s", "30 s", 1500],
    ] as const) {
      const world = new World()
      const sandbox = counter()
      const a = await world.manager("a", sandbox, { settleWithin })
      const handle = await world.run(a.restoreSandbox(sandbox, "k"))
      const going = gate()
      const first = handle.use(() => going.promise)
      let ran = 0
      const queued = [
        failure(a.use(sandbox, "k", () => ran++)),
        failure(a.use(sandbox, "k", () => ran++, { contention: "fail" })),
        failure(handle.use(() => ran++)),
      ]
      await world.time.advance(100)
      const from = world.time.mono()
      const drained = a.drain({ grace })
      for (const error of await world.run(Promise.all(queued))) expect(error).toMatchObject(moves)
      expect(world.time.mono() - from).toBe(at)
      going.resolve()
      await world.run(first)
      expect(await world.run(drained)).toEqual({ stuck: [] })
      expect(ran).toBe(0)
      await world.end()
    }
  })

  it("keep the time that their work has to end: the last one that began is stuck after all of it", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox, { settleWithin: "10 s" })
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    const [first, second] = [gate(), gate()]
    const uses = [handle.use(() => first.promise), handle.use(() => second.promise)]
    await world.time.advance(100)
    const drained = a.drain()
    await world.time.advance(4900)
    first.resolve()
    await world.time.advance(5000)
    expect(world.errors).toEqual([])
    await world.time.advance(200)
    expect(world.errors).toMatchObject([{ code: "LEASEHOLD_HOOK_OVERRUN" }])
    second.resolve()
    await world.run(Promise.all(uses))
    expect(await world.run(drained)).toEqual({ stuck: [] })
    await world.end()
  })

  it("are told to go elsewhere while the sandbox is being restored, or another process has it", async () => {
    const world = new World()
    const restored = gate()
    const sandbox = counter({ restore: () => restored.promise.then(() => ({ n: 0 })) })
    const other = counter()
    const a = await world.manager("a", sandbox)
    const b = await world.manager("b", other, { minTenure: "10 min" })
    await world.run(b.restoreSandbox(other, "theirs"))
    const waiting = [
      failure(a.use(sandbox, "mine", () => 0)),
      failure(a.restoreSandbox(sandbox, "mine")),
      failure(a.use(sandbox, "theirs", () => 0)),
      failure(a.remove(sandbox, "theirs")),
    ]
    await world.time.advance(1000)
    const drained = a.drain()
    restored.resolve()
    for (const error of await world.run(Promise.all(waiting))) expect(error).toMatchObject(moves)
    expect(await world.run(drained)).toEqual({ stuck: [] })
    await world.end()
  })

  it("are told to go elsewhere where they waited to have it back from another process", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const b = await world.manager("b", sandbox)
    const going = gate()
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    const first = handle.use(() => going.promise)
    const there = b.use(sandbox, "k", (state) => ++state.n)
    await world.time.advance(1000) // the handoff has begun, and waits for the first use
    const back = failure(a.use(sandbox, "k", (state) => ++state.n))
    await world.time.advance(1000)
    const drained = a.drain()
    going.resolve()
    expect(await world.run(back)).toMatchObject(moves)
    expect(await world.run(there)).toBe(1)
    await world.run(Promise.all([first, drained]))
    await world.end()
  })

  it("are rejected where the lease is lost meanwhile", async () => {
    const world = new World()
    const wire = world.wire()
    const sandbox = counter()
    const a = await world.manager("a", sandbox, { store: wire, checkpoints: wire, ttl: "6 s", settleWithin: "16 s" })
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    const going = gate()
    const first = failure(handle.use(() => going.promise))
    const queued = failure(a.use(sandbox, "k", (state) => ++state.n))
    await world.time.advance(100)
    for (let request = 0; request < 500; request++) wire.script.onPut({ before: "lost" })
    const drained = a.drain({ grace: "25 s" })
    const error = await world.run(queued)
    expect(error).toBeInstanceOf(HandingOffError)
    going.resolve()
    await world.run(first)
    await world.run(drained)
    wire.script.heal()
    await world.end()
  })
})
