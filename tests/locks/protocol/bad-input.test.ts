/** Records that are none: never free, never a crash, never written over; and inputs that a phase has no use for. */
import { describe, expect, it } from "vitest"
import type { Input } from "../../../src/locks/protocol/rules/state.ts"
import { acquire } from "./process-model.ts"
import { seconds } from "./strangers.ts"
import { World } from "./world.ts"

const owned = { ownerId: "s", expiresAt: seconds(60_000), waitingOwnerId: null, waiterExpiresAt: null }
const marked = { ...owned, waitingOwnerId: "w" }
const half = { for: "s", expiresAt: owned.expiresAt, token: 1, ttlMs: 30_000, nonce: "n", opId: "o" }

const corrupt: Readonly<Record<string, unknown>> = {
  "bytes that are not JSON": "{ truncated",
  "an empty object's bytes": "",
  "an array": [owned],
  "a number": "7",
  null: "null",
  "somebody else's object": { name: "x", items: [] },
  "another key's record": { ...owned, key: "other" },
  "a key that is no text": { ...owned, key: 7 },
  "a negative time": { ...owned, expiresAt: -5 },
  "a time as text": { ...owned, expiresAt: "2030-01-01" },
  "a time that is not finite": `{"ownerId":"s","expiresAt":1e999,"waitingOwnerId":null,"waiterExpiresAt":null}`,
  "a time in milliseconds": { ...owned, expiresAt: owned.expiresAt * 1000 },
  "the year 3000": { ...owned, expiresAt: 32_503_680_000 },
  "an owner without a time": { ownerId: "s", expiresAt: null },
  "an owner that is no text": { ...owned, ownerId: 7 },
  "an owner of 2,000 characters": { ...owned, ownerId: "x".repeat(2000) },
  "a waiter whose time is text": { ...marked, waiterExpiresAt: "soon" },
  "a waiter with a negative time": { ...marked, waiterExpiresAt: -1 },
  "a waiter of the year 3000": { ...marked, waiterExpiresAt: 32_503_680_000 },
  "an owner half with a token as text": { ...owned, owner: { ...half, token: "1" } },
  "an owner half without a nonce": { ...owned, owner: { ...half, nonce: undefined } },
  "an owner half with a ttl of nothing": { ...owned, owner: { ...half, ttlMs: 0 } },
  "an owner half with an address that is no text": { ...owned, owner: { ...half, address: 7 } },
  "an owner half with a version as text": { ...owned, owner: { ...half, stateVersion: "9" } },
  "an owner half with a host that is none": { ...owned, owner: { ...half, host: "h" } },
  "a waiter half without a nonce": { ...marked, waiterExpiresAt: 2e9, waiter: { for: "w", expiresAt: 2e9, opId: "o" } },
  "an end that is none": { ...owned, ended: "yes" },
  "needs that are no list": { ...owned, needs: { a: 1 } },
}

describe("a record that is none", () => {
  it.each(Object.entries(corrupt))("%s is CorruptRecordError to who wants the key, and stays as it is", (_, what) => {
    const world = new World()
    world.store.put(what as object | string, 0)
    const before = world.store.text
    const b = world.process("b")
    world.send(b, acquire())
    world.advance(100)
    expect(b.error).toMatchObject({ _tag: "CorruptRecordError", retryable: false })
    expect(b.error!.next).toContain("Look at the object")
    expect(b.phase).toBe("idle")
    world.advance(60_000)
    expect(world.store.text).toBe(before)
  })

  // Tests input: Records may be truncated, no JSON, an array, 50 MB, far in time, or another object's.
  it.each(Object.entries(corrupt))(
    "%s under a live owner costs it the key, or leaves it the owner, but never throws",
    (_, what) => {
      const world = new World()
      const a = world.owner("a")
      world.store.put(what as object | string, world.at)
      world.advance(60_000)
      expect(a.phase).toBe("idle")
      expect(a.error).toMatchObject({ _tag: "LockLostError" })
    },
  )

  it("one larger than 64 KiB is corrupt, unread", () => {
    const world = new World({
      twist: (_, result) => ({ kind: "tooLarge", generation: "g", storeTime: result.storeTime! }),
    })
    world.store.put(owned, 0)
    const b = world.process("b")
    world.send(b, acquire())
    world.advance(100)
    expect(b.error).toMatchObject({ _tag: "CorruptRecordError", message: expect.stringContaining("64 KiB") })
  })

  it("a cancelled wait that finds one leaves it alone", () => {
    const world = new World()
    world.owner("a")
    const b = world.waiter("b")
    world.store.put("<html>", world.at)
    world.send(b, { type: "cancel" })
    world.advance(2000)
    expect(b.phase).toBe("idle")
    expect(world.store.text).toBe("<html>")
    expect(b.error).toMatchObject({ _tag: "LockCancelledError" })
  })

  it("a release that finds one ends as unknown and leaves it alone", () => {
    const world = new World()
    const a = world.owner("a")
    world.advance(1500)
    world.store.put("<html>", world.at)
    world.send(a, { type: "release" })
    world.until(() => a.phase === "idle")
    expect(a.last("Released")).toMatchObject({ result: "unknown" })
    expect(world.store.text).toBe("<html>")
  })
})

