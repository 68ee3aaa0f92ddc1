// Rule 17: content is there before a head names it, is deleted only when it is surely superseded, and is never missing
// silently.
import { describe, expect, it } from "vitest"
import { contentRef } from "../../../src/actors/checkpoints/objects/names.ts"
import {
  CheckpointRejectedError,
  CorruptCheckpointError,
  StoreUnavailableError,
} from "../../../src/locks/api/errors.ts"
import type { CheckpointStore, Generation } from "../../../src/locks/stores/port.ts"
import {
  failApplied,
  failPut,
  failRead,
  hold,
  loseAnswer,
  loseRequest,
  refuse,
  refuseApplied,
  scripted,
  throttle,
} from "../../support/scripted-store.ts"
import { failureOf, large, lockKey, type Owner, World } from "./world.ts"

const budget = 30_000

/** The content that the head names. */
const named = async (world: World): Promise<string> => {
  const { saved } = await world.head()
  return saved.state === "content" ? saved.content : saved.state
}

const generationOf = async (world: World, content: string): Promise<Generation> => {
  const answer = await world.store.read(contentRef(lockKey, content), { deadline: 1000, limit: 1e9 })
  return answer.kind === "found" ? answer.generation : "none"
}

const deleteContent = async (world: World, content: string): Promise<void> => {
  await world.store.remove(contentRef(lockKey, content), await generationOf(world, content), { deadline: 1000 })
}

const close = (world: World, { writer }: Owner): Promise<void> => world.time.runUntil(writer.close())

/** Content of token 100 that no head names: its owner died between the two writes. */
const orphaned = async (): Promise<{ world: World; orphan: string }> => {
  const world = new World()
  const former = await world.claimed(100)
  await world.commit(former, large(1))
  await world.commit(former, large(2))
  world.store.script.onPut({}, { ...loseRequest(), of: /head$/ })
  const sent = failureOf(former.writer.commit(large(3), { budget: 1000 }))
  await world.time.runUntil(sent)
  const { saved, kept } = await world.head()
  const known = [saved.state === "content" ? saved.content : "", ...kept.map(({ content }) => content)]
  const orphan = (await world.contents()).find((content) => !known.includes(content))
  return { world, orphan: orphan! }
}

