/** Rule 12: fencing tokens. */
import { describe, expect, it } from "vitest"
import { acquire, type ProcessModel } from "./process-model.ts"
import { EPOCH } from "./store-model.ts"
import { Stranger } from "./strangers.ts"
import { World } from "./world.ts"

const tokenIn = (world: World): number => (world.store.body["owner"] as { token: number }).token

describe("rule 12: tokens", () => {
  it("are the store's time in milliseconds, where that is greater than the last", () => {
    const world = new World({ clock: "exact" })
    world.advance(500_000)
    const a = world.owner("a", { wallAhead: -3_600_000 })
    expect(Math.abs(a.token! - (EPOCH + 500_000))).toBeLessThan(200)
  })

  // Tests rule 12: A token grows with every change of owner, whatever strangers and operators do.
  it("are the last and one where the store's time is behind it", () => {
    const world = new World()
    const a = world.owner("a")
    const ahead = a.token! + 1_000_000
    world.send(a, { type: "renew", tokenAbove: ahead })
    world.until(() => a.token === ahead + 1)
    world.send(a, { type: "release" })
    world.until(() => a.phase === "idle")
    expect(world.store.body["ended"]).toMatchObject({ token: ahead + 1 })
    expect(world.owner("b").token).toBe(ahead + 2)
  })

  it("grow by grant, reserve, release and takeover", () => {
    const world = new World()
    const tokens: number[] = []
    const a = world.owner("a")
    const b = world.waiter("b")
    tokens.push(a.token!)
    world.send(a, { type: "release" })
    world.until(() => b.holds(world.at))
    tokens.push(b.token!)
    world.crash(b)
    world.advance(40_000)
    const c = world.owner("c")
    tokens.push(c.token!)
    world.send(c, { type: "release" })
    world.until(() => c.phase === "idle")
    tokens.push(world.owner("d").token!)
    expect(tokens).toEqual(tokens.toSorted((one, other) => one - other))
    expect(new Set(tokens).size).toBe(4)
  })

  it("go on growing when a stranger deletes the record, or drops all but the published fields", () => {
    for (const drop of [(world: World) => world.store.remove(world.at), strip]) {
      const world = new World()
      const a = world.owner("a")
      const before = a.token!
      world.send(a, { type: "release" })
      world.until(() => a.phase === "idle")
      world.advance(3000)
      drop(world)
      expect(world.owner("b").token).toBeGreaterThan(before)
    }
  })

  // Tests rule 12: A process that saw a token writes a greater one, though the record was deleted.
  it("are above a raised one though the record was deleted, for who has seen it", () => {
    const world = new World()
    const a = world.owner("a")
    const b = world.process("b")
    const ahead = a.token! + 1_000_000
    world.send(a, { type: "renew", tokenAbove: ahead })
    world.until(() => a.token === ahead + 1)
    world.send(b, acquire({ budgetMs: 60_000 }))
    world.until(() => b.count("Waiting") > 0)
    world.crash(a)
    world.store.remove(world.at)
    world.until(() => b.holds(world.at))
    expect(b.last("Acquired")).toMatchObject({ how: "created", token: ahead + 2 })
  })

  it("are above that of a half which a stranger kept beside its own pair", () => {
    const world = new World()
    const stranger = new Stranger(world, "s", "keep")
    stranger.own()
    const kept = EPOCH + 5_000_000
    const { store } = world
    store.put(
      { ...store.body, owner: { for: "x", expiresAt: 1, token: kept, ttlMs: 1, nonce: "n", opId: "o" } },
      world.at,
    )
    stranger.release()
    expect(world.owner("a").token).toBe(kept + 1)
  })

  // Tests rule 12: A token always leaves room for the next.
  it("that leave no room for others are corrupt, and where they don't count they are ignored", () => {
    const world = new World()
    const a = world.owner("a")
    const owner = { ...(world.store.body["owner"] as object), token: Number.MAX_SAFE_INTEGER }
    world.store.put({ ...world.store.body, owner }, world.at)
    world.advance(3000)
    expect(a.error).toMatchObject({ reason: "corrupt" })
    const other = new World()
    other.store.put({ ownerId: null, expiresAt: 0, owner }, 0)
    expect(other.owner("b").holds(other.at)).toBe(true)
  })
})

