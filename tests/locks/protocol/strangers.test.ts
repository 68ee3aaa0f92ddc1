/**
 * Processes that know only the four published fields own, wait for and are handed keys, whatever they do to the rest.
 */
import { describe, expect, it } from "vitest"
import { acquire } from "./process-model.ts"
import { seconds, Stranger } from "./strangers.ts"
import { World } from "./world.ts"

const manners = ["keep", "drop"] as const

describe.each(manners)("a stranger that would %s the other fields", (rest) => {
  // Tests record: A process that knows only the four published fields can own, wait for and be handed a key.
  it("can own a key, and one of ours waits for it and takes what it releases", () => {
    const world = new World()
    const stranger = new Stranger(world, "s", rest)
    stranger.own()
    const b = world.waiter("b")
    expect(world.store.body).toMatchObject({ ownerId: "s", waitingOwnerId: "b" })
    stranger.release()
    world.until(() => b.holds(world.at))
    expect(world.store.body).toMatchObject({ ownerId: "b", waitingOwnerId: null })
  })

  it("can grant: the pair with the waiter's id and no half is the waiter's, who writes before it acts", () => {
    const world = new World()
    const stranger = new Stranger(world, "s", rest)
    stranger.own()
    const b = world.waiter("b")
    stranger.grant()
    const claim = world.nextWrite(b)
    expect(b.holds(world.at)).toBe(false)
    world.answer(claim)
    expect(b.last("Acquired")).toMatchObject({ how: "granted" })
    expect(b.holds(world.at)).toBe(true)
    expect(world.store.body["owner"]).toMatchObject({ for: "b" })
  })

  it("can wait: it is passed on once, and handed the key by a reserve", () => {
    const world = new World()
    const a = world.owner("a")
    const stranger = new Stranger(world, "s", rest)
    stranger.mark()
    world.until(() => a.count("ReleaseRequested") === 1)
    world.send(a, { type: "release" })
    world.until(() => a.phase === "idle")
    expect(world.store.body).toMatchObject({ ownerId: null, waitingOwnerId: "s", ended: { how: "reserve" } })
    stranger.own()
    expect(world.store.body).toMatchObject({ ownerId: "s", waitingOwnerId: null })
    const c = world.process("c")
    world.send(c, acquire({ whenOwned: "report" }))
    world.advance(100)
    expect(c.error).toMatchObject({ _tag: "OwnedElsewhereError", owner: { ownerId: "s", token: 0 } })
  })

  it("that marks beside an owner of ours takes nothing from it: the half is written again at once, token and end included", () => {
    const world = new World()
    const first = world.owner("z")
    const a = world.waiter("a")
    world.until(() => first.count("ReleaseRequested") > 0)
    world.send(first, { type: "release" })
    world.until(() => a.count("Renewed") > 0)
    const before = world.store.body
    const token = a.token
    world.advance(3000)
    new Stranger(world, "s", rest).mark()
    world.advance(4200)
    expect(a.holds(world.at)).toBe(true)
    expect(a.token).toBe(token)
    const { owner, ended, waitingOwnerId } = world.store.body
    expect(owner).toMatchObject({ for: "a", token: token!, nonce: (before["owner"] as { nonce: string }).nonce })
    expect(ended).toEqual(before["ended"])
    expect(waitingOwnerId).toBe("s")
  })

  it("whose own rewriting drops a waiter's half finds it there again, and grants by id alone", () => {
    const world = new World()
    const stranger = new Stranger(world, "s", rest)
    stranger.own()
    const b = world.waiter("b")
    stranger.own()
    world.advance(6000)
    expect(world.store.body["waiter"]).toMatchObject({ for: "b", expiresAt: world.store.body["waiterExpiresAt"] })
    stranger.grant()
    world.until(() => b.holds(world.at))
  })

  // Tests record: A half counts only beside the pair it was written with.
  it("at whose change of owner nothing of the former owner counts: kept halves belong to nobody", () => {
    const world = new World()
    const a = world.owner("a")
    world.send(a, { type: "release" })
    world.until(() => a.phase === "idle")
    const b = world.owner("b")
    world.crash(b)
    world.advance(40_000)
    const stranger = new Stranger(world, "s", rest)
    stranger.own()
    const c = world.waiter("c")
    expect(c.state.view?.record?.owner).toBeUndefined()
    expect(c.state.view?.record?.ownerId).toBe("s")
  })

  // Tests rule 13a: Lives of one incarnation are different contenders, and none stands beside an owner of its id.
  // Tests record.
  it("that grants to one of ours is not obeyed with another's nonce: a kept waiter half doesn't count for the new pair", () => {
    const world = new World()
    const stranger = new Stranger(world, "s", rest)
    stranger.own()
    const b = world.waiter("b")
    const c = world.process("c")
    world.send(c, acquire({ budgetMs: undefined, contention: "retry" }))
    world.advance(1000)
    const from = world.at
    stranger.write({ ownerId: "c", expiresAt: seconds(world.at + 60_000), waitingOwnerId: null, waiterExpiresAt: null })
    world.until(() => c.holds(world.at))
    expect(b.count("Acquired")).toBe(0)
    // It never stood there, so that its name may mean another that has it.
    expect(world.at - from).toBeGreaterThan(60_000)
  })
})

