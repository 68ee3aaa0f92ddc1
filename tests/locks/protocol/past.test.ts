/** Rule 15: which ownerships a record knows to have ended, and what an owner makes of a half that was brought back. */
import { describe, expect, it } from "vitest"
import { traced } from "../../../src/locks/protocol/reducer.ts"
import type { Hold } from "../../../src/locks/protocol/rules/state.ts"
import { acquire, type ProcessModel } from "./process-model.ts"
import { Stranger } from "./strangers.ts"
import { World } from "./world.ts"

const holdOf = ({ state }: ProcessModel): Hold => {
  if (state.phase.name === "owning") return state.phase.hold
  throw new Error(`it is ${state.phase.name}`)
}

const trace = (process: ProcessModel, how: "possible" | "sure"): void => {
  process.state = traced(process.state, how)
}

const leave = (world: World, process: ProcessModel): void => {
  world.send(process, { type: "release" })
  world.until(() => process.phase === "idle")
  world.advance(2000)
}

const renew = (world: World, process: ProcessModel): void => {
  const before = process.count("Renewed")
  world.send(process, { type: "renew" })
  world.until(() => process.count("Renewed") > before)
}

const takeOver = (world: World, id: string): ProcessModel => {
  const process = world.process(id)
  world.send(process, acquire({ budgetMs: undefined, contention: "retry" }))
  world.until(() => process.holds(world.at), 120_000)
  return process
}

describe("rule 15: what a record knows to have ended", () => {
  // Tests rule 15: A record tells who has ended, by release, grant, reserve or takeover.
  it("is nothing where it was created, and a list that may be empty once it was written again", () => {
    const world = new World()
    const a = world.owner("a")
    expect(world.store.body).not.toHaveProperty("past")
    renew(world, a)
    expect(world.store.body).toMatchObject({ past: [] })
  })

  it("is whoever left it and may be named by a head", () => {
    const world = new World()
    const a = world.owner("a")
    const { nonce } = holdOf(a)
    trace(a, "possible")
    leave(world, a)
    expect(world.store.body).toMatchObject({ ownerId: null, past: [nonce] })
    expect(holdOf(world.owner("b")).past).toEqual([nonce])
  })

  it("isn't one of whom no head tells: what that one found is handed on, through any number of such owners", () => {
    const world = new World()
    const a = world.owner("a")
    const { nonce } = holdOf(a)
    trace(a, "sure")
    leave(world, a)
    for (let times = 0; times < 12; times++) leave(world, world.owner(`b${times}`))
    expect(world.store.body).toMatchObject({ past: [nonce] })
  })

  it("is itself alone once a head names nobody before it, from its next renewal on", () => {
    const world = new World()
    const a = world.owner("a")
    trace(a, "sure")
    leave(world, a)
    const b = world.owner("b")
    const { nonce } = holdOf(b)
    renew(world, b)
    expect(world.store.body).toMatchObject({ past: holdOf(b).past })
    trace(b, "possible")
    renew(world, b)
    expect(world.store.body).toMatchObject({ past: holdOf(b).past })
    trace(b, "sure")
    trace(b, "possible") // what is sure stays so
    renew(world, b)
    expect(world.store.body).toMatchObject({ past: [] })
    leave(world, b)
    expect(world.store.body).toMatchObject({ past: [nonce] })
  })

  it("is handed on by a grant, and by a reserve", () => {
    for (const accepts of [true, false]) {
      const world = new World()
      const a = world.owner("a")
      const { nonce } = holdOf(a)
      trace(a, "possible")
      const b = world.waiter("b")
      const { waiter, ...body } = world.store.body
      if (!accepts) world.store.put({ ...body, waiter: { ...(waiter as object), accepts: [] } }, world.at)
      world.until(() => a.count("ReleaseRequested") > 0)
      world.send(a, { type: "release" })
      world.until(() => b.holds(world.at), 20_000)
      expect(b.last("Acquired")).toMatchObject({ how: accepts ? "granted" : "reserved" })
      expect(holdOf(b).past).toEqual([nonce])
    }
  })

  it("grows with each takeover, and is eight long at most, the last ones", () => {
    const world = new World()
    const owners = [world.owner("a0")]
    renew(world, owners[0]!)
    const nonces = [holdOf(owners[0]!).nonce]
    for (let times = 1; times <= 10; times++) {
      world.crash(owners.at(-1)!)
      owners.push(takeOver(world, `a${times}`))
      nonces.push(holdOf(owners.at(-1)!).nonce)
    }
    expect(holdOf(owners.at(-1)!).past).toEqual(nonces.slice(2, 10))
  })

  it("tells of a former attempt of one's own, and never of the present one", () => {
    const world = new World()
    const a = world.owner("a")
    renew(world, a)
    const { nonce } = holdOf(a)
    a.network = "down"
    world.until(() => a.phase === "idle", 60_000)
    a.network = "up"
    world.send(a, acquire())
    world.until(() => a.holds(world.at), 10_000)
    expect(holdOf(a).past).toEqual([nonce])
  })

  it("tells of a former attempt of one's own at once, although nobody has seen its create stand for a ttl", () => {
    const world = new World()
    const a = world.owner("a")
    const { nonce } = holdOf(a)
    world.suspend(a, 60_000)
    world.until(() => a.phase === "idle", 90_000)
    world.send(a, acquire())
    world.until(() => a.holds(world.at), 10_000)
    expect(holdOf(a).past).toEqual([nonce])
  })

  // Tests rule 15: Burned creates, strangers, older releases, `unlock` and what is no list prove no end.
  it("isn't told by a create that was burned, by a stranger's record, by an older release's, nor by what is no list", () => {
    const records: readonly ((world: World) => void)[] = [
      (world) => {
        const x = world.process("x")
        world.send(x, acquire())
        const claim = world.nextWrite(x)
        world.send(x, { type: "cancel" })
        x.network = "up"
        world.lose(claim)
        world.until(() => x.phase === "idle")
      },
      (world) => {
        const stranger = new Stranger(world, "s")
        stranger.own()
        stranger.release()
      },
      (world) => {
        leave(world, world.owner("o"))
        const { past: _, ...older } = world.store.body
        world.store.put({ ...older, began: 1 }, world.at)
      },
      ...["a", [7], [""], { 0: "a" }].map((past) => (world: World) => {
        leave(world, world.owner("o"))
        world.store.put({ ...world.store.body, past }, world.at)
      }),
    ]
    for (const record of records) {
      const world = new World()
      record(world)
      expect(world.store.body["ownerId"]).toBe(null)
      expect(holdOf(world.owner("b")).past).toEqual([])
    }
  })

  it("is kept through a stranger that keeps what it doesn't know: what has ended has ended", () => {
    const world = new World()
    const a = world.owner("a")
    const { nonce } = holdOf(a)
    trace(a, "sure")
    leave(world, a)
    const stranger = new Stranger(world, "s", "keep")
    stranger.own()
    stranger.release()
    expect(holdOf(world.owner("b")).past).toEqual([nonce])
  })
})

