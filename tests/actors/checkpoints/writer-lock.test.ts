// The writer under real leases: handoff, takeover from an owner that is cut off, a record deleted by hand, a raised
// token.
import { describe, expect, it } from "vitest"
import { CheckpointRejectedError, LockCancelledError, LockLostError } from "../../../src/locks/api/errors.ts"
import { encodeName } from "../../../src/locks/api/keys.ts"
import type { Lease } from "../../../src/locks/api/lock.ts"
import { StoreLock } from "../../../src/locks/lock/store-lock.ts"
import { ABSENT } from "../../../src/locks/stores/port.ts"
import { hold, loseRequest, type ScriptedStore, scripted } from "../../support/scripted-store.ts"
import { bytesOf, failureOf, large, lockKey, textOf, World } from "./world.ts"

const budget = 30_000

/** A process with a network of its own to the world's store. */
const processOf = (world: World, id: string): { lock: StoreLock; store: ScriptedStore } => {
  const store = scripted(world.store, world.time)
  return { store, lock: new StoreLock(lockKey, { store, clock: world.time, incarnation: { id } }) }
}

/** Acquires, and claims under that lease. */
const restore = async (world: World, id: string) => {
  const { lock, store } = processOf(world, id)
  const lease: Lease = await world.time.runUntil(lock.acquire({ timeout: "2 min" }))
  const { writer } = world.owner(0, { store })
  const claimed = await world.time.runUntil(writer.claim({ lease, budget }))
  return { store, lease, writer, claimed }
}

/** From now on nothing of this process arrives, and nothing is answered. */
const cutOff = ({ script }: ScriptedStore): void => {
  const lost = Array.from({ length: 200 }, () => ({ before: "lost" }) as const)
  script.onPut(...lost)
  script.onRead(...lost)
}

/** An operator deletes the record. */
const deleteRecord = async (world: World): Promise<void> => {
  const ref = { area: "leases", name: encodeName(lockKey) } as const
  const record = await world.store.read(ref, { deadline: 1000, limit: 100_000 })
  await world.store.remove(ref, record.kind === "found" ? record.generation : "", { deadline: 1000 })
}

it("hands what was committed to the next owner, under a greater token", async () => {
  const world = new World()
  const one = await restore(world, "one")
  expect(one.lease.how).toBe("created")
  await world.time.runUntil(one.writer.commit(bytesOf("saved"), { budget }))
  await world.time.runUntil(one.lease.release())
  const two = await restore(world, "two")
  expect(textOf(two.claimed.checkpoint)).toBe("saved")
  expect(two.claimed.waitOutMs).toBe(0)
  expect(await world.head()).toMatchObject({ token: two.lease.token })
  expect(two.lease.token).toBeGreaterThan(one.lease.token)
  await world.time.runUntil(two.lease.release())
})

// Tests rule 15: A former owner's head write, in flight at a takeover, fails and overwrites nothing.
it("takes over from an owner that was cut off, whose head write in flight then fails", async () => {
  const world = new World()
  const one = await restore(world, "one")
  await world.time.runUntil(one.writer.commit(large(1), { budget }))
  const held = hold()
  one.store.script.onPut({}, { ...held, of: /head$/ })
  const inFlight = failureOf(one.writer.commit(large(2), { budget: 120_000 }))
  await world.time.runUntil(held.arrived)
  cutOff(one.store)
  const two = await restore(world, "two")
  expect(two.lease.how).toBe("takeover")
  expect(two.claimed.checkpoint).toEqual(large(1))
  expect(one.lease.isHeld()).toBe(false)
  await world.time.runUntil(two.writer.commit(large(3), { budget }))
  held.answer()
  one.store.script.heal()
  expect(await world.time.runUntil(inFlight)).toBeInstanceOf(CheckpointRejectedError)
  const again = failureOf(one.writer.commit(large(4), { budget }))
  expect([CheckpointRejectedError, LockLostError]).toContain(((await again) as object).constructor)
  await world.time.runUntil(Promise.all([one.writer.close(), two.writer.close()]))
  expect((await world.contents()).length).toBe(2)
  await world.time.runUntil(two.lease.release())
})