describe("a stranger that deletes the record", () => {
  it("on release frees the key for who waits", () => {
    const world = new World()
    const stranger = new Stranger(world, "s")
    stranger.own()
    const b = world.waiter("b")
    world.store.remove(world.at)
    world.advance(4000)
    expect(b.last("Acquired")).toMatchObject({ how: "created" })
  })

  it("or an operator that deletes it under a live owner: the owner has lost it at its next look, and who saw it waits", () => {
    const world = new World()
    const a = world.owner("a")
    const b = world.waiter("b", {}, { budgetMs: 60_000 })
    world.store.remove(world.at)
    world.advance(2500)
    expect(a.error).toMatchObject({ _tag: "LockLostError", reason: "deleted" })
    expect(a.holds(world.at)).toBe(false)
    expect(b.holds(world.at)).toBe(false)
    world.until(() => b.holds(world.at))
    expect(world.at).toBeGreaterThan(31_000)
  })
})

describe("my id in a record", () => {
  // Tests record: A half of mine of no living attempt is dead and replaceable.
  it("with a half of no living attempt is dead: it is replaced at once, with a greater token", () => {
    const world = new World()
    const a = world.owner("a")
    const before = a.token!
    world.send(a, { type: "leaveToExpire" })
    world.advance(27_500)
    expect(a.phase).toBe("idle")
    world.send(a, acquire())
    world.advance(100)
    expect(a.last("Acquired")).toMatchObject({ how: "takeover" })
    expect(a.token).toBeGreaterThan(before)
  })

  // Tests record: A pair with my id and no half is mine whatever its time says.
  it("without a half is mine whatever its time says, where a stranger granted it", () => {
    const world = new World()
    const stranger = new Stranger(world, "s")
    stranger.own()
    const b = world.waiter("b")
    stranger.grant(1000 * 365 * 24 * 3_600_000)
    world.until(() => b.holds(world.at))
    expect(world.store.body["expiresAt"]).toBeLessThan(seconds(world.at + 31_000))
  })

  // Tests rule 7: A dead half of mine that vanishes is not waited for.
  it("that vanishes before it is replaced is not waited for: it was nobody's", () => {
    const world = new World()
    const a = world.owner("a")
    world.send(a, { type: "leaveToExpire" })
    world.advance(27_500)
    world.send(a, acquire())
    const claim = world.nextWrite(a)
    world.store.remove(world.at)
    a.network = "up"
    world.answer(claim)
    world.advance(2000)
    expect(a.types).toEqual(["Acquired", "Lost", "Acquired"])
  })

  // Tests record: A half of my id and another nonce is no waiter to me.
  it("as a waiter, of an attempt that is over, is no waiter to me, and one to others until it is over", () => {
    const world = new World()
    world.owner("a")
    const b = world.waiter("b")
    b.network = "down"
    world.send(b, { type: "cancel" })
    world.until(() => b.phase === "idle")
    b.network = "up"
    const later = world.at + 31_000
    world.store.put({ ...world.store.body, waiterExpiresAt: seconds(later), waiter: half(world, later) }, world.at)
    const c = world.process("c")
    world.send(c, acquire())
    world.send(b, acquire())
    world.until(() => b.count("Waiting") === 2)
    expect(c.error).toMatchObject({ _tag: "LockContentionError", waiterId: "b" })
    const { nonce } = (b.state.phase as { attempt: { nonce: string } }).attempt
    expect(world.store.body["waiter"]).toMatchObject({ for: "b", nonce })
  })
})

/** The waiter half that is stored, with another expiry. */
function half(world: World, at: number): object {
  return { ...(world.store.body["waiter"] as object), expiresAt: seconds(at) }
}
