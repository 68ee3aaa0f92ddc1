// Rule 15: claim before run.
import { describe, expect, it } from "vitest"
import {
  CheckpointRejectedError,
  CheckpointVersionError,
  CorruptCheckpointError,
  FormatVersionError,
  LockCancelledError,
  LockLostError,
  StoreMisconfiguredError,
  StoreUnavailableError,
} from "../../../src/locks/api/errors.ts"
import {
  failPut,
  failRead,
  hold,
  late,
  loseAnswer,
  loseRequest,
  refuse,
  refuseApplied,
} from "../../support/scripted-store.ts"
import { bytesOf, failureOf, large, lockKey, type Owner, textOf, World } from "./world.ts"

describe("a claim", () => {
  // Tests rule 15: Restore writes the head back under its own token and nonce; `over` names the claimed write.
  it("writes the same content under its own token and nonce, and names the head write it claimed", async () => {
    const world = new World()
    const former = await world.claimed(100)
    await world.commit(former, "one")
    const before = await world.head()
    const { claimed } = await world.claimed(200)
    const after = await world.head()
    expect(textOf(claimed.checkpoint)).toBe("one")
    expect(claimed.version).toBe(1)
    expect(after).toMatchObject({ token: 200, seq: before.seq + 1, predecessorOpId: before.opId, saved: before.saved })
    expect(after.nonce).not.toBe(before.nonce)
  })

  // Tests rule 15: Where there is no head, the claim makes one.
  it("of a sandbox without a head makes one that holds nothing", async () => {
    const world = new World()
    const { claimed } = await world.claimed(100, { how: "created" })
    expect(claimed).toEqual({ checkpoint: undefined, calls: undefined, callsUntil: 0, version: 0, waitOutMs: 0 })
    expect(await world.head()).toMatchObject({
      key: lockKey,
      token: 100,
      predecessorOpId: null,
      saved: { state: "none" },
    })
  })

  it("costs one read and one write", async () => {
    const world = new World()
    await world.claimed(100)
    expect(world.headRequests).toEqual(["read absent", "put applied"])
  })

  // Tests rule 15: The compare-and-swap is on the generation just read; refused, it reads again.
  it("that is refused reads the head again and claims what is there now", async () => {
    const world = new World()
    const former = await world.claimed(100)
    const held = hold()
    world.store.script.onPut(held)
    const next = world.owner(200)
    const claim = next.writer.claim({ lease: next.lease, budget: 30_000 })
    await world.time.runUntil(held.arrived)
    await world.commit(former, "landed just before the claim")
    held.answer()
    expect(textOf((await world.time.runUntil(claim)).checkpoint)).toBe("landed just before the claim")
  })

  // Tests rule 15: A former owner's head write, in flight at a takeover, fails and overwrites nothing.
  it("makes a former owner's head write that is still in flight fail, so that nothing it claimed is overwritten", async () => {
    const world = new World()
    const former = await world.claimed(100)
    await world.commit(former, "old")
    const held = hold()
    world.store.script.onPut(held)
    const inFlight = failureOf(former.writer.commit(bytesOf("too late"), { budget: 30_000 }))
    await world.time.runUntil(held.arrived)
    const next = await world.claimed(200)
    expect(textOf(next.claimed.checkpoint)).toBe("old")
    await world.commit(next, "new")
    held.answer()
    expect(await world.time.runUntil(inFlight)).toBeInstanceOf(CheckpointRejectedError)
    expect(textOf((await world.claimed(300)).claimed.checkpoint)).toBe("new")
  })

  // Tests rule 2, rule 15: What a claim's answer doesn't tell is read back.
  it.each([
    ["answer is lost", loseAnswer()],
    ["answer says refused though it landed", refuseApplied()],
    ["request is lost", loseRequest()],
    ["request fails", failPut()],
    ["request is refused without a reason", refuse()],
    ["request arrives after its deadline", late(7000)],
  ])("whose %s finds out by reading back, and succeeds", async (_what, fault) => {
    const world = new World()
    await world.commit(await world.claimed(100), "kept")
    world.store.script.onPut(fault)
    const { claimed } = await world.claimed(200)
    await world.time.runUntilIdle()
    expect(textOf(claimed.checkpoint)).toBe("kept")
    expect(await world.head()).toMatchObject({ token: 200, seq: 3 })
  })

  // Tests rule 15, rule 16: Every claim and commit ends within its budget, on a store that is down or silent.
  it("tries again while the store can't be read, and says so when its budget is over", async () => {
    const world = new World()
    world.store.script.onRead(failRead(), failRead())
    await world.claimed(100)
    world.store.script.onRead(...Array.from({ length: 100 }, () => failRead()))
    const started = world.time.read().mono
    await expect(world.claimed(200, { budget: 5000 })).rejects.toBeInstanceOf(StoreUnavailableError)
    expect(world.time.read().mono - started).toBe(5000)
    expect(world.time.pendingTimers).toBe(0)
  })

  it("that failed may be made again with the same lease, whatever became of its write", async () => {
    const world = new World()
    const owner = world.owner(100)
    world.store.script.onPut(late(10_000))
    world.store.script.onRead({}, ...Array.from({ length: 20 }, () => failRead()))
    await expect(world.claim(owner, 9000)).rejects.toBeInstanceOf(StoreUnavailableError)
    await world.time.runUntilIdle()
    while (world.store.script.pending > 0)
      await world.store.read({ area: "state", name: "x" }, { deadline: 1, limit: 1 })
    await world.claim(owner)
    expect(await world.head()).toMatchObject({ token: 100, seq: 1 })
    expect(owner.lease.raises).toEqual([])
  })

  it("stops when its caller gives up, and when the lease is lost", async () => {
    const world = new World()
    world.store.script.onRead(hold(), hold())
    const caller = new AbortController()
    const one = world.owner(100)
    const cancelled = failureOf(world.claim(one, 30_000, caller.signal))
    caller.abort(new Error("enough"))
    expect(await cancelled).toBeInstanceOf(LockCancelledError)
    const two = world.owner(200)
    const lost = failureOf(world.claim(two))
    two.lease.lose()
    expect(await lost).toBeInstanceOf(LockLostError)
    expect(world.headWrites).toBe(0)
    expect(world.time.read().mono).toBe(0)
    expect(world.store.script.requests.every(({ answeredAt }) => answeredAt === 0)).toBe(true)
    const three = world.owner(300)
    three.lease.lose()
    expect(await failureOf(world.claim(three))).toBeInstanceOf(LockLostError)
    expect(world.time.read().mono).toBe(0)
  })

  it("stops when the lease is lost while the content is on its way", async () => {
    const world = new World()
    await world.commit(await world.claimed(100), large(1))
    const held = hold()
    world.store.script.onRead({ ...held, of: /\/100-/ })
    const owner = world.owner(200)
    const lost = failureOf(owner.writer.claim({ lease: owner.lease, budget: 30_000 }))
    await world.time.runUntil(held.arrived)
    await world.time.advance(1)
    owner.lease.lose()
    expect(await lost).toBeInstanceOf(LockLostError)
    expect(world.time.read().mono).toBe(1)
  })

  it("that got no content may be made again, and claims nothing twice", async () => {
    const world = new World()
    await world.commit(await world.claimed(100), large(1))
    const owner = world.owner(200)
    world.store.script.onRead(...Array.from({ length: 20 }, () => ({ ...failRead(), of: /\/100-/ })))
    expect(await failureOf(world.claim(owner, 5000))).toBeInstanceOf(StoreUnavailableError)
    world.store.script.heal()
    const writes = world.headWrites
    expect((await world.claim(owner)).checkpoint).toEqual(large(1))
    expect(world.headWrites).toBe(writes)
    expect(owner.lease.raises).toEqual([])
  })

  it("ends at once where the store is set up wrong, for the head and for the content", async () => {
    const misconfigured = failRead(new StoreMisconfiguredError({ message: "no permission", next: "grant it" }))
    const world = new World()
    await world.commit(await world.claimed(100), large(1))
    world.store.script.onRead(misconfigured)
    expect(await failureOf(world.claimed(200))).toBeInstanceOf(StoreMisconfiguredError)
    world.store.script.onRead({ ...misconfigured, of: /\/100-/ })
    expect(await failureOf(world.claimed(300))).toBeInstanceOf(StoreMisconfiguredError)
    world.store.script.onPut(failPut(new StoreMisconfiguredError({ message: "read-only", next: "allow writes" })))
    expect(await failureOf(world.claimed(400))).toBeInstanceOf(StoreMisconfiguredError)
    expect(world.time.read().mono).toBe(0)
  })

  it("isn't sent while the lease is in doubt", async () => {
    const world = new World()
    const owner = world.owner(100)
    owner.lease.held = false
    world.time.after(4000, () => (owner.lease.held = true))
    await world.claim(owner)
    const [put] = world.store.script.requests.filter(({ op }) => op === "put")
    expect(put!.sentAt).toBeGreaterThanOrEqual(4000)
  })
})

