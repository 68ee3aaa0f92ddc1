import { describe, expect, it } from "vitest"
import * as z from "zod"
import { CheckpointInvalidError, defineSandbox, NotDurableError } from "../../src/mod.ts"
import { failPut, hold, lateAnswer } from "../support/scripted-store.ts"
import { type Count, counter, failure, gate, World } from "./world.ts"

const head = /\/head$/

describe("durable uses", () => {
  it("are answered once a checkpoint with their effect is acknowledged", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    world.store.script.onPut({ ...lateAnswer(700), of: head })
    const use = handle.use((state) => ++state.n, { durable: true })
    expect(await world.took(use)).toBe(700)
    expect(await world.saved(sandbox, "k")).toEqual({ n: 1 })
    await world.end()
  })

  it("that end before the next write begins share it", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    const before = world.headWrites("k")
    world.store.script.onPut({ ...lateAnswer(100), of: head })
    const uses = Array.from({ length: 50 }, () => handle.use((state) => ++state.n, { durable: true }))
    expect((await world.run(Promise.all(uses))).at(-1)).toBe(50)
    expect(await world.saved(sandbox, "k")).toEqual({ n: 50 })
    expect(world.headWrites("k") - before).toBeLessThanOrEqual(2)
    await world.end()
  })

  it("don't hold up the uses after them while the store writes", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    world.store.script.onPut({ ...lateAnswer(5000), of: head })
    const durable = handle.use((state) => ++state.n, { durable: true })
    await world.time.advance(10)
    expect(await world.took(handle.use((state) => ++state.n))).toBe(0)
    await world.run(durable)
    expect(await world.saved(sandbox, "k")).toEqual({ n: 1 })
    await world.end()
  })

  it("never see a checkpoint of half a change: it waits for its own turn", async () => {
    const world = new World()
    const seen: number[] = []
    const sandbox = counter({
      checkpoint: ({ n }) => {
        seen.push(n)
        return { n }
      },
    })
    const a = await world.manager("a", sandbox)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    const change = async (state: { n: number }): Promise<void> => {
      state.n++
      await new Promise<void>((resolve) => world.time.after(100, resolve))
      state.n++
    }
    await world.run(Promise.all([1, 2, 3].map(() => handle.use(change, { durable: true }))))
    expect(seen.filter((n) => n % 2 === 1)).toEqual([])
    expect(seen.length).toBeGreaterThan(0)
    await world.end()
  })

  it("say NotDurableError, with the cause, when the store didn't take it: they ran", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox, { checkpointWithin: "2 s" })
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    world.store.script.onPut(...Array.from({ length: 100 }, () => ({ ...failPut(), of: head })))
    const error = await world.failure(handle.use((state) => ++state.n, { durable: true }))
    expect(error).toBeInstanceOf(NotDurableError)
    expect((error as Error).message).toMatch(
      /no checkpoint with its effect was acknowledged \((CheckpointUnknown|StoreUnavailable)Error\)\./,
    )
    expect((error as Error).cause).toMatchObject({ _tag: expect.stringMatching(/Unknown|StoreUnavailable/) })
    world.store.script.heal()
    expect(await world.run(handle.use((state) => ++state.n, { durable: true }))).toBe(2)
    expect(await world.saved(sandbox, "k")).toEqual({ n: 2 })
    await world.end()
  })

  it("reject with what fn throws, and write nothing for that", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    const before = world.headWrites("k")
    const broken = new Error("as scripted")
    const use = handle.use(
      () => {
        throw broken
      },
      { durable: true },
    )
    expect(await world.failure(use)).toBe(broken)
    expect(world.headWrites("k")).toBe(before)
    await world.end()
  })

  it("that end when a handoff begins are answered by its last checkpoint", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const b = await world.manager("b", sandbox)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    const going = gate()
    const use = handle.use(
      async (state) => {
        await going.promise
        return ++state.n
      },
      { durable: true },
    )
    const there = b.use(sandbox, "k", ({ n }) => n)
    await world.time.advance(3000)
    going.resolve()
    expect(await world.run(use)).toBe(1)
    expect(await world.run(there)).toBe(1)
    await world.end()
  })

  // Tests rule 18: A commit in flight is resolved before the final one.
  it("wait for a commit that is in flight when the handoff starts, before the last one is made", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const b = await world.manager("b", sandbox)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    const held = hold()
    world.store.script.onPut({ ...held, of: head })
    const durable = handle.use((state) => ++state.n, { durable: true })
    await world.run(held.arrived)
    await world.run(handle.use((state) => ++state.n))
    const there = b.use(sandbox, "k", ({ n }) => n)
    await world.time.advance(3000)
    expect(a.stats()).toMatchObject({ handingOff: 1 })
    held.answer()
    expect(await world.run(durable)).toBe(1)
    expect(await world.run(there)).toBe(2)
    await world.end()
  })
})

