/** What is remembered of calls is saved in one write with the state, and given back apart from it. */
import { describe, expect, it } from "vitest"
import { joined } from "../../../src/actors/checkpoints/objects/parts.ts"
import { readCheckpointBytes } from "../../../src/actors/checkpoints/read.ts"
import { CorruptCheckpointError } from "../../../src/locks/api/errors.ts"
import { bytesOf, failureOf, large, lockKey, type Owner, textOf, World } from "./world.ts"

const budget = 30_000

const commit = async (world: World, owner: Owner, state: Uint8Array, calls: string | undefined): Promise<void> => {
  const saved = joined({ state, calls: calls === undefined ? undefined : bytesOf(calls) })
  await world.time.runUntil(owner.writer.commit(saved.bytes, { budget, calls: saved.calls }))
}

describe("what is remembered of calls", () => {
  // Tests calls: What is remembered of calls is stored in one write with the state, or not at all.
  it.each([
    ["in the head", bytesOf("small")],
    ["in an object of its own", large(1)],
  ])("is given to the next owner, and to readers the state alone: %s", async (_, state) => {
    const world = new World()
    const owner = await world.claimed(100)
    await commit(world, owner, state, "calls")
    expect((await world.head()).needs).toEqual(["calls"])
    const from = { store: world.store, clock: world.time, budget }
    expect(await readCheckpointBytes(from, { lockKey })).toEqual({ bytes: state, version: 1 })
    const { claimed } = await world.claimed(200, { how: "takeover" })
    expect(claimed.checkpoint).toEqual(state)
    expect(textOf(claimed.calls)).toBe("calls")
    expect((await world.head()).needs).toEqual(["calls"])
  })

  it("is asked of no reader where there is nothing, also after there was something", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    await commit(world, owner, bytesOf("x"), "calls")
    await commit(world, owner, bytesOf("x"), undefined)
    expect((await world.head()).needs).toEqual([])
    await commit(world, owner, bytesOf("x"), "calls")
    await world.time.runUntil(owner.writer.remove({ budget }))
    expect((await world.head()).needs).toEqual([])
  })

  it("is another state where the same bytes are parted elsewhere", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    await commit(world, owner, bytesOf("ab"), undefined)
    await commit(world, owner, bytesOf("a"), "b")
    expect((await world.head()).saved).toMatchObject({ bytes: 2, calls: 1 })
  })

  it("leaves the date of the last one in a tombstone, for all that come after it", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    await commit(world, owner, bytesOf("x"), "calls")
    await world.time.runUntil(owner.writer.remove({ budget, callsUntil: 7000 }))
    expect(await world.head()).toMatchObject({ needs: ["calls"], saved: { state: "removed", callsUntil: 7000 } })
    for (const token of [200, 300]) {
      const { claimed } = await world.claimed(token, { how: "takeover" })
      expect(claimed).toMatchObject({ checkpoint: undefined, calls: undefined, callsUntil: 7000 })
      expect(await world.head()).toMatchObject({ needs: ["calls"], saved: { state: "none", callsUntil: 7000 } })
    }
  })

  it("stays with a content that is kept", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    await commit(world, owner, large(1), "calls")
    await commit(world, owner, large(2), undefined)
    expect((await world.head()).kept).toMatchObject([{ calls: 5 }])
  })

  it("that is more than all that is saved is a damaged head", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    await commit(world, owner, bytesOf("a"), "b")
    await world.force((head) => ({ ...head, calls: 3 }))
    const next = world.owner(200, { how: "takeover" })
    const failure = await failureOf(world.claim(next))
    expect(failure).toBeInstanceOf(CorruptCheckpointError)
  })
})
