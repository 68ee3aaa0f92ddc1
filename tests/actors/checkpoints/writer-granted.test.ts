// Rule 15's exception: after a grant that names the head's generation, a claim writes nothing.
import { describe, expect, it } from "vitest"
import { CheckpointRejectedError, CheckpointUnknownError } from "../../../src/locks/api/errors.ts"
import { hold, late } from "../../support/scripted-store.ts"
import { bytesOf, failureOf, large, type Owner, textOf, World } from "./world.ts"

/** What the owner leaves with its grant, once it has closed. */
const leave = async (world: World, { writer }: Owner): Promise<string | undefined> => {
  await world.time.runUntil(writer.close())
  return writer.left
}

describe("a claim after a grant", () => {
  // Tests rule 15: After a grant whose note names the head's generation, a claim writes nothing.
  it("that names the head's generation writes nothing, and gets what is saved", async () => {
    const world = new World()
    const former = await world.claimed(100)
    await world.commit(former, "one")
    const note = await leave(world, former)
    const writes = world.headWrites
    const { claimed } = await world.claimed(200, { how: "granted", note })
    expect(textOf(claimed.checkpoint)).toBe("one")
    expect(world.headWrites).toBe(writes)
  })

  it("is made good by the first commit, which says on which write this activation began", async () => {
    const world = new World()
    const former = await world.claimed(100)
    await world.commit(former, "one")
    const { opId } = await world.head()
    const next = await world.claimed(200, { how: "granted", note: await leave(world, former) })
    await world.commit(next, "two")
    expect(await world.head()).toMatchObject({ token: 200, predecessorOpId: opId })
    await world.commit(next, "three")
    expect(await world.head()).toMatchObject({ token: 200, predecessorOpId: opId })
  })

  it("gets content that is an object of its own too", async () => {
    const world = new World()
    const former = await world.claimed(100)
    await world.commit(former, large(7))
    const { claimed } = await world.claimed(200, { how: "granted", note: await leave(world, former) })
    expect(claimed.checkpoint).toEqual(large(7))
  })

  it("writes nothing through a row of owners that change nothing", async () => {
    const world = new World()
    let owner: Owner = await world.claimed(100)
    await world.commit(owner, "one")
    const writes = world.headWrites
    for (const token of [200, 300, 400]) {
      owner = await world.claimed(token, { how: "granted", note: await leave(world, owner) })
      await world.commit(owner, "one")
    }
    expect(world.headWrites).toBe(writes)
    expect(textOf((await world.claimed(500)).claimed.checkpoint)).toBe("one")
  })

  // Tests rule 15: A claim writes where the head moved since, or would say less than a claim.
  it("of a head that has moved since writes it", async () => {
    const world = new World()
    const former = await world.claimed(100)
    const note = await leave(world, former)
    await world.commit(await world.claimed(200), "two")
    const { claimed } = await world.claimed(300, { how: "granted", note })
    expect(textOf(claimed.checkpoint)).toBe("two")
    expect(await world.head()).toMatchObject({ token: 300 })
  })

  it("of a removed sandbox, or of a head that names a shorter ttl than mine, or another lease store, writes it", async () => {
    const removed = new World()
    const remover = await removed.claimed(100)
    await removed.time.runUntil(remover.writer.remove({ budget: 1000 }))
    await removed.claimed(200, { how: "granted", note: await leave(removed, remover) })
    expect(await removed.head()).toMatchObject({ token: 200, saved: { state: "none" } })
    for (const options of [{ ttlMs: 60_000 }, { leases: "another", adoptHeads: true }]) {
      const world = new World()
      const note = await leave(world, await world.claimed(100))
      await world.claimed(200, { how: "granted", note, ...options })
      expect(await world.head()).toMatchObject({ token: 200 })
    }
  })

  // Tests rule 12, rule 15: Without one exact clock every owner's token is in the head, and outgrows a deleted record.
  it("writes its token where nothing else would know it once the record is deleted by hand", async () => {
    const world = new World()
    const former = await world.claimed(100)
    await world.commit(former, "one")
    const note = await leave(world, former)
    const { claimed } = await world.claimed(200, { how: "granted", note, claimsGranted: true })
    expect(textOf(claimed.checkpoint)).toBe("one")
    expect(await world.head()).toMatchObject({ token: 200 })
  })

  it("waits while the lease is in doubt", async () => {
    const world = new World()
    const note = await leave(world, await world.claimed(100))
    const next = world.owner(200, { how: "granted", note })
    next.lease.held = false
    let isClaimed = false
    const claim = next.writer.claim({ lease: next.lease, budget: 30_000 }).then(() => (isClaimed = true))
    await world.time.advance(2000)
    expect(isClaimed).toBe(false)
    next.lease.held = true
    await world.time.runUntil(claim)
  })
})

describe("a granter", () => {
  // Tests rule 15: A granter names no generation while a write of its own may still land on it.
  it("leaves nothing before it takes no more writes", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    expect(owner.writer.left).toBeUndefined()
    expect(await leave(world, owner)).toBe("1")
  })

  it("whose last write may still land leaves nothing, so that the next one's claim makes it fail", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    const held = hold()
    world.store.script.onPut(held)
    world.store.script.onRead(late(2000))
    const unknown = failureOf(owner.writer.commit(bytesOf("open"), { budget: 1000 }))
    await world.time.runUntil(held.arrived)
    expect(await world.time.runUntil(unknown)).toBeInstanceOf(CheckpointUnknownError)
    const note = await leave(world, owner)
    expect(note).toBeUndefined()
    const next = await world.claimed(200, { how: "granted", note })
    held.answer()
    await world.commit(next, "two")
    expect(textOf((await world.claimed(300)).claimed.checkpoint)).toBe("two")
  })

  it("that was fenced leaves nothing", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    await world.claimed(200)
    expect(await failureOf(world.commit(owner, "one"))).toBeInstanceOf(CheckpointRejectedError)
    expect(await leave(world, owner)).toBeUndefined()
  })
})
