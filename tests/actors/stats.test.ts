// What a manager counts of its locks, whoever makes them.
import { describe, expect, it } from "vitest"
import { memoryStore, SandboxManager, StoreLock } from "../../src/mod.ts"
import { VirtualTime } from "../../src/runtime/virtual-time.ts"
import { counter, World } from "./world.ts"

describe("the counters of a manager", () => {
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