// Tests rule 15: The head's ttl outlives the lease of the owner whose record was deleted by hand.
it("knows a record that was deleted by hand under a living owner, and tells when that owner's lease is over", async () => {
  const world = new World()
  const one = await restore(world, "one")
  await world.time.runUntil(one.writer.commit(bytesOf("saved"), { budget }))
  await deleteRecord(world)
  const two = await restore(world, "two")
  expect(two.lease.how).toBe("created")
  expect(two.claimed.waitOutMs).toBe(30_000)
  expect(textOf(two.claimed.checkpoint)).toBe("saved")
  const late = failureOf(world.time.runUntil(one.writer.commit(bytesOf("late"), { budget })))
  expect([CheckpointRejectedError, LockLostError]).toContain(((await late) as object).constructor)
  await world.time.runUntil(two.writer.waitOut())
  expect(one.lease.isHeld()).toBe(false)
  expect(two.lease.isHeld()).toBe(true)
  await world.time.runUntil(two.lease.release())
})

describe("an owner whose record was deleted, and who works on, is waited for by the next", () => {
  const hidden = async (): Promise<readonly [World, Awaited<ReturnType<typeof restore>>]> => {
    const world = new World()
    const one = await restore(world, "one")
    await world.time.runUntil(one.writer.commit(bytesOf("saved"), { budget }))
    cutOff(one.store)
    await deleteRecord(world)
    return [world, one]
  }
  /** How long the next owner has to wait, and whether the hidden one may act before and after. */
  const waits = async (world: World, { lease }: { readonly lease: Lease }): Promise<readonly unknown[]> => {
    const next = await restore(world, "next")
    const before = lease.isHeld()
    await world.time.runUntil(next.writer.waitOut())
    const after = lease.isHeld()
    await world.time.runUntil(next.lease.release())
    return [next.claimed.waitOutMs, before, after]
  }

  // Tests rule 15: A process between a deleted owner and the next one hides nobody.
  it("though one came and left between them that had raised its token, and hadn't claimed the head", async () => {
    const [world, one] = await hidden()
    const { lock } = processOf(world, "between")
    const between = await world.time.runUntil(lock.acquire())
    await world.time.runUntil(between.renew({ tokenAbove: one.lease.token + 1000 }))
    await world.time.runUntil(between.release())
    expect(await waits(world, one)).toEqual([30_000, true, false])
  })

  it("though one gave up between them, and burned its create", async () => {
    const [world, one] = await hidden()
    const { lock, store } = processOf(world, "between")
    store.script.onPut(loseRequest())
    const caller = new AbortController()
    const between = failureOf(lock.acquire({ signal: caller.signal }))
    await world.time.advance(5)
    caller.abort()
    expect(await world.time.runUntil(between)).toBeInstanceOf(LockCancelledError)
    await world.time.advance(1000)
    expect(await waits(world, one)).toEqual([30_000, true, false])
  })

  it("though one claimed the head between them, and crashed while it waited", async () => {
    const [world, one] = await hidden()
    const between = await restore(world, "between")
    cutOff(between.store)
    await deleteRecord(world)
    expect(await waits(world, one)).toEqual([30_000, true, false])
  })

  it("though what came between them is a create of long ago, brought back", async () => {
    const world = new World()
    const { lock, store } = processOf(world, "old")
    await world.time.runUntil(lock.acquire())
    const ref = { area: "leases", name: encodeName(lockKey) } as const
    const created = await world.store.read(ref, { deadline: 1000, limit: 100_000 })
    cutOff(store)
    await deleteRecord(world)
    await world.time.advance(25_000)
    const one = await restore(world, "one")
    cutOff(one.store)
    await deleteRecord(world)
    await world.store.put(ref, ABSENT, created.kind === "found" ? created.body : new Uint8Array(), { deadline: 1000 })
    expect(await waits(world, one)).toEqual([30_000, true, false])
  })
})

// Tests rule 12, rule 15: A head whose token isn't lower makes the claim raise the lease's token.
it("raises the lease's own token above the head's, and claims with that", async () => {
  const world = new World()
  const one = await restore(world, "one")
  await world.time.runUntil(one.writer.commit(bytesOf("saved"), { budget }))
  await world.time.runUntil(one.lease.release())
  const ahead = one.lease.token + 1_000_000_000
  await world.force((head) => ({ ...head, token: ahead }))
  const two = await restore(world, "two")
  expect(two.lease.token).toBe(ahead + 1)
  expect(textOf(two.claimed.checkpoint)).toBe("saved")
  expect(await world.head()).toMatchObject({ token: ahead + 1 })
  expect(two.lease.isHeld()).toBe(true)
  await world.time.runUntil(two.lease.release())
})
