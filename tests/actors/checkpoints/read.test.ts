import { describe, expect, it } from "vitest"
import { formatHead } from "../../../src/actors/checkpoints/head/head.ts"
import { listHeads } from "../../../src/actors/checkpoints/listing.ts"
import { headRef } from "../../../src/actors/checkpoints/objects/names.ts"
import { type ReadFrom, readCheckpointBytes, readHead } from "../../../src/actors/checkpoints/read.ts"
import {
  CorruptCheckpointError,
  LockCancelledError,
  StoreMisconfiguredError,
  StoreUnavailableError,
} from "../../../src/locks/api/errors.ts"
import { sandboxLockKey } from "../../../src/locks/api/keys.ts"
import type { CheckpointStore } from "../../../src/locks/stores/port.ts"
import { failRead, hold } from "../../support/scripted-store.ts"
import { bytesOf, failureOf, large, lockKey, textOf, World } from "./world.ts"

const from = (world: World, more: Partial<ReadFrom> = {}): ReadFrom => ({
  store: world.store,
  clock: world.time,
  budget: 10_000,
  ...more,
})

const collect = async <A>(items: AsyncIterable<A>): Promise<A[]> => {
  const all: A[] = []
  for await (const item of items) all.push(item)
  return all
}

describe("reading without a lease", () => {
  it("gives nothing before the first commit and after a removal", async () => {
    const world = new World()
    expect(await readHead(from(world), { lockKey })).toBeUndefined()
    expect(await readCheckpointBytes(from(world), { lockKey })).toBeUndefined()
    const owner = await world.claimed(100)
    expect((await readHead(from(world), { lockKey }))?.token).toBe(100)
    expect(await readCheckpointBytes(from(world), { lockKey })).toBeUndefined()
    await world.commit(owner, "x")
    await world.time.runUntil(owner.writer.remove({ budget: 30_000 }))
    expect(await readCheckpointBytes(from(world), { lockKey })).toBeUndefined()
  })

  it("gives small and large states with their version, and changes nothing", async () => {
    const world = new World()
    const owner = await world.claimed(100, { version: 4 })
    for (const bytes of [bytesOf("small"), large(1)]) {
      await world.commit(owner, bytes)
      const head = await world.head()
      expect(await readCheckpointBytes(from(world), { lockKey, type: "counter" })).toEqual({ bytes, version: 4 })
      expect(await world.head()).toEqual(head)
    }
  })

  // Tests rule 17: Missing or damaged content of an unchanged head is CorruptCheckpointError, never an empty start.
  it("follows the head when its content goes away under it", async () => {
    const world = new World()
    const owner = await world.claimed(100, { keepCheckpoints: 0 })
    await world.commit(owner, large(1))
    const held = hold()
    world.store.script.onRead({ ...held, of: /\/100-/ })
    const read = readCheckpointBytes(from(world), { lockKey })
    await world.time.runUntil(held.arrived)
    await world.commit(owner, large(2))
    await world.time.runUntil(owner.writer.close())
    held.answer()
    expect((await world.time.runUntil(read))?.bytes).toEqual(large(2))
  })

  // Tests chart: Missing content counts only where the store itself, not a cache, still names it.
  it("calls no state corrupt for a head that a cache kept, whose content is gone since", async () => {
    const world = new World()
    const owner = await world.claimed(100, { keepCheckpoints: 0 })
    await world.commit(owner, large(1))
    const limit = 65_536
    const old = await world.time.runUntil(world.store.read(headRef(lockKey), { deadline: 1000, limit }))
    if (old.kind !== "found") throw new Error("there is no head")
    await world.commit(owner, large(2))
    await world.time.advance(1000)
    const { storeTime: _none, ...cached } = old
    const stale = { instead: cached, of: /head$/ }
    world.store.script.onRead(stale, stale)
    const read = readCheckpointBytes(from(world), { lockKey })
    expect(await world.time.runUntil(read)).toEqual({ bytes: large(2), version: 1 })
    expect(world.store.script.pending).toBe(0)
  })

  it("tries again within its budget, and tells a store that is down from one that is misconfigured", async () => {
    const world = new World()
    await world.commit(await world.claimed(100), "x")
    world.store.script.onRead(failRead(), failRead())
    expect(textOf((await world.time.runUntil(readCheckpointBytes(from(world), { lockKey })))?.bytes)).toBe("x")
    world.store.script.onRead(...Array.from({ length: 30 }, () => failRead()))
    const down = failureOf(readHead(from(world, { budget: 3000 }), { lockKey }))
    expect(await world.time.runUntil(down)).toBeInstanceOf(StoreUnavailableError)
    world.store.script.heal()
    world.store.script.onRead(failRead(new StoreMisconfiguredError({ message: "no bucket", next: "make it" })))
    expect(await failureOf(readHead(from(world), { lockKey }))).toBeInstanceOf(StoreMisconfiguredError)
  })

  it("ends when its caller gives up", async () => {
    const world = new World()
    world.store.script.onRead(hold())
    const caller = new AbortController()
    const read = failureOf(readHead(from(world, { signal: caller.signal }), { lockKey }))
    caller.abort()
    expect(await read).toBeInstanceOf(LockCancelledError)
    expect(world.time.pendingTimers).toBe(0)
  })

  it("refuses another type's state", async () => {
    const world = new World()
    await world.claimed(100)
    expect(await failureOf(readHead(from(world), { lockKey, type: "timer" }))).toBeInstanceOf(CorruptCheckpointError)
  })
})

