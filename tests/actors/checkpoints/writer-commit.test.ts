// Rule 16: what a head write needs, what its answers mean, and who shares one. Rule 18: what is in flight is resolved.
import { describe, expect, it } from "vitest"
import { headRef } from "../../../src/actors/checkpoints/objects/names.ts"
import {
  CheckpointInvalidError,
  CheckpointRejectedError,
  CheckpointUnknownError,
  CorruptCheckpointError,
  InvalidConfigError,
  LockLostError,
  LockNotHeldError,
  StoreUnavailableError,
} from "../../../src/locks/api/errors.ts"
import {
  failApplied,
  failPut,
  failRead,
  hold,
  late,
  loseAnswer,
  loseRequest,
  refuse,
  refuseApplied,
  throttle,
} from "../../support/scripted-store.ts"
import { bytesOf, failureOf, large, lockKey, textOf, World } from "./world.ts"

const budget = 30_000

describe("a commit", () => {
  // Tests rule 16: A head write has a greater (token, seq).
  it("is one write, with the same token and the next sequence number", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    await world.commit(owner, "one")
    await world.commit(owner, "two")
    expect(world.headRequests).toEqual(["read absent", "put applied", "put applied", "put applied"])
    expect(await world.head()).toMatchObject({ token: 100, seq: 3, version: 1, saved: { state: "inline", bytes: 3 } })
  })

  // Tests rule 16: A commit is acknowledged only once known applied.
  it.each([
    ["answer is lost", loseAnswer()],
    ["answer says refused though it landed", refuseApplied()],
    ["answer says unknown though it landed", failApplied()],
    ["request is lost", loseRequest()],
    ["request fails", failPut()],
    ["request is refused without a reason", refuse()],
    ["request arrives after its deadline", late(7000)],
  ])("whose %s is acknowledged only once it is read back or written again", async (_what, fault) => {
    const world = new World()
    const owner = await world.claimed(100)
    world.store.script.onPut(fault)
    await world.commit(owner, "kept")
    const head = await world.head()
    expect(head).toMatchObject({ seq: 2, saved: { state: "inline", bytes: 4 } })
    await world.time.runUntilIdle()
    expect(await world.head()).toEqual(head)
  })

  // Tests rule 1, rule 16: The same bytes of a head are sent again while the generation is unchanged.
  it("sends the same bytes again while the generation is unchanged", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    world.store.script.onPut(failPut(), refuse(), failPut())
    await world.commit(owner, "kept")
    const puts = world.store.script.requests.filter(({ op }) => op === "put").slice(1)
    expect(puts.length).toBe(4)
    expect(new Set(puts.map(({ body }) => textOf(body))).size).toBe(1)
    expect(new Set(puts.map(({ expected }) => expected)).size).toBe(1)
  })

  // Tests rule 16: A commit is rejected only if the head's `over` shows that it didn't land; otherwise it is unknown.
  it("is rejected when the next owner claimed the version before it", async () => {
    const world = new World()
    const former = await world.claimed(100)
    await world.claimed(200)
    expect(await failureOf(world.commit(former, "too late"))).toBeInstanceOf(CheckpointRejectedError)
    const sent = world.headWrites
    expect(await failureOf(world.commit(former, "again"))).toBeInstanceOf(CheckpointRejectedError)
    expect(await failureOf(world.commit(former, large(1)))).toBeInstanceOf(CheckpointRejectedError)
    expect(world.headWrites).toBe(sent)
    expect(await world.contents()).toEqual([])
  })

  it("is rejected for the same reason after the next owner has written much more", async () => {
    const world = new World()
    const former = await world.claimed(100)
    const next = await world.claimed(200)
    for (const text of ["1", "2", "3"]) await world.commit(next, text)
    expect(await failureOf(world.commit(former, "too late"))).toBeInstanceOf(CheckpointRejectedError)
  })

  // Tests rule 16: A commit that `over` names is known applied.
  it("is acknowledged, answer lost, when the next owner's claim shows that it followed this very write", async () => {
    const world = new World()
    const former = await world.claimed(100)
    world.store.script.onPut(loseAnswer())
    const commit = former.writer.commit(bytesOf("landed"), { budget })
    const next = await world.claimed(200)
    expect(textOf(next.claimed.checkpoint)).toBe("landed")
    await world.time.runUntil(commit)
    expect(await failureOf(world.commit(former, "more"))).toBeInstanceOf(CheckpointRejectedError)
  })

  it("is unknown when a later owner's head no longer tells", async () => {
    const world = new World()
    const former = await world.claimed(100)
    world.store.script.onPut(loseAnswer())
    const commit = failureOf(former.writer.commit(bytesOf("landed"), { budget }))
    await world.commit(await world.claimed(200), "next")
    await world.claimed(300)
    expect(await world.time.runUntil(commit)).toBeInstanceOf(CheckpointUnknownError)
  })

  it("is unknown when its budget ends after it was sent, and not stored when nothing was sent", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    world.store.script.onPut(loseAnswer())
    world.store.script.onRead(...Array.from({ length: 50 }, () => failRead()))
    expect(await failureOf(world.commit(owner, "sent", 8000))).toBeInstanceOf(CheckpointUnknownError)
    world.store.script.heal()
    owner.lease.held = false
    await world.time.runUntil(owner.writer.settle({ budget }))
    expect(await failureOf(world.commit(owner, "not sent", 8000))).toBeInstanceOf(StoreUnavailableError)
  })

  it("is unknown to a caller whose own budget ends while it is under way, and still lands", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    const held = hold()
    world.store.script.onPut(held)
    const short = failureOf(owner.writer.commit(bytesOf("slow"), { budget: 1000 }))
    expect(await world.time.runUntil(short)).toBeInstanceOf(CheckpointUnknownError)
    held.answer()
    await world.time.runUntil(owner.writer.settle({ budget }))
    expect(textOf((await world.claimed(200)).claimed.checkpoint)).toBe("slow")
  })

  it("is refused before the claim and after close", async () => {
    const world = new World()
    const owner = world.owner(100)
    expect(await failureOf(owner.writer.commit(bytesOf("x"), { budget }))).toBeInstanceOf(LockNotHeldError)
    await world.claim(owner)
    await owner.writer.close()
    expect(await failureOf(owner.writer.commit(bytesOf("x"), { budget }))).toBeInstanceOf(LockNotHeldError)
  })

  // Tests rule 16: A state over the cap is refused before anything is written.
  it("over the cap is refused before anything is written", async () => {
    const world = new World()
    const owner = await world.claimed(100, { maxCheckpoint: 1000 })
    const requests = world.store.script.requests.length
    const error = await failureOf(world.commit(owner, new Uint8Array(1001)))
    expect(error).toBeInstanceOf(CheckpointInvalidError)
    expect((error as Error).message).toContain("1000")
    expect(world.store.script.requests.length).toBe(requests)
    await world.commit(owner, new Uint8Array(1000))
  })

  // Tests rule 5, rule 16: No head is written while the lease is in doubt, or after its loss.
  it("waits out a lease in doubt, and ends with the loss when the lease is lost before it was sent", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    owner.lease.held = false
    const commit = failureOf(owner.writer.commit(bytesOf("x"), { budget }))
    world.time.after(3000, () => owner.lease.lose())
    expect(await world.time.runUntil(commit)).toBeInstanceOf(LockLostError)
    expect(world.headWrites).toBe(1)
    expect(world.time.read().mono).toBe(3000)
  })

  it("that was sent before the loss is still resolved, and never sent again", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    const one = Promise.withResolvers<void>()
    world.store.script.onPut({ ...loseAnswer(), onSent: one.resolve })
    const landed = owner.writer.commit(bytesOf("landed"), { budget })
    await one.promise
    owner.lease.lose()
    await world.time.runUntil(landed)

    const other = await world.claimed(200)
    const two = Promise.withResolvers<void>()
    world.store.script.onPut({ ...loseRequest(), onSent: two.resolve })
    const gone = failureOf(other.writer.commit(bytesOf("gone"), { budget }))
    await two.promise
    other.lease.lose()
    const since = world.time.read().mono
    expect(await world.time.runUntil(gone)).toBeInstanceOf(CheckpointUnknownError)
    expect(world.headWrites).toBe(4)
    expect(world.time.read().mono - since).toBe(5000)
  })

  it("that waits to be read back when the lease is lost is read back at once", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    world.store.script.onPut(failApplied())
    world.store.script.onRead(failRead())
    const commit = owner.writer.commit(bytesOf("landed"), { budget })
    await world.time.advance(1)
    owner.lease.lose()
    await world.time.runUntil(commit)
    expect(world.time.read().mono).toBe(1)
    expect(world.headRequests.slice(2)).toEqual(["put unknown", "read failed", "read found"])
  })

  it("of a lost lease sends nothing, not even content, and isn't acknowledged for being stored already", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    await world.commit(owner, "same")
    owner.lease.lose()
    const sent = world.store.script.requests.length
    expect(await failureOf(world.commit(owner, large(1)))).toBeInstanceOf(LockLostError)
    expect(await failureOf(world.commit(owner, "same"))).toBeInstanceOf(LockLostError)
    expect(world.store.script.requests.length).toBe(sent)
  })

  it("reads back at once the first time, and after growing pauses later", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    world.store.script.onPut(...Array.from({ length: 6 }, () => failPut()))
    await world.commit(owner, "x")
    const reads = world.store.script.requests.filter(({ op }) => op === "read").slice(1)
    const pauses = reads.map(({ sentAt }, index) => sentAt - (reads[index - 1]?.sentAt ?? 0))
    expect(pauses[0]).toBe(0)
    for (const [index, pause] of pauses.slice(1).entries()) {
      expect(pause).toBeGreaterThanOrEqual(Math.min(1000, 200 * 2 ** index))
      expect(pause).toBeLessThanOrEqual(Math.min(2000, 400 * 2 ** index))
    }
  })

  it("is unknown, and says why, when what it could be read back from has been damaged", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    world.store.script.onPut(loseRequest())
    const commit = failureOf(owner.writer.commit(bytesOf("x"), { budget }))
    await world.force(() => [])
    const error = await world.time.runUntil(commit)
    expect(error).toBeInstanceOf(CheckpointUnknownError)
    expect((error as Error).cause).toBeInstanceOf(CorruptCheckpointError)
  })

  it("writes a head anew that was deleted by hand", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    await world.commit(owner, "one")
    const read = await world.store.read(headRef(lockKey), { deadline: 1000, limit: 100_000 })
    await world.store.remove(headRef(lockKey), read.kind === "found" ? read.generation : "", { deadline: 1000 })
    await world.commit(owner, "two")
    expect(await world.head()).toMatchObject({ token: 100, predecessorOpId: null })
    expect(textOf((await world.claimed(200)).claimed.checkpoint)).toBe("two")
  })

  // Tests rule 1, rule 16: Each head write sent on a generation is remembered until that moves.
  it("isn't mistaken for another's when an earlier one lands late, just before it", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    world.store.script.onPut(late(20_000))
    world.store.script.onRead(...Array.from({ length: 30 }, () => failRead()))
    expect(await failureOf(world.commit(owner, "early", 10_000))).toBeInstanceOf(CheckpointUnknownError)
    world.store.script.heal()
    world.store.script.onPut(loseRequest(), loseRequest())
    await world.commit(owner, "later")
    expect((await world.head()).seq).toBe(3)
    expect(textOf((await world.claimed(200)).claimed.checkpoint)).toBe("later")
  })

  it("keeps the bytes it was given, whatever their owner does to them meanwhile", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    const held = hold()
    world.store.script.onPut(held)
    const first = owner.writer.commit(bytesOf("first"), { budget })
    const bytes = bytesOf("as it was")
    const second = owner.writer.commit(bytes, { budget })
    bytes.fill(0)
    held.answer()
    await world.time.runUntil(Promise.all([first, second]))
    expect(textOf((await world.claimed(200)).claimed.checkpoint)).toBe("as it was")
  })

  it("carries on fields that only a later release knows", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    await world.commit(owner, large(1))
    await world.force((head) => ({ ...head, encryption: { with: "rot13" }, v: 3 }))
    const next = await world.claimed(200)
    await world.commit(next, large(2))
    expect(await world.head()).toMatchObject({ v: 3, extra: { encryption: { with: "rot13" } } })
  })
})