describe("a durable use that still waits for its checkpoint", () => {
  /** One checkpoint is being written, and another is asked for. */
  const twoUses = async (world: World, hooks: Parameters<typeof counter>[0]) => {
    const sandbox = counter(hooks)
    const a = await world.manager("a", sandbox)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    const held = hold()
    world.store.script.onPut({ ...held, of: head })
    const first = handle.use((state) => ++state.n, { durable: true }).catch((error: unknown) => error)
    await world.run(held.arrived)
    const second = failure(handle.use((state) => ++state.n, { durable: true }))
    await world.time.advance(10)
    return { sandbox, a, handle, held, first, second }
  }

  it("when the sandbox is removed isn't answered, and what it asked for doesn't follow the tombstone", async () => {
    const world = new World()
    const slow = (): Promise<void> => new Promise((resolve) => void world.time.after(500, resolve))
    const hooks = { checkpoint: async ({ n }: Count) => (await slow(), { n }), close: slow }
    const { sandbox, a, held, second } = await twoUses(world, hooks)
    const removed = a.remove(sandbox, "k")
    await world.time.advance(10)
    held.answer()
    await world.run(removed)
    expect(await world.run(second)).toBeInstanceOf(NotDurableError)
    await world.time.advance(2000)
    expect(await world.saved(sandbox, "k")).toBeUndefined()
    await world.end()
  })

  it("when run fails isn't answered: no checkpoint of a state that is being closed replaces the last one", async () => {
    const world = new World()
    const running = gate()
    const { sandbox, handle, held, first, second } = await twoUses(world, {
      run: () => running.promise,
      close: async (state) => {
        state.n = -1
        await new Promise<void>((resolve) => void world.time.after(1000, resolve))
      },
    })
    running.reject(new Error("as scripted"))
    await world.time.advance(10)
    held.answer()
    expect(await world.run(handle.ended)).toMatchObject({ reason: "failed" })
    expect(await world.run(second)).toBeInstanceOf(NotDurableError)
    expect(await world.run(first)).toBeInstanceOf(NotDurableError)
    expect(await world.saved(sandbox, "k")).toEqual({ n: 1 })
    await world.end()
  })
})