describe("listing", () => {
  const long = "k".repeat(400)

  /** Sandboxes of two definitions, one of them removed, with content between their heads. */
  const populated = async (): Promise<World> => {
    const world = new World()
    const keys = [
      ["counter", "a"],
      ["counter", "A/b %"],
      ["counter", long],
      ["counter", "removed"],
      ["counters", "not mine"],
      ["Counter", "not mine either"],
    ] as const
    for (const [type, key] of keys) {
      const owner = await world.claimed(100, { lockKey: sandboxLockKey(type, key), type })
      await world.commit(owner, large(1))
      if (key === "removed") await world.time.runUntil(owner.writer.remove({ budget: 30_000 }))
      await world.time.runUntil(owner.writer.close())
    }
    return world
  }

  it("gives the keys of one definition, long ones too, and leaves removed ones out", async () => {
    const world = await populated()
    expect((await collect(listHeads(from(world), "counter"))).sort()).toEqual(["A/b %", "a", long])
    expect(await collect(listHeads(from(world), "Counter"))).toEqual(["not mine either"])
    expect(await collect(listHeads(from(world), "nobody"))).toEqual([])
  })

  it("goes through all pages", async () => {
    const world = await populated()
    const keys = await collect(listHeads(from(world, { store: world.paged }), "counter"))
    expect(keys.sort()).toEqual(["A/b %", "a", long])
  })

  it("tells apart definitions whose names begin alike for longer than an object's name keeps", async () => {
    const world = new World()
    const types = ["1", "2"].map((end) => "d".repeat(150) + end)
    for (const type of types) await world.claimed(100, { lockKey: sandboxLockKey(type, type), type })
    for (const type of types) expect(await collect(listHeads(from(world), type))).toEqual([type])
  })

  it("leaves out a head that lies under another one's name", async () => {
    const world = new World()
    await world.claimed(100)
    const { name } = headRef(sandboxLockKey("counter", long))
    await world.store.put({ area: "state", name }, "0", formatHead(await world.head()), { deadline: 1000 })
    expect(await collect(listHeads(from(world), "counter"))).toEqual(["a"])
  })

  it.each([
    ["damaged", bytesOf("garbage")],
    ["too large", large(1)],
  ])("gives a sandbox whose head is %s, by its name", async (_what, body) => {
    const world = new World()
    await world.claimed(100)
    await world.force(() => body)
    expect(await collect(listHeads(from(world), "counter"))).toEqual(["a"])
  })

  it("says which head is damaged where only the head could tell the key", async () => {
    const world = new World()
    const ref = headRef(sandboxLockKey("counter", long))
    await world.store.put(ref, "0", bytesOf("garbage"), { deadline: 1000 })
    const error = await failureOf(collect(listHeads(from(world), "counter")))
    expect(error).toBeInstanceOf(CorruptCheckpointError)
    expect((error as Error).message).toContain(ref.name)
  })

  it("lists again where the store couldn't, and says when the store is set up wrong", async () => {
    const world = await populated()
    let failures = 2
    const failing: CheckpointStore = {
      ...world.paged,
      list: async (area, options) => {
        if (failures-- > 0) throw new StoreUnavailableError({ message: "no answer", next: "try again" })
        return world.store.list(area, options)
      },
    }
    const keys = await world.time.runUntil(collect(listHeads(from(world, { store: failing }), "counter")))
    expect(keys.sort()).toEqual(["A/b %", "a", long])
    world.store.script.onRead(failRead(new StoreMisconfiguredError({ message: "no permission", next: "grant it" })))
    const refused = failureOf(collect(listHeads(from(world), "counter")))
    expect(await world.time.runUntil(refused)).toBeInstanceOf(StoreMisconfiguredError)
  })

  it("ends when its caller gives up, and says when the store is down", async () => {
    const world = await populated()
    const caller = new AbortController()
    caller.abort()
    const cancelled = collect(listHeads(from(world, { signal: caller.signal }), "counter"))
    expect(await failureOf(cancelled)).toBeInstanceOf(LockCancelledError)
    world.store.script.onRead(...Array.from({ length: 50 }, () => failRead()))
    const down = failureOf(collect(listHeads(from(world, { budget: 2000 }), "counter")))
    expect(await world.time.runUntil(down)).toBeInstanceOf(StoreUnavailableError)
  })
})