describe("group commit", () => {
  // Tests rule 16: One head write in flight; requests meanwhile share the next.
  it("has one head write in flight, and all who ask meanwhile share the next one", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    const held = hold()
    world.store.script.onPut(held)
    const first = owner.writer.commit(bytesOf("0"), { budget })
    await world.time.runUntil(held.arrived)
    const more = Array.from({ length: 20 }, (_, n) => owner.writer.commit(bytesOf(String(n + 1)), { budget }))
    await world.time.advance(1000)
    expect(world.headWrites).toBe(2)
    held.answer()
    await world.time.runUntil(Promise.all([first, ...more]))
    expect(world.headWrites).toBe(3)
    expect(textOf((await world.claimed(200)).claimed.checkpoint)).toBe("20")
  })

  it("lets each caller wait for as long as it wants, and forgets a write that nobody waits for", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    const held = hold()
    world.store.script.onPut(held)
    const first = owner.writer.commit(bytesOf("0"), { budget })
    const short = failureOf(owner.writer.commit(bytesOf("1"), { budget: 500 }))
    expect(await world.time.runUntil(short)).toBeInstanceOf(StoreUnavailableError)
    expect(world.time.read().mono).toBe(500)
    held.answer()
    await world.time.runUntil(first)
    await world.time.runUntil(owner.writer.settle({ budget }))
    expect(textOf((await world.claimed(200)).claimed.checkpoint)).toBe("0")
  })

  it("goes on for the most patient of those who share a write", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    const held = hold()
    world.store.script.onPut(held)
    const first = owner.writer.commit(bytesOf("0"), { budget })
    const patient = owner.writer.commit(bytesOf("1"), { budget })
    const hasty = failureOf(owner.writer.commit(bytesOf("2"), { budget: 500 }))
    expect(await world.time.runUntil(hasty)).toBeInstanceOf(StoreUnavailableError)
    held.answer()
    await world.time.runUntil(Promise.all([first, patient]))
    expect(textOf((await world.claimed(200)).claimed.checkpoint)).toBe("2")
  })

  // Tests rule 16: Bytes equal to the head's aren't written, unless something unresolved may replace those.
  it("doesn't write bytes that the head holds already, small or large", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    for (const bytes of [bytesOf("same"), large(7)]) {
      await world.commit(owner, bytes)
      const requests = world.store.script.requests.length
      await world.commit(owner, bytes)
      expect(world.store.script.requests.length).toBe(requests)
    }
    const next = await world.claimed(200)
    const writes = world.headWrites
    await world.commit(next, large(7))
    expect(world.headWrites).toBe(writes)
  })

  it("writes the same bytes when newer code saves them, so that their version is known", async () => {
    const world = new World()
    await world.commit(await world.claimed(100), "same")
    const next = await world.claimed(200, { version: 2 })
    await world.commit(next, "same")
    expect(await world.head()).toMatchObject({ version: 2 })
  })

  it("writes bytes equal to the last known ones while an unresolved write may still replace those", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    await world.commit(owner, "one")
    world.store.script.onPut(late(20_000))
    world.store.script.onRead(...Array.from({ length: 30 }, () => failRead()))
    expect(await failureOf(world.commit(owner, "two", 10_000))).toBeInstanceOf(CheckpointUnknownError)
    world.store.script.heal()
    await world.commit(owner, "one")
    await world.time.runUntilIdle()
    expect(textOf((await world.claimed(200)).claimed.checkpoint)).toBe("one")
  })
})

