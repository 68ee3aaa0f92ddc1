/** Rules 1 and 2: what a write is, and what its answer means. */
import { describe, expect, it } from "vitest"
import { acquire, type ProcessModel } from "./process-model.ts"
import { Stranger } from "./strangers.ts"
import { type Request, World } from "./world.ts"

/** The text of a put. */
function bytes({ command }: Request): string {
  if (command.type !== "put") throw new Error(`a ${command.type} has no bytes`)
  return command.body
}

const bodyOf = (request: Request): Record<string, unknown> => JSON.parse(bytes(request)) as Record<string, unknown>
const opIdOf = (request: Request): unknown => (bodyOf(request)["owner"] as { opId: string }).opId

/** A renewal of an owner whose network the test holds from here on. */
function heldRenewal(world: World, owner: ProcessModel): Request {
  owner.network = "held"
  world.send(owner, { type: "renew" })
  return world.nextWrite(owner)
}

const deadline = (process: ProcessModel): number => {
  if (process.state.phase.name !== "owning") throw new Error(`${process.id} owns nothing`)
  return process.state.phase.hold.deadline.mono
}

describe("rule 1: writes", () => {
  // Tests rule 1: Each logical write has an opId of its own; a retry carries the same bytes.
  it("each logical write has an opId of its own", () => {
    const world = new World()
    const a = world.owner("a")
    world.advance(120_000)
    const writes = world.requests.filter(({ command }) => command.type === "put")
    expect(writes.length).toBeGreaterThan(10)
    expect(new Set(writes.map(opIdOf)).size).toBe(writes.length)
    expect(a.count("Lost")).toBe(0)
  })

  it("a retry on the same generation carries the same bytes", () => {
    const world = new World()
    const a = world.owner("a")
    world.advance(2000)
    const first = heldRenewal(world, a)
    world.lose(first)
    expect(bytes(world.nextWrite(a))).toBe(bytes(first))
  })

  // Tests rule 1: Bytes with less than half their ttl left aren't sent again, but their opId is remembered.
  it("bytes with less than half their ttl left are not sent again: a new write goes out, and both opIds are known", () => {
    const world = new World()
    const a = world.owner("a")
    world.advance(2000)
    const first = heldRenewal(world, a)
    a.network = "down"
    world.lose(first)
    world.advance(15_500)
    const second = world.nextWrite(a)
    expect(second.command).toMatchObject({ type: "put", expected: (first.command as { expected: string }).expected })
    expect(opIdOf(second)).not.toBe(opIdOf(first))
    world.deliver(first)
    world.answer(second)
    expect(second.result?.kind).toBe("refused")
    world.answer(world.next(a))
    expect(a.count("Recovered")).toBe(1)
    expect(deadline(a)).toBe(first.sentAt + 27_000)
  })

  // Tests rule 10: A grant found dead, or with hardly anything left, is acquired afresh.
  it("a grant is not sent again once a quarter of it is over: its owner has the rest alone to renew it in", () => {
    for (const [ms, isSame] of [
      [1000, true],
      [2000, false],
    ] as const) {
      const world = new World()
      const a = world.owner("a", { ttl: 6000 })
      world.waiter("b", { ttl: 6000 })
      world.until(() => a.count("ReleaseRequested") > 0)
      world.send(a, { type: "release" })
      a.network = "held"
      const first = world.nextWrite(a)
      a.network = "down"
      world.lose(first)
      world.advance(ms)
      a.network = "held"
      const second = world.nextWrite(a)
      expect(bytes(second) === bytes(first)).toBe(isSame)
    }
  })

  // Tests rule 1: A write is built from the body whose generation it names, and is conditioned on it.
  it("a write is built from the very body whose generation it names: what others wrote into it stays, to the letter", () => {
    const world = new World()
    const a = world.owner("a")
    const waiter = {
      for: "w",
      expiresAt: 1_700_000_060.5,
      nonce: "n",
      accepts: ["grant", "later"],
      opId: "o",
      more: [1],
    }
    world.store.put(
      { ...world.store.body, waitingOwnerId: "w", waiterExpiresAt: 1_700_000_060.5, waiter, extra: "x" },
      0,
    )
    world.send(a, { type: "renew" })
    world.until(() => a.count("Renewed") > 0)
    expect(world.store.body).toMatchObject({
      waitingOwnerId: "w",
      waiterExpiresAt: 1_700_000_060.5,
      waiter,
      extra: "x",
    })
    expect(world.store.body["owner"]).toMatchObject({ for: "a" })
  })

  // Tests rule 1: What isn't known is carried over while the record can be read with it.
  it("what isn't known is not carried over where nobody could read the record with it", () => {
    const world = new World()
    const a = world.owner("a")
    const size = (): number => new TextEncoder().encode(world.store.text).length
    world.store.put({ ...world.store.body, large: "é".repeat((65_500 - size()) / 2) }, 0)
    expect(size()).toBeLessThanOrEqual(65_536)
    world.waiter("b")
    world.until(() => a.count("ReleaseRequested") > 0)
    world.send(a, { type: "renew" })
    world.until(() => a.count("Renewed") > 0)
    expect(size()).toBeLessThan(65_536)
    expect(world.store.body).not.toHaveProperty("large")
    expect(world.store.body).toMatchObject({
      ownerId: "a",
      waitingOwnerId: "b",
      owner: { for: "a" },
      waiter: { for: "b" },
    })
  })

  // Tests rule 1: A mark changes nothing of the owner's half.
  it("a mark leaves the owner's half and times to the letter", () => {
    const world = new World()
    world.owner("a")
    world.store.put({ ...world.store.body, owner: { ...(world.store.body["owner"] as object), more: { x: 1 } } }, 0)
    const before = world.store.body
    world.waiter("b")
    const { owner, ownerId, expiresAt, ended } = world.store.body
    expect({ owner, ownerId, expiresAt, ended }).toEqual({
      owner: before["owner"],
      ownerId: "a",
      expiresAt: before["expiresAt"],
      ended: null,
    })
  })

  it("a write whose generation is gone can never land, however late it arrives", () => {
    const world = new World()
    const a = world.owner("a")
    world.advance(2000)
    const late = heldRenewal(world, a)
    world.lose(late)
    a.network = "up"
    world.until(() => a.count("Recovered") > 0)
    world.advance(3000)
    const before = world.store.text
    world.deliver(late)
    expect(late.result?.kind).toBe("refused")
    expect(world.store.text).toBe(before)
  })

  // Tests rule 1: One request is under way at a time; answers to requests given up on are discarded.
  it("a write under way is never doubled by another: a read waits, a forced renewal too", () => {
    const world = new World()
    const a = world.owner("a")
    world.advance(2000)
    const first = heldRenewal(world, a)
    world.send(a, { type: "renew" })
    world.advance(5000)
    expect(world.next(a)).toBe(first)
  })

  it("a read is given up when a write is due, and its late answer teaches nothing", () => {
    const world = new World()
    const a = world.owner("a")
    world.advance(1500)
    a.network = "held"
    const read = world.next(a, "read")
    world.deliver(read)
    world.send(a, { type: "renew" })
    const write = world.next(a, "put")
    expect(read.over).toBe(true)
    world.answer(write)
    const before = a.state
    world.answer(read)
    expect(a.state.view).toEqual(before.view)
    expect(a.state.phase).toEqual(before.phase)
  })

  it("an answer to a request given up on is discarded", () => {
    const world = new World()
    const b = world.process("b")
    b.network = "held"
    world.send(b, acquire())
    const first = world.next(b)
    world.lose(first)
    const before = b.state
    world.answer(first)
    expect(b.state.view).toBeUndefined()
    expect(b.state.phase).toEqual(before.phase)
  })

  it("also while another request is under way", () => {
    const world = new World()
    const b = world.process("b")
    b.network = "held"
    world.send(b, acquire())
    const first = world.next(b)
    world.lose(first)
    const second = world.next(b, "read")
    world.answer(first)
    expect(world.open(b)).toBe(second)
    expect(b.state.flight).toBeDefined()
    expect(b.state.view).toBeUndefined()
  })
})

