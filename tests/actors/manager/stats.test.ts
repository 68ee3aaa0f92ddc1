// What a manager counts of its locks, whoever makes them.
import { describe, expect, it } from "vitest"
import { memoryStore, SandboxManager, StoreLock } from "../../../src/mod.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"
import { counter, World } from "../world.ts"

describe("the counters of a manager", () => {
  // Tests providers: The counters count acquisitions, waits, contention, losses, renewals, and writes without room.
  it("are those of its locks: acquisitions, waits, renewals", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const b = await world.manager("b", sandbox)
    await world.run(a.use(sandbox, "k", (state) => ++state.n))
    await world.time.advance(25_000)
    await world.run(b.use(sandbox, "k", (state) => ++state.n))
    expect(a.stats()).toMatchObject({ acquisitions: 1, waits: 0, losses: 0, owning: 0 })
    expect(a.stats()["renewals"]).toBeGreaterThan(1)
    expect(b.stats()).toMatchObject({ acquisitions: 1, waits: 1, contention: 0, owning: 1 })
    await world.end()
  })

  it("are what events tell where a lockFactory makes the locks", async () => {
    const time = new VirtualTime()
    const store = memoryStore({ clock: time })
    const sandbox = counter()
    const manager = await time.runUntil(
      SandboxManager.start({
        lockFactory: (key) => new StoreLock(key, { store, clock: time, incarnation: { id: "a" } }),
        ...{ checkpoints: store, sandboxes: [sandbox], clock: time },
      }),
    )
    await time.runUntil(manager.use(sandbox, "k", (state) => ++state.n))
    await time.advance(25_000)
    expect(manager.stats()).toMatchObject({ acquisitions: 1, waits: 0, throttled: 0 })
    expect(manager.stats()["renewals"]).toBeGreaterThan(1)
    await time.runUntil(manager[Symbol.asyncDispose]())
  })
})

describe("what a manager has done", () => {
  const done = { checkpointsFailed: 0, restoresFailed: 0, usesFailed: 0, traceDropped: 0 }

  it("is counted: restores, uses, checkpoints with their bytes and times", async () => {
    const world = new World()
    const sandbox = counter({
      checkpoint: async ({ n }) => {
        await new Promise<void>((resolve) => void world.time.after(25.4, resolve))
        return { n }
      },
    })
    const manager = await world.manager("a", sandbox)
    expect(manager.stats()).toMatchObject({ ...done, restores: 0, uses: 0, checkpoints: 0, checkpointBytes: 0 })
    await world.run(manager.use(sandbox, "k", (state) => void (state.n = 10), { durable: true }))
    await world.run(manager.use(sandbox, "k", () => {}))
    expect(manager.stats()).toMatchObject({ ...done, restores: 1, uses: 2, checkpoints: 1, checkpointMs: 25 })
    expect(manager.stats()["checkpointBytes"]).toBe('{"n":10}'.length)
    await world.run(manager.checkpointSandbox(sandbox, "k"))
    expect(manager.stats()).toMatchObject({ checkpoints: 2, checkpointMs: 51, checkpointBytes: 16 })
    await world.end()
  })

  it("is counted where it failed too, each for itself", async () => {
    const world = new World()
    let isBroken = true
    const sandbox = counter({
      restore: () => (isBroken ? raise("restore") : { n: 1 }),
      checkpoint: () => raise("checkpoint"),
    })
    const manager = await world.manager("a", sandbox)
    await world.failure(manager.use(sandbox, "k", () => {}))
    isBroken = false
    await world.failure(manager.use(sandbox, "k", () => raise("use")))
    await world.failure(manager.use(sandbox, "k", () => {}, { durable: true }))
    const failed = { restoresFailed: 1, usesFailed: 1, checkpointsFailed: 1 }
    expect(manager.stats()).toMatchObject({ restores: 1, uses: 1, checkpoints: 0, checkpointBytes: 0, ...failed })
    await world.end()
  })

  it("has a checkpoint that the store didn't take among those that failed", async () => {
    const world = new World()
    const sandbox = counter()
    const manager = await world.manager("a", sandbox)
    await world.run(manager.use(sandbox, "k", (state) => ++state.n))
    for (let request = 0; request < 100; request++) world.store.script.onPut({ before: "lost" })
    await world.failure(manager.use(sandbox, "k", (state) => ++state.n, { durable: true }))
    expect(manager.stats()).toMatchObject({ checkpoints: 0, checkpointsFailed: 1, uses: 2 })
    await world.time.advance(120_000)
    await world.end()
  })

  it("is in whole numbers", async () => {
    const world = new World()
    const sandbox = counter()
    const manager = await world.manager("a", sandbox)
    await world.run(manager.use(sandbox, "k", (state) => ++state.n, { durable: true }))
    expect(Object.values(manager.stats()).every(Number.isInteger)).toBe(true)
    await world.end()
  })
})

function raise(message: string): never {
  throw new Error(message)
}