describe("a large state", () => {
  // Tests rule 17: Content is there before a head names it, create-only.
  it("is put under a name of its own before the head names it", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    await world.commit(owner, large(1))
    const puts = world.store.script.requests.filter(({ op }) => op === "put").slice(1)
    expect(puts.map(({ name }) => name.endsWith("/head"))).toEqual([false, true])
    expect(puts[0]!.answeredAt).toBeLessThanOrEqual(puts[1]!.sentAt)
    expect(puts[0]!.expected).toBe("0")
    expect(await world.contents()).toEqual([await named(world)])
    expect((await world.claimed(200)).claimed.checkpoint).toEqual(large(1))
  })

  it("begins above 32 KiB; up to there a state costs one write", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    await world.commit(owner, large(1, 32 * 1024))
    expect((await world.head()).saved.state).toBe("inline")
    await world.commit(owner, large(1, 32 * 1024 + 1))
    expect((await world.head()).saved.state).toBe("content")
  })

  it("goes into an object where the head has no room for it beside what later releases keep there", async () => {
    const world = new World()
    await world.claimed(100)
    await world.force((head) => ({ ...head, notes: "x".repeat(30_000) }))
    const next = await world.claimed(200)
    await world.commit(next, large(1, 32 * 1024))
    expect((await world.head()).saved.state).toBe("content")
    await world.commit(next, large(2, 10_000))
    expect((await world.head()).saved.state).toBe("inline")
  })

  it.each([
    ["the answer is lost", loseAnswer()],
    ["the request is lost", loseRequest()],
    ["the store fails", failPut()],
    ["the store throttles", throttle()],
    ["its own first copy makes it refused", refuseApplied()],
  ])("is put again under the same name when %s", async (_what, fault) => {
    const world = new World()
    const owner = await world.claimed(100)
    world.store.script.onPut({ ...fault, of: /counter[^/]*\/\d/ })
    await world.commit(owner, large(1), 60_000)
    expect(await world.contents()).toEqual([await named(world)])
    expect(world.store.script.pending).toBe(0)
  })

  it("takes another name when something else has the first one", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    world.store.script.onPut({
      of: /\/100-/,
      before: 10,
      onSent: () => {
        const taken = world.store.script.requests.at(-1)!
        void world.store.put({ area: "state", name: taken.name }, "0", large(9), { deadline: 1000 })
      },
    })
    await world.commit(owner, large(1))
    expect((await world.claimed(200)).claimed.checkpoint).toEqual(large(1))
  })

  it("isn't named, and not stored, when it can't be put within the budget", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    await world.commit(owner, "small")
    world.store.script.onPut(...Array.from({ length: 50 }, () => failPut()))
    expect(await failureOf(world.commit(owner, large(1), 5000))).toBeInstanceOf(StoreUnavailableError)
    world.store.script.heal()
    expect(await world.head()).toMatchObject({ seq: 2, saved: { state: "inline" } })
  })

  // Tests rule 15: Content downloads beside the claim.
  it("downloads beside the claim", async () => {
    const world = new World()
    await world.commit(await world.claimed(100), large(1))
    const held = hold()
    world.store.script.onPut(refuse(), held)
    const next = world.owner(200)
    const claim = next.writer.claim({ lease: next.lease, budget })
    await world.time.runUntil(held.arrived)
    await world.time.advance(1)
    expect(world.contentRequests("read")).toBe(1)
    held.answer()
    expect((await world.time.runUntil(claim)).checkpoint).toEqual(large(1))
    expect(world.contentRequests("read")).toBe(1)
  })

  it("is read again while the store can't be read", async () => {
    const world = new World()
    await world.commit(await world.claimed(100), large(1))
    world.store.script.onRead({ ...failRead(), of: /\/100-/ }, { ...failRead(), of: /\/100-/ })
    expect((await world.claimed(200)).claimed.checkpoint).toEqual(large(1))
  })
})

describe("content that is gone or damaged", () => {
  // Tests rule 17: Missing or damaged content of an unchanged head is CorruptCheckpointError, never an empty start.
  it("makes a restore fail when the head still names it, and never start empty", async () => {
    const world = new World()
    await world.commit(await world.claimed(100), large(1))
    await deleteContent(world, await named(world))
    const before = world.headRequests.length
    expect(await failureOf(world.claimed(200))).toBeInstanceOf(CorruptCheckpointError)
    expect(world.headRequests.slice(before)).toEqual(["read found", "put applied", "read found"])
  })

  it.each([
    ["other bytes", large(2)],
    ["fewer bytes", large(1, 99_999)],
    ["more bytes", large(1, 100_001)],
  ])("makes a restore fail when it holds %s", async (_what, bytes) => {
    const world = new World()
    await world.commit(await world.claimed(100), large(1))
    const content = await named(world)
    await world.store.put(contentRef(lockKey, content), await generationOf(world, content), bytes, { deadline: 1000 })
    const error = await failureOf(world.claimed(200))
    expect(error).toBeInstanceOf(CorruptCheckpointError)
    expect((error as Error).message).toContain(content)
  })

  it("ends a restore as fenced when a later owner has moved the head on meanwhile", async () => {
    const world = new World()
    const former = await world.claimed(100, { keepCheckpoints: 0 })
    await world.commit(former, large(1))
    const held = hold()
    world.store.script.onRead({ ...held, of: /\/100-/ })
    const slow = world.owner(200)
    const claim = failureOf(slow.writer.claim({ lease: slow.lease, budget }))
    await world.time.runUntil(held.arrived)
    await world.time.advance(1)
    const next = await world.claimed(300, { keepCheckpoints: 0 })
    await world.commit(next, large(2))
    await close(world, next)
    held.answer()
    expect(await world.time.runUntil(claim)).toBeInstanceOf(CheckpointRejectedError)
  })
})