describe("checkpoints", () => {
  // Tests chart: A caller is answered only by a checkpoint that was begun after the call.
  it("that run asks for while one is being taken are of what it has done by then", async () => {
    const world = new World()
    const begun = gate()
    const saved: unknown[] = []
    const sandbox = counter({
      checkpoint: async ({ n }) => {
        begun.resolve()
        await new Promise<void>((resolve) => void world.time.after(100, resolve))
        return { n }
      },
      run: async (state, { checkpoint }) => {
        await begun.promise
        state.n = 2
        await checkpoint()
        saved.push(await a.readCheckpoint(sandbox, "k"))
      },
    })
    const a = await world.manager("a", sandbox)
    await world.run(a.use(sandbox, "k", (state) => void (state.n = 1), { durable: true }))
    await world.time.advance(1000)
    expect(saved).toEqual([{ n: 2 }])
    await world.end()
  })

  it("are made every checkpointEvery, and not written where nothing has changed", async () => {
    const world = new World()
    const reasons: string[] = []
    const sandbox = counter({
      checkpointEvery: "10 s",
      checkpoint: ({ n }, { reason }) => {
        reasons.push(reason)
        return { n }
      },
    })
    const a = await world.manager("a", sandbox)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    await world.run(handle.use((state) => void (state.n = 5)))
    await world.time.advance(35_000)
    expect(reasons).toEqual(["periodic", "periodic", "periodic"])
    expect(await world.saved(sandbox, "k")).toEqual({ n: 5 })
    expect(world.headWrites("k")).toBe(2) // the claim, and the one that had something to say
    await world.end()
  })

  it("that fail on the way are reported, and the sandbox goes on", async () => {
    const world = new World()
    const sandbox = counter({ checkpointEvery: "10 s" })
    const a = await world.manager("a", sandbox, { checkpointWithin: "1 s" })
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    await world.run(handle.use((state) => void (state.n = 5)))
    world.store.script.onPut(...Array.from({ length: 100 }, () => ({ ...failPut(), of: head })))
    await world.time.advance(12_000)
    expect(world.errors).toHaveLength(1)
    world.store.script.heal()
    expect(await world.run(handle.use((state) => ++state.n))).toBe(6)
    await world.time.advance(12_000)
    expect(await world.saved(sandbox, "k")).toEqual({ n: 6 })
    await world.end()
  })

  it("are made when asked for: by the manager, the handle, and from inside run", async () => {
    const world = new World()
    const sandbox = counter({
      run: async (state, { turn, checkpoint }) => {
        await turn(() => void (state.n = 1))
        await checkpoint()
      },
    })
    const a = await world.manager("a", sandbox)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    await world.time.advance(10)
    expect(await world.saved(sandbox, "k")).toEqual({ n: 1 })
    await world.run(handle.use((state) => void (state.n = 2)))
    await world.run(handle.checkpoint())
    expect(await world.saved(sandbox, "k")).toEqual({ n: 2 })
    await world.run(handle.use((state) => void (state.n = 3)))
    await world.run(a.checkpointSandbox(sandbox, "k"))
    expect(await world.saved(sandbox, "k")).toEqual({ n: 3 })
    expect(await world.failure(a.checkpointSandbox(sandbox, "elsewhere"))).toMatchObject({ _tag: "LockNotHeldError" })
    await world.end()
  })

  it("are what the schema's input side says, and restore gets its output side", async () => {
    const world = new World()
    const restored: unknown[] = []
    const dated = defineSandbox({
      name: "dated",
      schema: z.object({ at: z.string().transform((text) => new Date(text)) }),
      restore: ({ checkpoint }) => {
        restored.push(checkpoint)
        return { at: checkpoint?.at ?? new Date(0) }
      },
      checkpoint: ({ at }) => ({ at: at.toISOString() }),
    })
    const a = await world.manager("a", dated)
    const day = new Date("2026-01-02T03:04:05.000Z")
    await world.run(a.use(dated, "k", (state) => void (state.at = day), { durable: true }))
    expect(await world.run(a.readCheckpoint(dated, "k"))).toEqual({ at: day.toISOString() })
    const handle = await world.run(a.restoreSandbox(dated, "k"))
    await world.run(handle.release())
    await world.run(a.restoreSandbox(dated, "k"))
    expect(restored).toEqual([undefined, { at: day }])
    await world.end()
  })

  it("that the schema refuses are never stored; the use that wanted it durable is told", async () => {
    const world = new World()
    const positive = defineSandbox({
      name: "positive",
      schema: z.object({ n: z.number().positive() }),
      restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 1 }),
      checkpoint: ({ n }) => ({ n }),
    })
    const a = await world.manager("a", positive)
    const handle = await world.run(a.restoreSandbox(positive, "k"))
    await world.run(handle.checkpoint())
    const error = await world.failure(handle.use((state) => void (state.n = -1), { durable: true }))
    expect(error).toBeInstanceOf(NotDurableError)
    expect((error as Error).message).toContain(
      "no checkpoint with its effect was acknowledged (CheckpointInvalidError).",
    )
    expect((error as Error).cause).toBeInstanceOf(CheckpointInvalidError)
    expect(await world.run(a.readCheckpoint(positive, "k"))).toEqual({ n: 1 })
    await world.run(handle.release())
    expect(await handle.ended).toMatchObject({ reason: "failed", error: { _tag: "CheckpointInvalidError" } })
    await world.end()
  })
})