describe("a token that isn't greater than the head's", () => {
  // Tests rule 12, rule 15: A head whose token isn't lower makes the claim raise the lease's token.
  // Tests rule 16: An equal token with another nonce is refused.
  it.each([
    ["lower", 100],
    ["equal", 150],
  ])("(%s) is raised above it before the claim", async (_what, token) => {
    const world = new World()
    await world.commit(await world.claimed(150), "kept")
    const { lease, claimed } = await world.claimed(token)
    expect(lease.raises).toEqual([150])
    expect(textOf(claimed.checkpoint)).toBe("kept")
    expect(await world.head()).toMatchObject({ token: 151 })
  })

  it("is raised again when the renewal fails, and nothing is claimed before it is applied", async () => {
    const world = new World()
    await world.claimed(150)
    const owner = world.owner(100)
    owner.lease.failures = 2
    await world.claim(owner)
    expect(owner.lease.raises).toEqual([150, 150, 150])
    expect(world.headWrites).toBe(2)
    expect(await world.head()).toMatchObject({ token: 151 })
  })
})

it("ends within its budget where the lease won't raise its token, and claims nothing", async () => {
  const world = new World()
  await world.claimed(150)
  const owner = world.owner(100)
  owner.lease.isStubborn = true
  expect(await failureOf(world.claim(owner, 5000))).toBeInstanceOf(StoreUnavailableError)
  expect(world.time.read().mono).toBe(5000)
  expect(world.headWrites).toBe(1)
})