describe("older content", () => {
  // Tests rule 17: An owner deletes only content that an acknowledged head write superseded, keeping N.
  it.each([0, 1, 3])("is kept by count (%i), and the rest deleted after the write that superseded it", async (keep) => {
    const world = new World()
    const owner = await world.claimed(100, { keepCheckpoints: keep })
    for (const fill of [1, 2, 3, 4, 5, 6]) {
      await world.commit(owner, large(fill))
      const { saved, kept } = await world.head()
      expect(kept.length).toBe(Math.min(keep, fill - 1))
      expect(saved).toMatchObject({ state: "content" })
    }
    await close(world, owner)
    expect(world.contentRequests("remove")).toBe(5 - keep)
    const { kept } = await world.head()
    expect([...(await world.contents())].sort()).toEqual(
      [await named(world), ...kept.map(({ content }) => content)].sort(),
    )
  })

  it("is kept one deep by default", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    for (const fill of [1, 2, 3]) await world.commit(owner, large(fill))
    await close(world, owner)
    expect((await world.contents()).length).toBe(2)
  })

  it("of an earlier owner is deleted too, once this owner's write is acknowledged", async () => {
    const world = new World()
    await world.commit(await world.claimed(100, { keepCheckpoints: 0 }), large(1))
    const next = await world.claimed(200, { keepCheckpoints: 0 })
    const old = await named(world)
    expect(await world.contents()).toEqual([old])
    await world.commit(next, large(2))
    await close(world, next)
    expect(await world.contents()).toEqual([await named(world)])
  })

  it("isn't deleted before the head write that supersedes it is acknowledged", async () => {
    const world = new World()
    const owner = await world.claimed(100, { keepCheckpoints: 0 })
    await world.commit(owner, large(1))
    const old = await named(world)
    world.store.script.onPut({ ...failPut(), of: /head$/ }, { ...failPut(), of: /head$/ })
    world.store.script.onRead(...Array.from({ length: 9 }, () => failRead()))
    await failureOf(world.commit(owner, large(2), 2000))
    expect(await world.contents()).toContain(old)
    world.store.script.heal()
    expect((await world.claimed(200)).claimed.checkpoint).toEqual(large(1))
  })

  it("isn't deleted by an owner whose write was rejected", async () => {
    const world = new World()
    const former = await world.claimed(100, { keepCheckpoints: 0 })
    await world.commit(former, large(1))
    const old = await named(world)
    const next = await world.claimed(200)
    expect(await failureOf(world.commit(former, large(2)))).toBeInstanceOf(CheckpointRejectedError)
    await close(world, former)
    expect(await named(world)).toBe(old)
    expect(await world.contents()).toContain(old)
    expect(next.claimed.checkpoint).toEqual(large(1))
  })

  it("that couldn't be deleted is tried again after the next write", async () => {
    const world = new World()
    const owner = await world.claimed(100, { keepCheckpoints: 0 })
    await world.commit(owner, large(1))
    world.store.script.onRemove(...Array.from({ length: 50 }, () => failPut()))
    await world.commit(owner, large(2))
    await world.time.advance(20_000)
    world.store.script.heal()
    expect((await world.contents()).length).toBe(2)
    await world.commit(owner, large(3))
    await close(world, owner)
    expect(await world.contents()).toEqual([await named(world)])
  })

  it("that no head ever named goes with the next acknowledged write", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    world.store.script.onPut({ ...failApplied(), of: /\/100-/ }, ...Array.from({ length: 20 }, () => failPut()))
    world.store.script.onRead(...Array.from({ length: 20 }, () => failRead()))
    expect(await failureOf(world.commit(owner, large(1), 5000))).toBeInstanceOf(StoreUnavailableError)
    world.store.script.heal()
    expect((await world.contents()).length).toBe(1)
    await world.commit(owner, "small")
    await close(world, owner)
    expect(await world.contents()).toEqual([])
  })

  it("is the next owner's to delete where that one has claimed the write that superseded it", async () => {
    const world = new World()
    const store = scripted(world.store, world.time)
    const former = await world.claimed(100, { keepCheckpoints: 0, store })
    await world.commit(former, large(1))
    store.script.onPut({}, { ...loseAnswer(), of: /head$/ })
    const commit = former.writer.commit(large(2), { budget })
    await world.time.advance(1)
    const next = await world.claimed(200)
    world.store.script.onRemove(...Array.from({ length: 50 }, () => failPut()))
    for (const fill of [3, 4, 5]) await world.commit(next, large(fill))
    await world.time.runUntil(commit)
    await close(world, former)
    expect(store.script.requests.filter(({ op }) => op === "remove")).toEqual([])
  })

  it("gives way to small states as well", async () => {
    const world = new World()
    const owner = await world.claimed(100, { keepCheckpoints: 1 })
    await world.commit(owner, large(1))
    const one = await named(world)
    await world.commit(owner, "small")
    await world.commit(owner, "smaller")
    await close(world, owner)
    expect((await world.head()).kept.map(({ content }) => content)).toEqual([one])
    expect(await world.contents()).toEqual([one])
  })
})