describe("a record from the future", () => {
  const future = { ...owned, v: 9, needs: ["heartbeat"], owner: { strange: true } }

  // Tests record: No record is CorruptRecordError; an unknown need is FormatVersionError, never written over.
  it("that needs what isn't known is FormatVersionError with its owner, and is never written", () => {
    const world = new World()
    world.store.put({ ...future, ownerId: null, expiresAt: 0 }, 0)
    world.store.put(future, 0)
    const b = world.process("b")
    world.send(b, acquire())
    world.advance(60_000)
    expect(b.error).toMatchObject({ _tag: "FormatVersionError", needs: ["heartbeat"], owner: { ownerId: "s" } })
    expect(world.store.history).toHaveLength(2)
  })

  // Tests record: Not even a mark of mine is erased from a record that needs what isn't known.
  it("not even to erase a mark of mine, or to end what carries my id", () => {
    for (const mine of [{ waitingOwnerId: "b", waiterExpiresAt: seconds(60_000) }, { ownerId: "b" }]) {
      const world = new World()
      world.owner("a")
      const b = world.waiter("b")
      world.store.put({ ...future, ...mine }, world.at)
      const before = world.store.text
      world.send(b, { type: "cancel" })
      world.until(() => b.phase === "idle")
      expect(world.store.text).toBe(before)
    }
  })

  it("of a greater v alone, with fields and halves that nobody knows, is a record like any other", () => {
    const world = new World()
    world.store.put(
      { ...owned, ownerId: null, expiresAt: 0, v: 9, heartbeat: { x: 1 }, ended: { token: 5, by: "o", how: "beamed" } },
      0,
    )
    const a = world.owner("a")
    expect(world.store.body).toMatchObject({ v: 9, heartbeat: { x: 1 }, ended: { how: "beamed" } })
    expect(a.token).toBeGreaterThan(5)
  })
})

describe("a store that can't be used", () => {
  it("fails an attempt at once where trying again is no use", () => {
    const world = new World()
    const b = world.process("b")
    b.network = "held"
    world.send(b, acquire())
    const error = Object.assign(new Error("403"), { _tag: "StoreMisconfiguredError", retryable: false }) as never
    world.answer(world.next(b), { kind: "failed", error })
    expect(b.events).toEqual([{ type: "GaveUp", error }])
    expect(b.phase).toBe("idle")
  })
})

describe("an input that a phase has no use for", () => {
  it("changes nothing", () => {
    const inputs: readonly Input[] = [
      { type: "cancel" },
      { type: "renew" },
      { type: "release" },
      { type: "leaveToExpire" },
      { type: "tick" },
      { type: "read", id: 99, answer: { kind: "absent" } },
      { type: "wrote", id: 99, answer: { kind: "refused" } },
    ]
    const world = new World()
    const idle = world.process("idle")
    for (const input of inputs) world.send(idle, input)
    expect(idle.phase).toBe("idle")
    expect(world.requests).toEqual([])
    const a = world.owner("a")
    const seen = world.requests.length
    world.send(a, acquire())
    world.send(a, { type: "cancel" })
    expect(a.phase).toBe("owning")
    expect(world.requests).toHaveLength(seen)
  })
})
