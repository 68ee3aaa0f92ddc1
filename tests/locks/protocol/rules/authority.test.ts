/** Rules 3, 4 and 5: the store's time, until when an owner may act, and what it says of it. */
import { describe, expect, it } from "vitest"
import type { LockState } from "../../../../src/locks/protocol/rules/state.ts"
import { acquire, type ProcessModel } from "../process-model.ts"
import { EPOCH } from "../store-model.ts"
import { World } from "../world.ts"

const holdOf = ({ state }: ProcessModel): Extract<LockState["phase"], { name: "owning" }>["hold"] => {
  if (state.phase.name !== "owning") throw new Error(`it is ${state.phase.name}`)
  return state.phase.hold
}

/** The end of its authority, on its own monotonic clock. */
const deadline = (process: ProcessModel): number => holdOf(process).deadline.mono

/** What its doubts said of that end, as a wall time. */
const doubted = ({ events }: ProcessModel): readonly number[] =>
  events.flatMap((event) => (event.type === "Suspect" ? [event.deadline] : []))

describe("rule 3: the store's time", () => {
  // Tests rule 3: A sample counts from the send; nothing is written without one.
  it("a sample is the answer's time plus what passed since the request was sent", () => {
    const world = new World({ clock: "exact" })
    const a = world.process("a")
    world.send(a, acquire())
    const claim = world.nextWrite(a)
    const read = world.requests[0]!
    world.advance(700)
    world.answer(claim)
    const { writtenAt } = world.store.body
    expect(writtenAt).toBe((read.result!.storeTime! + claim.sentAt - read.sentAt) / 1000)
  })

  it("nothing is written without a sample: after a minute without an answer a warm acquire reads first", () => {
    const world = new World()
    const a = world.owner("a")
    world.send(a, { type: "release" })
    world.until(() => a.phase === "idle")
    world.advance(61_000)
    world.send(a, acquire())
    expect(world.next(a).command.type).toBe("read")
  })

  it("a sample dies the sooner, the shorter the leases are: at 6 s what it drifts in a minute would be half of one", () => {
    for (const [ms, act] of [
      [15_000, "put"],
      [22_000, "read"],
    ] as const) {
      const world = new World()
      const a = world.owner("a", { ttl: 6000 })
      world.send(a, { type: "release" })
      world.until(() => a.phase === "idle")
      world.advance(ms)
      world.send(a, acquire())
      expect(world.next(a).command.type).toBe(act)
    }
  })

  // Tests rule 3: A sample dies when the clocks diverge, and isn't learned across a divergence.
  it("a sample dies when the clocks diverge: the next renewal reads first", () => {
    const world = new World()
    const a = world.owner("a")
    world.suspend(a, 5000)
    expect(a.state.sense.sample).toBeDefined()
    world.send(a, { type: "tick" })
    expect(a.state.sense.sample).toBeUndefined()
    expect(world.next(a).command.type).toBe("read")
    world.until(() => a.count("Recovered") > 0)
  })

  it("a sample from before a suspend is not learned from an answer that comes after it", () => {
    const world = new World()
    const b = world.process("b")
    b.network = "held"
    world.send(b, acquire())
    const read = world.next(b)
    world.suspend(b, 5000)
    world.answer(read)
    expect(b.state.sense.sample).toBeUndefined()
    expect(world.next(b).command.type).toBe("read")
  })

  // Tests rule 3: Of samples rounded down to seconds the one rounded less counts, while it is young.
  it("of samples that are rounded down to seconds the one that was rounded less stamps the writes", () => {
    const world = new World()
    const a = world.process("a")
    world.send(a, acquire())
    world.advance(1990)
    a.network = "held"
    world.send(a, { type: "renew" })
    const late = world.nextWrite(a)
    a.network = "up"
    world.answer(late)
    world.advance(1200)
    world.send(a, { type: "renew" })
    world.advance(100)
    const { at, text } = world.store.history.at(-1)!
    const { writtenAt } = JSON.parse(text!) as { writtenAt: number }
    expect(Math.abs(writtenAt * 1000 - EPOCH - at)).toBeLessThan(100)
  })

  // Tests rule 3: A store without a clock is stamped by the wall clock; times in its answers are ignored.
  it("where the store needs no clock the holder's own wall clock stamps the writes", () => {
    const world = new World({ clock: "none", spacing: 0 })
    const a = world.owner("a", { wallAhead: -123_000 })
    expect(world.store.body["expiresAt"]).toBe(a.now(holdOf(a).deadline.mono + 3000).wall / 1000)
  })

  // Tests rule 3: An answer from a cache gives neither sample nor authority.
  it("an answer without the store's time, as from a cache, gives no view: the attempt says so when its budget is over", () => {
    const world = new World({ twist: (_, { storeTime: _time, ...result }) => result })
    const b = world.process("b")
    world.send(b, acquire({ budgetMs: 8000 }))
    world.advance(8001)
    expect(b.error).toMatchObject({ _tag: "StoreUnavailableError", next: expect.stringContaining("Check the store") })
    expect(b.state.view).toBeUndefined()
  })

  // Tests rule 3: Elapsed time is the larger of the two clocks.
  it("elapsed time is that of the clock which counted more: a suspend ends authority though monotonic time stood still", () => {
    const world = new World()
    const a = world.owner("a")
    const before = a.now(world.at).mono
    world.suspend(a, 28_000)
    expect(a.now(world.at).mono).toBe(before)
    expect(a.holds(world.at)).toBe(false)
    world.send(a, { type: "tick" })
    expect(a.error).toMatchObject({ reason: "expired" })
  })

  it("the wall clock stands in for a boot clock that can't be read, and a suspend ends authority all the same", () => {
    const world = new World()
    const a = world.owner("a", { bootClock: false })
    world.suspend(a, 28_000)
    expect(a.holds(world.at)).toBe(false)
    world.send(a, { type: "tick" })
    expect(a.error).toMatchObject({ reason: "expired" })
  })

  it("a wall clock that is 60 s off, on either side, changes nothing", () => {
    for (const [ahead, behind] of [
      [60_000, -60_000],
      [-60_000, 60_000],
    ] as const) {
      const world = new World()
      const a = world.owner("a", { wallAhead: ahead })
      const b = world.waiter("b", { wallAhead: behind }, { budgetMs: 60_000 })
      world.until(() => a.count("ReleaseRequested") === 1)
      world.crash(a)
      world.until(() => b.holds(world.at))
      expect(world.at).toBeGreaterThan(30_000)
      expect(world.at).toBeLessThan(35_000)
      expect(b.last("Acquired")).toMatchObject({ how: "takeover" })
    }
  })
})