describe("spacing", () => {
  // Tests rule 13, rule 16: Head writes are spaced where the store says so.
  it("keeps head writes a second apart where the store says so, the claim's included", async () => {
    const world = new World({ writeSpacing: 1000 })
    const owner = await world.claimed(100)
    for (const text of ["1", "2", "3"]) await world.commit(owner, text)
    const sent = world.store.script.requests.filter(({ op }) => op === "put").map(({ sentAt }) => sentAt)
    expect(sent).toEqual([0, 1000, 2000, 3000])
  })

  it("takes a throttled write for one that may have landed, and waits the spacing", async () => {
    const world = new World({ writeSpacing: 1000 })
    const owner = await world.claimed(100)
    await world.time.advance(5000)
    world.store.script.onPut(throttle())
    await world.commit(owner, "kept")
    const sent = world.store.script.requests.filter(({ op }) => op === "put").map(({ sentAt }) => sentAt)
    expect(sent).toEqual([0, 5000, 6000])
  })
})

describe("settle", () => {
  // Tests rule 18: A commit in flight is resolved before the final one.
  it("resolves a commit in flight before it settles", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    const held = hold()
    world.store.script.onPut(held)
    const commit = owner.writer.commit(bytesOf("in flight"), { budget })
    const order: string[] = []
    void commit.then(() => order.push("commit"))
    const settled = owner.writer.settle({ budget }).then(() => order.push("settled"))
    await world.time.advance(2000)
    expect(order).toEqual([])
    held.answer()
    await world.time.runUntil(settled)
    expect(order).toEqual(["commit", "settled"])
  })

  it("sends a write again of which nobody knows whether it landed, until that is known", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    world.store.script.onPut(loseRequest())
    world.store.script.onRead(...Array.from({ length: 30 }, () => failRead()))
    expect(await failureOf(world.commit(owner, "kept", 10_000))).toBeInstanceOf(CheckpointUnknownError)
    world.store.script.heal()
    await world.time.runUntil(owner.writer.settle({ budget }))
    expect(textOf((await world.claimed(200)).claimed.checkpoint)).toBe("kept")
  })

  it("sends nothing when nothing is unresolved, and rejects when another owner has come", async () => {
    const world = new World()
    const owner = await world.claimed(100)
    await world.time.runUntil(owner.writer.settle({ budget }))
    expect(world.headRequests.length).toBe(2)
    world.store.script.onPut(loseRequest())
    world.store.script.onRead(...Array.from({ length: 30 }, () => failRead()))
    await failureOf(world.commit(owner, "gone", 10_000))
    world.store.script.heal()
    await world.claimed(200)
    expect(await failureOf(world.time.runUntil(owner.writer.settle({ budget })))).toBeInstanceOf(
      CheckpointRejectedError,
    )
  })
})