describe("after an unclean takeover", () => {
  // Tests rule 17: An unclean takeover lists once and deletes older tokens' content that the head doesn't name.
  it("the next owner lists once, and deletes what earlier tokens left and the claimed head doesn't name", async () => {
    const { world, orphan } = await orphaned()
    expect((await world.contents()).length).toBe(3)
    const lists = (): number => world.store.script.requests.filter(({ op }) => op === "list").length
    const before = lists()
    const next = await world.claimed(200, { how: "takeover" })
    await close(world, next)
    expect(lists() - before).toBe(1)
    expect((await world.contents()).length).toBe(2)
    expect(await world.contents()).not.toContain(orphan)
    expect(next.claimed.checkpoint).toEqual(large(2))
  })

  it("the next owner goes through all pages of the list", async () => {
    const { world, orphan } = await orphaned()
    const next = await world.claimed(200, { how: "takeover", store: world.paged })
    await close(world, next)
    expect(await world.contents()).not.toContain(orphan)
    expect((await world.contents()).length).toBe(2)
  })

  it("that was only a record deleted by hand the same is done, but not for a sandbox without a head", async () => {
    const { world, orphan } = await orphaned()
    const next = await world.claimed(200, { how: "created" })
    await close(world, next)
    expect(await world.contents()).not.toContain(orphan)
    const fresh = new World()
    await close(fresh, await fresh.claimed(100, { how: "created" }))
    expect(fresh.store.script.requests.map(({ op }) => op)).toEqual(["read", "put"])
  })

  it("content of its own and of later tokens stays", async () => {
    const { world, orphan } = await orphaned()
    const later = { area: "state", name: contentRef(lockKey, "300-9-later").name } as const
    await world.store.put(later, "0", large(9), { deadline: 1000 })
    const next = await world.claimed(200, { how: "takeover" })
    await world.commit(next, large(4))
    await close(world, next)
    expect(await world.contents()).toContain("300-9-later")
    expect(await world.contents()).toContain(await named(world))
    expect(await world.contents()).not.toContain(orphan)
  })

  it.each(["free", "granted", "reserved"] as const)("only: nothing is listed when the key was %s", async (how) => {
    const { world, orphan } = await orphaned()
    const lists = world.store.script.requests.filter(({ op }) => op === "list").length
    const next = await world.claimed(200, { how })
    await close(world, next)
    expect(world.store.script.requests.filter(({ op }) => op === "list").length).toBe(lists)
    expect(await world.contents()).toContain(orphan)
  })

  it("a store that can't be listed is reported, and the owner runs all the same", async () => {
    const { world } = await orphaned()
    world.store.script.onList({ before: "lost" })
    const next = await world.claimed(200, { how: "takeover" })
    expect(next.claimed.checkpoint).toEqual(large(2))
    await close(world, next)
    expect(world.errors).toMatchObject([{ _tag: "StoreUnavailableError" }])
  })
})

