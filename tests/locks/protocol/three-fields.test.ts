/** A published form of the lock has three fields: ownerId, expiresAt, waitingOwnerId. Its waiter says no time. */
import { describe, expect, it } from "vitest"
import { acquire } from "./process-model.ts"
import { seconds } from "./strangers.ts"
import { World } from "./world.ts"

/** What the other release writes into the record, of which it knows three fields and drops or keeps the rest. */
const write = (world: World, fields: object, keeps = false): void =>
  world.store.put({ ...(keeps ? world.store.body : pick(world.store.body)), ...fields }, world.at)

const pick = ({ ownerId = null, expiresAt = 0, waitingOwnerId = null }: Record<string, unknown>): object => ({
  ...{ ownerId, expiresAt, waitingOwnerId },
})

describe("a waiter that says no time", () => {
  // Tests rule 7: A waiter without a time is served, reserved the key, and stands 12 s from when it is seen.
  it.each([
    ["drops", false],
    ["keeps", true],
  ])("(it %s what it doesn't know) asks an owner of ours once, and has the key kept for it", (_what, keeps) => {
    const world = new World({ clock: "exact" })
    const a = world.owner("a")
    world.advance(2000)
    write(world, { waitingOwnerId: "t" }, keeps)
    world.until(() => a.count("ReleaseRequested") > 0, 5000)
    expect(a.last("ReleaseRequested")).toMatchObject({ waiterId: "t" })
    world.send(a, { type: "renew" })
    world.advance(3000)
    expect(world.store.body).toMatchObject({ ownerId: "a", waitingOwnerId: "t" })
    expect(a.count("ReleaseRequested")).toBe(1)
    world.send(a, { type: "release" })
    world.until(() => a.phase === "idle")
    expect(world.store.body).toMatchObject({ ownerId: null, waitingOwnerId: "t", ended: { how: "reserve" } })
    expect(world.store.body["waiterExpiresAt"]).toBeCloseTo(seconds(world.at + 15_000), 0)
  })

  it.each([["none"], ["coarse"], ["exact"]] as const)(
    "keeps a free key for 12 s from when it is first seen, and no longer (clock: %s)",
    (clock) => {
      const world = new World({ clock })
      world.store.put({ ownerId: null, expiresAt: 0, waitingOwnerId: "t" }, world.at)
      world.advance(100_000) // how long it has stood nobody can tell
      const from = world.at
      const b = world.process("b")
      world.send(b, acquire({ budgetMs: 30_000, contention: "retry" }))
      world.until(() => b.holds(world.at))
      expect(world.at - from).toBeGreaterThan(12_000)
      expect(world.at - from).toBeLessThan(15_000)
      expect(world.store.body).toMatchObject({ ownerId: "b", waitingOwnerId: null })
    },
  )

  it("gives way to one of ours behind a living owner after that time, the owner renewing or not", () => {
    const world = new World()
    const a = world.owner("a", {}, { minTenure: 100_000 })
    world.advance(2000)
    write(world, { waitingOwnerId: "t" }, true)
    const from = world.at
    const b = world.process("b")
    world.send(b, acquire({ budgetMs: undefined, contention: "retry" }))
    world.until(() => world.store.body["waitingOwnerId"] === "b")
    expect(world.at - from).toBeGreaterThan(12_000)
    expect(world.at - from).toBeLessThan(19_000)
    expect(a.holds(world.at)).toBe(true)
  })

  it("is named to who meets it, with a time to come again", () => {
    const world = new World()
    world.owner("a")
    write(world, { waitingOwnerId: "t", waiterExpiresAt: null }, true)
    const b = world.process("b")
    world.send(b, acquire())
    world.until(() => b.count("GaveUp") > 0)
    expect(b.error).toMatchObject({ _tag: "LockContentionError", waiterId: "t", retryAfterMs: 12_000 })
  })

  it("that says a time which is none is corrupt", () => {
    const world = new World()
    world.store.put({ ownerId: null, expiresAt: 0, waitingOwnerId: "t", waiterExpiresAt: "soon" }, world.at)
    const b = world.process("b")
    world.send(b, acquire())
    world.until(() => b.count("GaveUp") > 0)
    expect(b.error).toMatchObject({ _tag: "CorruptRecordError" })
  })
})

it("an owner of three fields hands the key to one of ours that waits, which knows it for its own", () => {
  const world = new World()
  world.store.put({ ownerId: "t", expiresAt: seconds(60_000), waitingOwnerId: null }, world.at)
  const b = world.waiter("b", {}, { budgetMs: undefined })
  world.advance(2000)
  write(world, { ownerId: "b", expiresAt: seconds(world.at + 60_000), waitingOwnerId: null })
  world.until(() => b.holds(world.at), 5000)
  expect(b.last("Acquired")).toMatchObject({ how: "granted" })
})