it("closes when the write under way has ended", async () => {
  const world = new World()
  const owner = await world.claimed(100)
  const held = hold()
  world.store.script.onPut(held)
  let isClosed = false
  const commit = owner.writer.commit(bytesOf("x"), { budget })
  const closed = owner.writer.close().then(() => (isClosed = true))
  await world.time.advance(1000)
  expect(isClosed).toBe(false)
  held.answer()
  await world.time.runUntil(Promise.all([commit, closed]))
  expect(await world.head()).toMatchObject({ saved: { state: "inline" } })
})

// Tests rule 15, rule 16: A claim or commit leaves nothing behind.
it("leaves no timer and no listener behind", async () => {
  const world = new World()
  const owner = await world.claimed(100)
  world.store.script.onPut(loseAnswer())
  await world.commit(owner, "x")
  await world.commit(owner, large(1))
  await world.time.runUntil(owner.writer.close())
  expect(world.time.pendingTimers).toBe(0)
  expect(owner.lease.listeners).toBe(0)
  expect(world.errors).toEqual([])
})

it.each([{ keepCheckpoints: -1 }, { keepCheckpoints: 33 }, { keepCheckpoints: 1.5 }, { maxCheckpoint: 0 }])(
  "refuses %j where it is written",
  (options) => {
    expect(() => new World().owner(1, options)).toThrow(InvalidConfigError)
  },
)