describe("rule 4: authority", () => {
  // Tests rule 4: Authority ends a guard before the ttl from the first send, and earlier where the store shows less.
  it("ends a guard before the ttl, from the first send", () => {
    const world = new World({ clock: "exact" })
    const a = world.process("a")
    world.send(a, acquire())
    const claim = world.nextWrite(a)
    world.deliver(claim)
    world.advance(2000)
    world.answer(claim)
    expect(deadline(a)).toBe(claim.sentAt + 27_000)
  })

  it("ends earlier where the store's answer shows less left than was asked for", () => {
    const world = new World({ clock: "exact" })
    const a = world.process("a")
    world.send(a, acquire())
    const claim = world.nextWrite(a)
    a.storeSkew = 1500
    world.answer(claim)
    expect(deadline(a)).toBe(claim.sentAt + 25_500)
  })

  // Tests rule 4: After a read-back, and for a granted owner, authority counts from the send of the read.
  it("after a read-back counts from the send of the read, by that answer's time", () => {
    const world = new World({ clock: "exact" })
    const a = world.process("a")
    world.send(a, acquire())
    const claim = world.nextWrite(a)
    world.loseAnswer(claim)
    const look = world.next(a, "read")
    a.storeSkew = 1500
    world.answer(look)
    expect(deadline(a)).toBeCloseTo(claim.sentAt + 25_500, 3)
  })

  it("of a granted owner counts from the send of the read that showed the grant, never from its receipt", () => {
    const world = new World({ clock: "exact" })
    const a = world.owner("a")
    const b = world.waiter("b")
    b.network = "held"
    world.send(a, { type: "release" })
    world.until(() => a.count("Granted") > 0)
    const poll = world.next(b, "read")
    world.deliver(poll)
    const delivered = world.at
    world.advance(4000)
    world.answer(poll)
    const expiresAt = (world.store.body["expiresAt"] as number) * 1000
    expect(b.last("Acquired")).toMatchObject({ how: "granted" })
    expect(deadline(b)).toBeCloseTo(poll.sentAt + expiresAt - world.store.time(delivered)! - 3000, 3)
  })

  it("is only ever lowered by a read: it catches a machine that was paused without any clock noticing", () => {
    const world = new World({ clock: "exact" })
    const a = world.owner("a", { bootClock: false })
    const before = deadline(a)
    world.suspend(a, 8000)
    a.wallAhead -= 8000
    expect(a.state.sense.epoch).toBe(0)
    world.until(() => world.requests.at(-1)!.command.type === "read" && world.requests.at(-1)!.over)
    expect(a.state.sense.epoch).toBe(0)
    expect(deadline(a)).toBeLessThan(before - 7900)
    expect(a.holds(world.at)).toBe(true)
  })

  // Tests rule 4: Without a clock of the store's, a granted owner has no authority before its own write.
  it("on a store without a clock a granted owner has none before its own first write is applied", () => {
    const world = new World({ clock: "none", spacing: 0 })
    const a = world.owner("a")
    const b = world.waiter("b")
    b.network = "held"
    world.send(a, { type: "release" })
    world.until(() => a.count("Granted") > 0)
    const write = world.nextWrite(b)
    expect(b.phase).toBe("seeking")
    expect(world.store.body["ownerId"]).toBe("b")
    world.answer(write)
    expect(b.last("Acquired")).toMatchObject({ how: "granted" })
    expect(deadline(b)).toBe(write.sentAt + 27_000)
  })

  it("nor where such a store's answers carry a time all the same", () => {
    const world = new World({
      clock: "none",
      spacing: 0,
      twist: (_, result) => ({ ...result, storeTime: 4_000_000_000_000 }),
    })
    const a = world.owner("a")
    world.advance(60_000)
    expect(a.holds(world.at)).toBe(true)
    expect(new Set(a.types)).toEqual(new Set(["Acquired", "Renewed"]))
  })

  it("on a store whose time belongs to one boot, another host's grant gives none before the first write", () => {
    const host = { name: "h", pid: 1, startedAt: null, pidNs: null, groups: [] }
    const world = new World({ clock: "exact", spacing: 0 })
    const a = world.owner("a", { bootId: "boot-1", host: { ...host, bootId: "boot-1" } })
    const b = world.waiter("b", { bootId: "boot-2", host: { ...host, bootId: "boot-2" } })
    b.network = "held"
    world.send(a, { type: "release" })
    world.until(() => a.count("Granted") > 0)
    expect(world.store.body).toMatchObject({ ownerId: "b", owner: { host: null } })
    const write = world.nextWrite(b)
    expect(b.phase).toBe("seeking")
    world.answer(write)
    expect(b.last("Acquired")).toMatchObject({ how: "granted" })
  })

  // Tests rule 4: Under half a ttl left, the lease is renewed at once.
  it("with under half a ttl left it is renewed at once", () => {
    const world = new World()
    const a = world.process("a")
    world.send(a, acquire())
    const claim = world.nextWrite(a)
    world.deliver(claim)
    world.advance(15_100)
    a.network = "up"
    world.answer(claim)
    expect(a.types).toEqual(["Acquired"])
    world.advance(1100)
    expect(a.types).toEqual(["Acquired", "Renewed"])
  })
})