describe("a head whose owner the record doesn't prove to have ended", () => {
  /** Waits as the sandbox does, and tells how long that took. */
  const waits = async (world: World, { writer }: Owner): Promise<number> => {
    const from = world.time.read().mono
    await world.time.runUntil(writer.waitOut())
    return world.time.read().mono - from
  }

  // Tests rule 15: A head is claimed at once, and run once the record has stood for the head's ttl.
  it("is claimed at once, and may run only when the record has stood for the ttl that the head names", async () => {
    const world = new World()
    await world.claimed(100, { ttlMs: 45_000 })
    await world.time.advance(1000)
    const owner = await world.claimed(200, { how: "created", ttlMs: 30_000 })
    expect(owner.claimed.waitOutMs).toBe(45_000)
    expect(world.time.read().mono).toBe(1000)
    expect(await waits(world, owner)).toBe(45_000)
    expect(owner.lease.raises).toEqual([0, 0]) // a renewal before, and one after
  })

  it("is waited for from the first renewal after the claim that succeeds, and until one after its time does", async () => {
    const world = new World()
    await world.claimed(100)
    const owner = await world.claimed(200, { how: "created" })
    owner.lease.failures = 5
    const waited = owner.writer.waitOut()
    await world.time.advance(10_000)
    expect(owner.lease.raises.length).toBe(6)
    owner.lease.failures = 5
    await world.time.runUntil(waited)
    expect(owner.lease.raises.length).toBe(12)
    expect(world.time.read().mono).toBeGreaterThan(32_000)
  })

  it("is waited for once: an owner that has waited, and leaves without a change, has told so in its head", async () => {
    const world = new World()
    await world.claimed(100)
    const owner = await world.claimed(200, { how: "created" })
    world.store.script.onPut(failPut(), failPut())
    expect(await waits(world, owner)).toBeLessThan(32_000)
    await owner.writer.close()
    const next = await world.claimed(300)
    expect(next.claimed.waitOutMs).toBe(0)
    expect(await waits(world, next)).toBe(0)
  })

  it("ends the wait with the lease, and is told to the next one", async () => {
    const world = new World()
    await world.claimed(100)
    const owner = await world.claimed(200, { how: "created" })
    const waited = failureOf(owner.writer.waitOut())
    await world.time.advance(20_000)
    owner.lease.lose()
    expect(await world.time.runUntil(waited)).toBeInstanceOf(LockLostError)
    expect((await world.claimed(300)).claimed.waitOutMs).toBe(30_000)
  })

  it("is left to the next one by a failed claim, which proves nothing of it", async () => {
    const world = new World()
    await world.claimed(100)
    const owner = world.owner(200, { how: "created" })
    world.store.script.onPut(...Array.from({ length: 9 }, () => failPut()))
    expect(await failureOf(world.claim(owner, 2000))).toBeInstanceOf(StoreUnavailableError)
    expect(owner.lease.traces).toEqual(["possible"])
    world.store.script.heal()
    expect((await world.claim(owner)).waitOutMs).toBe(30_000)
    expect(owner.lease.traces).toEqual(["possible", "sure"])
  })

  it("is told to the next one, however it came by the key, should the one that waits crash", async () => {
    const world = new World()
    await world.claimed(100, { ttlMs: 45_000 })
    await world.claimed(200, { how: "created", ttlMs: 6000 })
    await world.time.advance(7000)
    for (const [token, how] of [[300, "takeover"] as const, [400, "free"] as const])
      expect((await world.claimed(token, { how, ttlMs: 6000 })).claimed.waitOutMs).toBe(45_000)
  })

  it("isn't told any more once the one that waited has saved, even what was saved already", async () => {
    const world = new World()
    const former = await world.claimed(100)
    await world.commit(former, "state")
    const owner = await world.claimed(200, { how: "created" })
    await waits(world, owner)
    await world.commit(owner, "state")
    expect((await world.claimed(300, { how: "free" })).claimed.waitOutMs).toBe(0)
  })

  it("is told to the next one by whatever is written before the wait is over", async () => {
    const world = new World()
    await world.claimed(100)
    const owner = await world.claimed(200, { how: "created" })
    await world.commit(owner, "early")
    expect(await world.head()).toMatchObject({ waitOutMs: 30_000 })
  })

  it("isn't what a claim of one's own leaves behind when it is made again", async () => {
    const world = new World()
    const owner = world.owner(100, { how: "created" })
    world.store.script.onPut(loseAnswer())
    world.store.script.onRead({}, ...Array.from({ length: 9 }, () => failRead()))
    expect(await failureOf(world.claim(owner, 2000))).toBeInstanceOf(StoreUnavailableError)
    world.store.script.heal()
    expect((await world.claim(owner)).waitOutMs).toBe(0)
  })

  // Tests rule 15: A head is waited out unless the record proves that its owner has ended.
  it("is the one that was claimed, not the first that was met", async () => {
    const world = new World()
    await world.claimed(100)
    const owner = world.owner(200) // its record tells of the first owner alone
    const met = hold()
    world.store.script.onPut({ ...met, of: /head$/ })
    const claim = owner.writer.claim({ lease: owner.lease, budget: 30_000 })
    await world.time.runUntil(met.arrived)
    const hidden = world.owner(150, { how: "created", ttlMs: 45_000 })
    await world.claim(hidden)
    met.answer()
    expect((await world.time.runUntil(claim)).waitOutMs).toBe(45_000)
  })

  it.each(["free", "takeover", "granted", "reserved"] as const)("doesn't matter when the key was %s", async (how) => {
    const world = new World()
    await world.claimed(100)
    const owner = await world.claimed(200, { how })
    expect(owner.claimed.waitOutMs).toBe(0)
    expect(await waits(world, owner)).toBe(0)
    expect(owner.lease.raises).toEqual([])
  })

  it("is waited for though its sandbox was removed", async () => {
    const world = new World()
    const former = await world.claimed(100)
    await world.time.runUntil(former.writer.remove({ budget: 30_000 }))
    expect((await world.claimed(200)).claimed.waitOutMs).toBe(0)
    expect((await world.claimed(300, { how: "created" })).claimed.waitOutMs).toBe(30_000)
  })
})