describe("rule 2: what an answer means", () => {
  // Tests rule 2: What landed without an answer is recognised by its opId.
  it("a claim that landed without an answer is recognised by its opId and counts from its first send", () => {
    const world = new World()
    const a = world.process("a")
    world.send(a, acquire())
    const claim = world.nextWrite(a)
    world.advance(1000)
    world.loseAnswer(claim)
    world.answer(world.next(a, "read"))
    expect(a.last("Acquired")).toMatchObject({ how: "created" })
    expect(deadline(a)).toBe(claim.sentAt + 27_000)
  })

  // Tests rule 2: A 412 is never contention by itself; it is read back.
  it("a 412 is no contention: the answer to a doubled create is read back, and the key is mine", () => {
    const world = new World()
    const a = world.process("a")
    world.send(a, acquire({ contention: "fail" }))
    const claim = world.nextWrite(a)
    world.deliver(claim)
    world.answer(claim, { kind: "refused", storeTime: world.store.time(world.at)! })
    world.answer(world.next(a))
    expect(a.types).toEqual(["Acquired"])
  })

  it("a 412 to an owner whose record a waiter marked is no loss: it writes again, from a fresh anchor", () => {
    const world = new World()
    const a = world.owner("a")
    world.advance(2100)
    a.network = "held"
    world.waiter("b")
    const first = heldRenewal(world, a)
    world.answer(first)
    expect(first.result?.kind).toBe("refused")
    const second = world.nextWrite(a)
    expect(opIdOf(second)).not.toBe(opIdOf(first))
    world.answer(second)
    expect(a.count("Renewed")).toBe(1)
    expect(deadline(a)).toBe(second.sentAt + 27_000)
  })

  it("a mark that landed without an answer makes a waiter", () => {
    const world = new World()
    world.owner("a")
    const b = world.process("b")
    world.send(b, acquire())
    world.loseAnswer(world.nextWrite(b))
    b.network = "up"
    world.until(() => b.count("Waiting") > 0)
    expect(world.store.history).toHaveLength(2)
  })

  it("a waiter whose refresh is refused because it was granted the key owns it", () => {
    const world = new World()
    const a = world.owner("a")
    const b = world.waiter("b")
    world.advance(3000)
    const refresh = world.nextWrite(b)
    world.send(a, { type: "release" })
    world.until(() => a.count("Granted") > 0)
    world.answer(refresh)
    expect(refresh.result?.kind).toBe("refused")
    world.answer(world.next(b))
    expect(b.last("Acquired")).toMatchObject({ how: "granted" })
  })

  // Tests rule 2: Of two that create or mark at once, one wins.
  it("of two that create at once one owns and the other waits", () => {
    const world = new World()
    const [a, b] = [world.process("a"), world.process("b")]
    world.send(a, acquire())
    world.send(b, acquire())
    world.until(() => b.count("Waiting") > 0)
    expect(a.types[0]).toBe("Acquired")
    expect(world.store.body).toMatchObject({ ownerId: "a", waitingOwnerId: "b" })
  })

  it("of two that become the waiter at once one waits and the other is told who does", () => {
    const world = new World()
    world.owner("a")
    const [b, c] = [world.process("b"), world.process("c")]
    world.send(b, acquire())
    world.send(c, acquire())
    world.until(() => c.phase === "idle")
    expect(b.types).toEqual(["Waiting"])
    expect(c.error).toMatchObject({ _tag: "LockContentionError", waiterId: "b", owner: { ownerId: "a" } })
  })

  // Tests rule 2: An owner that finds its record gone, released or another's has lost it; an acquirer tries again.
  it("an acquirer that finds the record gone or released tries again", () => {
    for (const gone of [true, false]) {
      const world = new World()
      const stranger = new Stranger(world, "s")
      stranger.own()
      const b = world.process("b")
      world.send(b, acquire())
      const mark = world.nextWrite(b)
      if (gone) world.store.remove(world.at)
      else stranger.release()
      b.network = "up"
      world.answer(mark)
      world.until(() => b.holds(world.at))
      expect(b.last("Acquired")).toMatchObject({ how: gone ? "created" : "free" })
    }
  })

  it("an owner that finds its record gone, released or another's has lost it at once", () => {
    const cases = [
      ["deleted", (world: World) => world.store.remove(world.at)],
      ["released", (world: World) => new Stranger(world, "s").release()],
      ["taken", (world: World) => new Stranger(world, "s").own()],
    ] as const
    for (const [reason, change] of cases) {
      const world = new World()
      const a = world.owner("a")
      change(world)
      world.advance(2500)
      expect(a.error).toMatchObject({ _tag: "LockLostError", reason })
      expect(a.phase).toBe("idle")
    }
  })

  // Tests rule 3: An answer from a cache gives neither sample nor authority.
  it("an applied write without the store's time proves nothing: it is read back", () => {
    const world = new World()
    const a = world.owner("a")
    world.advance(2000)
    const before = deadline(a)
    const renewal = heldRenewal(world, a)
    world.deliver(renewal)
    world.answer(renewal, { kind: "applied", generation: world.store.generation })
    expect(deadline(a)).toBe(before)
    expect(world.next(a).command.type).toBe("read")
    world.answer(world.next(a))
    expect(deadline(a)).toBe(renewal.sentAt + 27_000)
    expect(a.types).toEqual(["Acquired", "Renewed"])
  })
})