describe("rule 5: holding", () => {
  // Tests rule 5: `isHeld()` is right by time: past the deadline, after a stall, while the clocks disagree.
  it("isHeld is false from the deadline on, by time alone: before any step, and after a stall longer than the ttl", () => {
    const world = new World()
    const a = world.owner("a")
    const end = deadline(a)
    world.stop(a, 40_000)
    expect(a.phase).toBe("owning")
    expect(a.holds(world.at)).toBe(false)
    expect(a.holds(end - 1)).toBe(true)
    expect(a.holds(end)).toBe(false)
    world.send(a, { type: "tick" })
    expect(a.types).toEqual(["Acquired", "Lost"])
    expect(a.error).toMatchObject({ _tag: "LockLostError", reason: "expired" })
  })

  it("a renewal's answer that comes after the deadline is a loss, not a renewal", () => {
    const world = new World()
    const a = world.owner("a")
    world.advance(2000)
    a.network = "held"
    world.send(a, { type: "renew" })
    const renewal = world.nextWrite(a)
    world.deliver(renewal)
    world.stop(a, 30_000)
    world.answer(renewal)
    expect(a.types).toEqual(["Acquired", "Lost"])
  })

  it("isHeld is false while the clocks disagree, before any step and without a loss", () => {
    const world = new World()
    const a = world.owner("a")
    world.suspend(a, 1001)
    expect(a.holds(world.at)).toBe(false)
    world.send(a, { type: "tick" })
    expect(a.types).toEqual(["Acquired", "Suspect"])
    expect(a.holds(world.at)).toBe(false)
    world.until(() => a.holds(world.at))
    expect(a.types).toEqual(["Acquired", "Suspect", "Recovered"])
  })

  it("a second of disagreement is no divergence", () => {
    const world = new World()
    const a = world.owner("a")
    world.suspend(a, 1000)
    expect(a.holds(world.at)).toBe(true)
    world.send(a, { type: "tick" })
    expect(a.types).toEqual(["Acquired"])
  })

  // Tests rule 5: A wall step is no divergence where the boot clock can be read.
  it("a step of the wall clock is no divergence where the boot clock can be read, and one where it stands in", () => {
    for (const bootClock of [true, false]) {
      const world = new World()
      const a = world.owner("a", { bootClock })
      a.wallAhead -= 5000
      expect(a.holds(world.at)).toBe(bootClock)
    }
  })

  // Tests rule 5: Only a renewal sent after the divergence ends suspicion; none by the deadline is a loss.
  it("a renewal sent before the divergence doesn't end suspicion, applied though it is", () => {
    const world = new World()
    const a = world.owner("a")
    world.advance(2000)
    a.network = "held"
    world.send(a, { type: "renew" })
    const renewal = world.nextWrite(a)
    world.suspend(a, 5000)
    a.network = "up"
    world.answer(renewal)
    expect(a.types).toEqual(["Acquired", "Suspect"])
    expect(a.holds(world.at)).toBe(false)
    const [first] = doubted(a)
    world.until(() => a.holds(world.at))
    expect(a.types.slice(0, 3)).toEqual(["Acquired", "Suspect", "Suspect"])
    expect(a.count("Recovered")).toBe(1)
    expect(doubted(a)[1]).toBeGreaterThan(first!)
  })

  it("a suspicion that no renewal ends becomes a loss at the deadline", () => {
    const world = new World()
    const a = world.owner("a")
    a.network = "down"
    world.suspend(a, 5000)
    world.advance(23_000)
    expect(a.types[1]).toBe("Suspect")
    expect(a.types.at(-1)).toBe("Lost")
    expect(a.error).toMatchObject({ reason: "expired" })
  })
})