describe("a head that may not be claimed stays as it is:", () => {
  const refused = async (change: (head: Record<string, unknown>) => unknown): Promise<unknown> => {
    const world = new World()
    await world.commit(await world.claimed(100), "kept")
    await world.force(change)
    const writes = world.headWrites
    const error = await failureOf(world.claimed(200))
    expect(world.headWrites).toBe(writes)
    expect((error as { next: string }).next.length).toBeGreaterThan(20)
    return error
  }

  // Tests rule 15: A head that can't be this sandbox's is a typed error, and stays as it is.
  it.each([
    ["not JSON", () => bytesOf("<html>")],
    ["an array", () => []],
    ["cut off", (head: object) => bytesOf(JSON.stringify(head).slice(0, -20))],
    ["over 64 KiB", (head: object) => ({ ...head, pad: "x".repeat(65_536) })],
    ["of another sandbox", (head: object) => ({ ...head, key: "counter/b" })],
    ["of another type", (head: object) => ({ ...head, type: "timer" })],
    ["with a state that it can't have", (head: object) => ({ ...head, state: "gone" })],
    ["with a negative token", (head: object) => ({ ...head, token: -1 })],
    [
      "with a content name that leads elsewhere",
      (head: object) => ({ ...head, state: "content", content: "../x/head" }),
    ],
    ["with a ttl of a year", (head: object) => ({ ...head, ttlMs: 365 * 86_400_000 })],
  ])("one that is %s is CorruptCheckpointError", async (_what, change) => {
    expect(await refused(change)).toBeInstanceOf(CorruptCheckpointError)
  })

  it("one that needs what this release doesn't know is FormatVersionError", async () => {
    const error = await refused((head) => ({ ...head, v: 9, needs: ["encryption"], token: "not a number any more" }))
    expect(error).toBeInstanceOf(FormatVersionError)
    expect((error as FormatVersionError).needs).toEqual(["encryption"])
  })

  it("one whose state newer code saved is CheckpointVersionError", async () => {
    const error = await refused((head) => ({ ...head, version: 7 }))
    expect(error).toBeInstanceOf(CheckpointVersionError)
    expect(error).toMatchObject({ saved: 7, known: 1 })
  })

  // Tests rule 15: A head of another lease store is StoreMisconfiguredError unless `adoptHeads` is set.
  it("one written under another store's leases is StoreMisconfiguredError", async () => {
    expect(await refused((head) => ({ ...head, leases: "gs://other" }))).toBeInstanceOf(StoreMisconfiguredError)
  })
})

// Tests rule 15.
it("takes a head of another lease store over when it is told to adopt heads", async () => {
  const world = new World()
  await world.commit(await world.claimed(100, { leases: "gs://other" }), "kept")
  const { claimed } = await world.claimed(200, { adoptHeads: true })
  expect(textOf(claimed.checkpoint)).toBe("kept")
  expect(await world.head()).toMatchObject({ leases: "memory" })
})

it("refuses an inline state that doesn't match its checksum, and never starts empty instead", async () => {
  const world = new World()
  await world.commit(await world.claimed(100), "kept")
  await world.force((head) => ({ ...head, sha256: "0".repeat(64) }))
  await expect(world.claimed(200)).rejects.toBeInstanceOf(CorruptCheckpointError)
})

it("a removed sandbox starts empty, and may have been removed by newer code", async () => {
  const world = new World()
  const former = await world.claimed(100, { version: 7 })
  await world.commit(former, large(1))
  await world.time.runUntil(former.writer.remove({ budget: 30_000 }))
  const { claimed } = await world.claimed(200, { version: 1 })
  expect(claimed).toEqual({ checkpoint: undefined, calls: undefined, callsUntil: 0, version: 0, waitOutMs: 0 })
})