describe("rule 12: raising one's own", () => {
  /** An owner whose raise is under way. */
  function raising(): {
    readonly world: World
    readonly a: ProcessModel
    readonly before: number
    readonly to: number
  } {
    const world = new World()
    const a = world.owner("a")
    const before = a.token!
    world.advance(2000)
    a.network = "held"
    world.send(a, { type: "renew", tokenAbove: before + 10 })
    return { world, a, before, to: before + 11 }
  }

  // Tests rule 12: A raise counts once it is known applied.
  it("is one renewal, and counts once it is known applied", () => {
    const { world, a, before, to } = raising()
    const write = world.nextWrite(a)
    expect(a.token).toBe(before)
    world.answer(write)
    expect(a.token).toBe(to)
    expect(tokenIn(world)).toBe(to)
    expect(a.last("Renewed")).toMatchObject({ token: to })
  })

  it("until then the half with the old token is mine too", () => {
    const { world, a, before, to } = raising()
    world.lose(world.nextWrite(a))
    world.answer(world.next(a, "read"))
    expect(a.phase).toBe("owning")
    expect(a.token).toBe(before)
    world.answer(world.nextWrite(a))
    expect(a.token).toBe(to)
  })

  it("and the one with the new token, where only a read shows it", () => {
    const { world, a, to } = raising()
    world.loseAnswer(world.nextWrite(a))
    world.answer(world.next(a, "read"))
    expect(a.token).toBe(to)
  })

  it("asked for while a renewal is in flight, it comes right after that one", () => {
    const world = new World()
    const a = world.owner("a")
    world.advance(2000)
    a.network = "held"
    world.send(a, { type: "renew" })
    const first = world.nextWrite(a)
    const to = a.token! + 11
    world.send(a, { type: "renew", tokenAbove: a.token! + 10 })
    world.answer(first)
    expect(a.token).toBeLessThan(to)
    world.answer(world.nextWrite(a))
    expect(a.token).toBe(to)
    expect(world.at).toBeLessThan(4000)
  })

  it("asked for while a renewal's fate is open, it takes that one's place instead of following it", () => {
    const world = new World()
    const a = world.owner("a")
    world.advance(2000)
    a.network = "held"
    world.send(a, { type: "renew" })
    const first = world.nextWrite(a)
    const to = a.token! + 11
    world.lose(first)
    world.send(a, { type: "renew", tokenAbove: a.token! + 10 })
    world.answer(world.nextWrite(a))
    expect(a.token).toBe(to)
    world.deliver(first)
    expect(tokenIn(world)).toBe(to)
  })

  it("to a number below its own is a renewal like any other", () => {
    const world = new World()
    const a = world.owner("a")
    const before = a.token!
    world.send(a, { type: "renew", tokenAbove: before - 10 })
    world.until(() => a.count("Renewed") > 0)
    expect(a.token).toBe(before)
  })

  // Tests rule 12: A raise that landed unnoticed is not forgotten by a release or a grant.
  it("that landed unnoticed before a release is not forgotten: the next token is above it", () => {
    for (const waits of [false, true]) {
      const world = new World()
      const a = world.owner("a")
      const ahead = a.token! + 1_000_000
      const b = waits ? world.waiter("b") : world.process("b")
      world.advance(3000)
      a.network = "held"
      world.send(a, { type: "renew", tokenAbove: ahead })
      world.loseAnswer(world.nextWrite(a))
      a.network = "up"
      world.send(a, { type: "release" })
      world.until(() => a.phase === "idle")
      if (!waits) world.send(b, acquire())
      world.until(() => b.holds(world.at))
      expect(b.token).toBeGreaterThan(ahead + 1)
    }
  })
})

function strip(world: World): void {
  new Stranger(world, "s", "drop").write({})
}