describe("rule 15: an owner that meets its own half as it was before", () => {
  // Tests rule 15: An owner that meets its own half as it was before has lost it.
  it("has lost it, whatever it says: somebody deleted the record, and a copy of the create came after", () => {
    const world = new World()
    const a = world.owner("a")
    const created = world.store.body
    renew(world, a)
    world.store.remove(world.at)
    world.store.put(created, world.at)
    world.until(() => a.phase === "idle", 15_000)
    expect(a.error).toMatchObject({ _tag: "LockLostError", reason: "deleted" })
  })

  it("hasn't where a waiter moved the record, or its own renewal landed unheard", () => {
    const world = new World()
    const a = world.owner("a")
    world.waiter("b")
    world.advance(2500)
    a.network = "held"
    world.send(a, { type: "renew" })
    const renewal = world.next(a, "put")
    world.deliver(renewal)
    a.network = "up"
    world.lose(renewal)
    world.advance(30_000)
    expect(a.holds(world.at)).toBe(true)
  })
})

describe("a renewal that is asked for", () => {
  // Tests rule 15: A head is claimed at once, and run once the record has stood for the head's ttl.
  it("is one that is sent from then on: one under way doesn't count, nor the same bytes again", () => {
    const world = new World()
    const a = world.owner("a")
    world.advance(2000)
    a.network = "held"
    world.send(a, { type: "renew" })
    const first = world.next(a, "put")
    expect(holdOf(a).isAsked).toBe(true)
    world.send(a, { type: "renew" })
    world.deliver(first)
    a.network = "up"
    world.answer(first)
    expect(a.count("Renewed")).toBe(1)
    expect(holdOf(a).isAsked).toBe(true)
    world.until(() => a.count("Renewed") === 2, 5000)
    expect(holdOf(a).isAsked).toBe(false)
  })
})