describe("a store that never answers, against its contract,", () => {
  const never = <A>(): Promise<A> => new Promise(() => {})

  // Tests rule 15, rule 16: Every claim and commit ends within its budget, on a store that is down or silent.
  it("lets no claim and no commit outlive its budget", async () => {
    const world = new World()
    await world.commit(await world.claimed(100), large(1))
    const mute: CheckpointStore = {
      ...world.paged,
      read: (ref, options) => (ref.name.endsWith("/head") ? world.store.read(ref, options) : never()),
      put: (ref, expected, body, options) =>
        ref.name.endsWith("/head") ? world.store.put(ref, expected, body, options) : never(),
    }
    const owner = world.owner(200, { store: mute })
    expect(await failureOf(world.claim(owner, 5000))).toBeInstanceOf(StoreUnavailableError)
    expect(world.time.read().mono).toBeLessThanOrEqual(5250)
    const since = world.time.read().mono
    expect(await failureOf(world.commit(owner, large(2), 5000))).toBeInstanceOf(StoreUnavailableError)
    expect(world.time.read().mono - since).toBe(5000)
    await close(world, owner)
  })

  it("or that throws what isn't typed, makes typed errors of it", async () => {
    const world = new World()
    await world.commit(await world.claimed(100), large(1))
    const broken = async (): Promise<never> => {
      throw new RangeError("a bug")
    }
    for (const store of [
      { ...world.paged, read: broken },
      { ...world.paged, put: broken },
    ]) {
      const error = await failureOf(world.claim(world.owner(200, { store }), 5000))
      expect(error).toBeInstanceOf(StoreUnavailableError)
      expect((error as Error).cause).toBeInstanceOf(RangeError)
    }
    const owner = await world.claimed(300)
    const store = { ...world.paged, list: broken, remove: broken }
    const next = await world.claimed(400, { how: "takeover", store })
    await close(world, next)
    await close(world, owner)
    expect(world.errors).toMatchObject([{ _tag: "StoreUnavailableError", cause: { message: "a bug" } }])
  })

  it("lets no claim and no commit of a head outlive its budget either", async () => {
    const world = new World()
    const mute: CheckpointStore = { ...world.paged, put: never }
    expect(await failureOf(world.claim(world.owner(100, { store: mute }), 12_000))).toBeInstanceOf(
      StoreUnavailableError,
    )
    expect(world.time.read().mono).toBe(12_000)
  })
})

describe("remove", () => {
  // Tests rule 17: A head is never deleted; a removed sandbox leaves `removed`.
  it("leaves a head that says so, deletes the content, and never the head", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    await world.commit(owner, large(1))
    await world.commit(owner, large(2))
    await world.time.runUntil(owner.writer.remove({ budget }))
    await close(world, owner)
    expect(await world.head()).toMatchObject({ token: 100, saved: { state: "removed" }, kept: [] })
    expect(await world.contents()).toEqual([])
    const removed = world.store.script.requests.filter(({ op }) => op === "remove")
    expect(removed.some(({ name }) => name.endsWith("/head"))).toBe(false)
    expect((await world.claimed(200)).claimed.checkpoint).toBeUndefined()
  })

  it("deletes what earlier owners left as well", async () => {
    const { world, orphan } = await orphaned()
    const next = await world.claimed(200)
    expect(await world.contents()).toContain(orphan)
    await world.time.runUntil(next.writer.remove({ budget }))
    await close(world, next)
    expect(await world.contents()).toEqual([])
  })

  it("of what is removed already writes nothing", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    await world.time.runUntil(owner.writer.remove({ budget }))
    const writes = world.headWrites
    await world.time.runUntil(owner.writer.remove({ budget }))
    expect(world.headWrites).toBe(writes)
  })

  it("is rejected when a later owner has come", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    await world.commit(owner, large(1))
    await world.claimed(200)
    const removal = owner.writer.remove({ budget })
    expect(await failureOf(world.time.runUntil(removal))).toBeInstanceOf(CheckpointRejectedError)
    await close(world, owner)
    expect((await world.claimed(300)).claimed.checkpoint).toEqual(large(1))
  })
})
