/** Rule 8: giving up without a trace. */
import { describe, expect, it } from "vitest"
import { acquire, type ProcessModel } from "./process-model.ts"
import { Stranger } from "./strangers.ts"
import { type Request, World } from "./world.ts"

const kinds = (requests: readonly Request[]): string => requests.map(({ command }) => command.type).join(" ")
const of = (world: World, process: ProcessModel): readonly Request[] =>
  world.requests.filter((request) => request.process === process)

describe("rule 8: giving up", () => {
  // Tests rule 8: An acquire given up ends only at an answer that shows neither half mine, with nothing in flight.
  it("a cancelled wait erases its mark, and only its own half", () => {
    const world = new World()
    world.owner("a")
    const b = world.waiter("b")
    const { owner, ownerId, expiresAt } = world.store.body
    world.send(b, { type: "cancel" })
    world.until(() => b.phase === "idle")
    expect(b.error).toMatchObject({ _tag: "LockCancelledError" })
    expect(world.store.body).toMatchObject({ owner, ownerId, expiresAt, waitingOwnerId: null, waiter: null })
  })

  // Tests rule 8: A mark whose half a stranger dropped is erased.
  it("also one whose half a stranger dropped", () => {
    const world = new World()
    const stranger = new Stranger(world, "s", "drop")
    stranger.own()
    const b = world.waiter("b")
    stranger.own()
    expect(world.store.body).toMatchObject({ waitingOwnerId: "b" })
    world.send(b, { type: "cancel" })
    world.until(() => b.phase === "idle")
    expect(world.store.body).toMatchObject({ ownerId: "s", waitingOwnerId: null })
  })

  it("an acquire cancelled while its create is in flight owns nothing afterwards, whether it landed or lands later", () => {
    for (const lands of ["before", "after", "never"] as const) {
      const world = new World()
      const a = world.process("a")
      world.send(a, acquire())
      const claim = world.nextWrite(a)
      if (lands === "before") world.deliver(claim)
      world.send(a, { type: "cancel" })
      expect(a.types).toEqual([])
      a.network = "up"
      world.lose(claim)
      world.until(() => a.phase === "idle")
      if (lands === "after") world.deliver(claim)
      expect(a.types).toEqual(["GaveUp"])
      expect(world.store.body).toMatchObject({ ownerId: null, expiresAt: 0 })
    }
  })

  // Tests rule 8: A cancel between a lost create and its look burns the create.
  it("one cancelled between a create that got no answer and the look for it burns that create too", () => {
    const world = new World()
    const a = world.process("a")
    world.send(a, acquire())
    const claim = world.nextWrite(a)
    a.network = "up"
    world.lose(claim)
    expect(world.open(a)).toBeUndefined()
    world.send(a, { type: "cancel" })
    world.until(() => a.phase === "idle")
    world.deliver(claim)
    expect(claim.result?.kind).toBe("refused")
    expect(world.store.body["ownerId"]).toBeNull()
  })

  // Tests rule 7: The memory of a vanished owner ends within its ttl, or with a record of mine that names nobody.
  it("one that burned its create in place of a record that was deleted waits for that record's owner no more", () => {
    const world = new World({ clock: "none", spacing: 0 })
    const a = world.owner("a")
    const b = world.process("b")
    b.network = "up"
    world.send(b, acquire({ budgetMs: undefined }))
    world.advance(1000)
    world.crash(a)
    world.store.remove(world.at)
    const claim = world.nextWrite(b)
    b.network = "up"
    world.lose(claim)
    world.send(b, { type: "cancel" })
    world.until(() => b.phase === "idle")
    expect(world.store.body["ownerId"]).toBeNull()
    world.store.remove(world.at)
    world.send(b, acquire())
    world.until(() => b.holds(world.at))
  })

  // Tests rule 8: A create that may have landed is burned by a released record; a revived one is nobody's.
  it("a create that may have landed is burned by a released record, never by a delete", () => {
    const world = new World()
    const a = world.process("a", { deletes: true })
    world.send(a, acquire())
    const claim = world.nextWrite(a)
    a.network = "up"
    world.send(a, { type: "cancel" })
    world.lose(claim)
    world.until(() => a.phase === "idle")
    expect(kinds(of(world, a))).not.toContain("remove")
    expect(world.store.body["ownerId"]).toBeNull()
    world.deliver(claim)
    expect(claim.result?.kind).toBe("refused")
  })

  it("an acquire cancelled while its mark is in flight leaves no mark, whether it landed or lands later", () => {
    for (const lands of ["before", "after"] as const) {
      const world = new World()
      const a = world.owner("a")
      const b = world.process("b")
      world.send(b, acquire())
      const mark = world.nextWrite(b)
      if (lands === "before") world.deliver(mark)
      world.send(b, { type: "cancel" })
      b.network = "up"
      world.lose(mark)
      world.until(() => b.phase === "idle")
      if (lands === "after") world.deliver(mark)
      expect(world.store.body).toMatchObject({ ownerId: "a", waitingOwnerId: null })
      world.advance(30_000)
      expect(a.holds(world.at)).toBe(true)
    }
  })

  it("a cancel ends only when an answer shows that neither half is left: until then its mark's fate is open", () => {
    const world = new World()
    world.owner("a")
    const b = world.process("b")
    world.send(b, acquire())
    const mark = world.nextWrite(b)
    world.send(b, { type: "cancel" })
    world.advance(4000)
    expect(b.types).toEqual([])
    world.answer(mark)
    expect(b.types).toEqual([])
    world.answer(world.nextWrite(b))
    expect(b.types).toEqual(["GaveUp"])
    expect(b.phase).toBe("idle")
  })

  // Tests rule 8: A grant found after giving up is released at once.
  it("a grant that comes after the cancel is released at once", () => {
    const world = new World()
    const a = world.owner("a")
    const b = world.waiter("b")
    world.until(() => a.count("ReleaseRequested") > 0)
    b.network = "held"
    world.send(b, { type: "cancel" })
    const look = world.open(b)!
    world.send(a, { type: "release" })
    world.until(() => a.count("Granted") > 0)
    b.network = "up"
    world.answer(look)
    world.until(() => b.phase === "idle")
    expect(b.types).toEqual(["Waiting", "GaveUp"])
    expect(world.store.body).toMatchObject({ ownerId: null, ended: { how: "release" } })
  })

  // Tests rule 8: A grant that overtakes the erasure is found and released.
  it("and an erasure that the grant overtook finds it too", () => {
    const world = new World()
    const a = world.owner("a")
    const b = world.waiter("b")
    world.until(() => a.count("ReleaseRequested") > 0)
    world.send(b, { type: "cancel" })
    const erasure = world.nextWrite(b)
    world.send(a, { type: "release" })
    world.until(() => a.count("Granted") > 0)
    b.network = "up"
    world.answer(erasure)
    expect(erasure.result?.kind).toBe("refused")
    world.until(() => b.phase === "idle")
    expect(world.store.body["ownerId"]).toBeNull()
  })

  // Tests rule 8: Giving up is bounded, and the call settles in time; late answers change nothing.
  it("an answer that comes after giving up changes nothing that was told", () => {
    const world = new World()
    const a = world.process("a")
    world.send(a, acquire({ budgetMs: 5000 }))
    const claim = world.nextWrite(a)
    world.deliver(claim)
    world.advance(5001)
    expect(a.types).toEqual(["GaveUp"])
    a.network = "up"
    world.answer(claim)
    world.until(() => a.phase === "idle")
    expect(a.types).toEqual(["GaveUp"])
    expect(world.store.body["ownerId"]).toBeNull()
  })

  it("a create that was forgotten and comes to life when the record is deleted is owned by nobody, and replaceable", () => {
    const world = new World()
    const a = world.process("a")
    world.send(a, acquire({ whenOwned: "report" }))
    const late = world.nextWrite(a)
    a.network = "up"
    const b = world.owner("b", { deletes: true })
    world.lose(late)
    world.until(() => a.phase === "idle")
    world.send(b, { type: "release" })
    world.until(() => b.phase === "idle")
    expect(world.store.text).toBeUndefined()
    world.advance(1000)
    world.deliver(late)
    expect(world.store.body["ownerId"]).toBe("a")
    expect(a.holds(world.at)).toBe(false)
    world.send(a, acquire())
    world.advance(1500)
    expect(a.last("Acquired")).toMatchObject({ how: "takeover" })
    expect(a.token).toBeGreaterThan(b.last("Acquired")!.token)
  })

  // Tests rule 8: An early create that comes back to life within its attempt is acquired afresh.
  it("one that comes to life during the same attempt is not taken as it is: its token is from before another owner", () => {
    const world = new World()
    const a = world.process("a")
    world.send(a, acquire({ budgetMs: 60_000 }))
    const late = world.nextWrite(a)
    const b = world.owner("b", { deletes: true })
    a.network = "up"
    world.lose(late)
    world.advance(500)
    world.send(b, { type: "release" })
    world.until(() => b.phase === "idle")
    a.network = "held"
    world.advance(1100)
    expect(world.store.text).toBeUndefined()
    world.deliver(late)
    a.network = "up"
    expect(world.store.body["ownerId"]).toBe("a")
    world.until(() => a.holds(world.at))
    expect(a.token).toBeGreaterThan(b.last("Acquired")!.token)
  })

  it("nor is one with the very token of that owner, who created the record in the same millisecond", () => {
    const world = new World({ clock: "exact", spacing: 0 })
    const [a, b] = [world.process("a"), world.process("b", { deletes: true })]
    world.send(a, acquire({ whenOwned: "wait", budgetMs: 60_000 }))
    world.send(b, acquire())
    world.until(() => kinds(of(world, a)) === "read put")
    const late = of(world, a)[1]!
    late.deliverAt = Infinity
    world.until(() => b.holds(world.at))
    world.lose(late)
    world.until(() => a.count("Waiting") > 0)
    world.send(b, { type: "release" })
    world.until(() => world.store.text === undefined)
    world.deliver(late)
    expect(world.store.body["owner"]).toMatchObject({ for: "a", token: b.last("Acquired")!.token })
    world.until(() => a.holds(world.at))
    expect(a.last("Acquired")).toMatchObject({ how: "created" })
    expect(a.token).toBeGreaterThan(b.last("Acquired")!.token)
  })

  it("is bounded: a caller hears within 5 s of its cancel, and the rest goes on behind it for half a minute at most", () => {
    const world = new World()
    world.owner("a")
    const b = world.waiter("b", {}, { budgetMs: undefined })
    b.network = "down"
    world.send(b, { type: "cancel" })
    world.advance(4999)
    expect(b.types).toEqual(["Waiting"])
    world.advance(2)
    expect(b.types).toEqual(["Waiting", "GaveUp"])
    expect(b.phase).toBe("clearing")
    world.advance(25_000)
    expect(b.phase).toBe("idle")
  })

  it("a budget that is over is told at once, and the mark is erased behind it", () => {
    const world = new World()
    world.owner("a")
    const start = world.at
    const b = world.waiter("b", {}, { budgetMs: 6000 })
    world.advance(start + 6001 - world.at)
    expect(b.error).toMatchObject({ _tag: "LockTimeoutError" })
    world.until(() => b.phase === "idle")
    expect(world.store.body["waitingOwnerId"]).toBeNull()
  })

  // Tests rule 8: Budgets of 0, or too short to be served, never mark.
  it("a budget of 0 tries once and never marks; it takes what is free", () => {
    for (const spacing of [1000, 0]) {
      const world = new World({ spacing })
      const a = world.owner("a")
      const b = world.process("b")
      world.send(b, acquire({ budgetMs: 0, contention: "retry" }))
      world.advance(100)
      expect(b.error).toMatchObject({ _tag: "LockTimeoutError", limitMs: 0 })
      expect(kinds(of(world, b))).toBe("read")
      world.send(a, { type: "release" })
      world.advance(2000)
      world.send(b, acquire({ budgetMs: 0 }))
      world.advance(2000)
      expect(b.holds(world.at)).toBe(true)
    }
  })

  it("a budget under 4 s where writes are spaced never marks, one of 4 s does; elsewhere any does", () => {
    for (const [budgetMs, spacing, marks] of [
      [3999, 1000, false],
      [4000, 1000, true],
      [500, 0, true],
    ] as const) {
      const world = new World({ clock: "exact", spacing })
      world.owner("a")
      world.advance(2500)
      const b = world.process("b")
      world.send(b, acquire({ budgetMs }))
      world.advance(budgetMs - 1)
      expect(b.count("Waiting")).toBe(marks ? 1 : 0)
    }
  })

  // Tests rule 8: A dead half that a cancelled attempt finds is released.
  it("what a cancelled attempt finds of an earlier one of its own process is released, not left to run out", () => {
    const world = new World()
    const a = world.owner("a")
    world.send(a, { type: "leaveToExpire" })
    world.advance(27_100)
    expect(a.types).toEqual(["Acquired", "Lost"])
    world.send(a, acquire())
    const claim = world.nextWrite(a)
    a.network = "up"
    world.send(a, { type: "cancel" })
    world.lose(claim)
    world.until(() => a.phase === "idle")
    expect(world.store.body).toMatchObject({ ownerId: null, ended: { token: a.last("Acquired")!.token } })
  })
})
