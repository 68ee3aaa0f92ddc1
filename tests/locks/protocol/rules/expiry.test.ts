/** Rule 6: when another's half is over. */
import { describe, expect, it } from "vitest"
import type { Hold } from "../../../../src/locks/protocol/rules/state.ts"
import { acquire, type ProcessModel } from "../process-model.ts"
import { seconds, Stranger } from "../strangers.ts"
import { type ProcessOptions, World, type WorldOptions } from "../world.ts"

/** The true time at which a process that wants the key without limit gets it. */
function takes(world: World, process: ProcessModel): number {
  world.send(process, acquire({ budgetMs: undefined, contention: "retry" }))
  world.until(() => process.holds(world.at), 600_000)
  return world.at
}

/** A world whose owner died just after it had acquired the key. */
function orphaned(options: WorldOptions = {}, owner: ProcessOptions = {}): World {
  const world = new World(options)
  world.crash(world.owner("a", owner))
  return world
}

/** A world whose owner is a stranger that writes no more. */
function deserted(ttl = 20_000, options: WorldOptions = {}): World {
  const world = new World(options)
  new Stranger(world, "s").own(ttl)
  return world
}

describe("rule 6: an owner's half of ours", () => {
  // Tests rule 6: A half of ours is over by the date of the very answer; absurd dates go by observation.
  it("is over once the answer that shows it is dated more than a second past its expiry, and not before", () => {
    const world = orphaned({ clock: "exact" })
    const expiry = (world.store.body["expiresAt"] as number) * 1000 - seconds(0) * 1000
    world.advance(expiry + 1000 - world.latency - world.at)
    const [b, c] = [world.process("b"), world.process("c")]
    world.send(b, acquire({ whenOwned: "report" }))
    world.advance(1)
    world.send(c, acquire({ whenOwned: "report" }))
    world.advance(1000)
    expect(b.error).toMatchObject({ _tag: "OwnedElsewhereError", owner: { ownerId: "a" } })
    expect(c.last("Acquired")).toMatchObject({ how: "takeover" })
  })

  it("is judged by a 304 at the 304's own date", () => {
    const world = orphaned()
    const b = world.process("b")
    const at = takes(world, b)
    const reads = world.requests.filter(({ command }) => command.type === "read")
    expect(reads.at(-1)!.result!.kind).toBe("unchanged")
    expect(at).toBeGreaterThan(31_000)
    expect(at).toBeLessThan(35_000)
  })

  it("that lies more than twice its own ttl ahead is over after that ttl of observation, whatever the year", () => {
    for (const expiresAt of [32_503_680_000, seconds(600_000)]) {
      const world = orphaned()
      const { owner } = world.store.body
      world.store.put({ ...world.store.body, expiresAt, owner: { ...(owner as object), expiresAt } }, world.at)
      const at = takes(world, world.process("b"))
      expect(at).toBeGreaterThan(30_000)
      expect(at).toBeLessThan(34_000)
    }
  })

  // Tests rule 6: Without a clock, observation alone decides.
  it("on a store without a clock is over when it stood unchanged for its own ttl, not for that of who looks", () => {
    for (const [ttl, mine] of [
      [12_000, 60_000],
      [60_000, 12_000],
    ] as const) {
      const world = orphaned({ clock: "none", spacing: 0 }, { ttl })
      const at = takes(world, world.process("b", { ttl: mine }))
      expect(at).toBeGreaterThan(ttl)
      expect(at).toBeLessThan(ttl + 2000)
    }
  })

  it("on a store without a clock is never over while it is renewed, whatever the wall clocks say", () => {
    const world = new World({ clock: "none", spacing: 0 })
    const a = world.owner("a", { wallAhead: -3_600_000 })
    const b = world.process("b", { wallAhead: 3_600_000 })
    world.send(b, acquire({ budgetMs: 90_000 }))
    world.advance(91_000)
    expect(b.error).toMatchObject({ _tag: "LockTimeoutError" })
    expect(a.holds(world.at)).toBe(true)
  })

  it("written under another boot is judged by observation, under the same boot by the store's time", () => {
    const host = { name: "h", pid: 1, startedAt: null, pidNs: null, groups: [] }
    const boot = (bootId: string): ProcessOptions => ({ ttl: 12_000, bootId, host: { ...host, bootId } })
    for (const [mine, after, before] of [
      ["boot-1", 5000, 9000],
      ["boot-2", 12_000, 14_000],
    ] as const) {
      const world = orphaned({ clock: "exact", spacing: 0 }, boot("boot-1"))
      world.advance(8000)
      const start = world.at
      const took = takes(world, world.process("b", boot(mine))) - start
      expect(took).toBeGreaterThan(after - 100)
      expect(took).toBeLessThan(before)
    }
  })
})

describe("rules 6 and 15: an owner whose lease is over", () => {
  const holdOf = ({ state }: ProcessModel): Hold => {
    if (state.phase.name === "owning") return state.phase.hold
    throw new Error(`it is ${state.phase.name}`)
  }

  // Tests rule 15: An owner that is over has ended, unless its half can be a create that landed late.
  it("is known to have ended where its record isn't as it was created", () => {
    const world = new World()
    const a = world.owner("a")
    const ended = holdOf(a).nonce
    world.until(() => a.last("Renewed") !== undefined, 15_000)
    world.crash(a)
    world.advance(100_000)
    const b = world.process("b")
    const start = world.at
    expect(takes(world, b) - start).toBeLessThan(4000)
    expect(holdOf(b).past).toEqual([ended])
  })

  it("and where that record has stood for its ttl before whoever looks", () => {
    for (const late of [0, 100_000]) {
      const world = new World()
      const a = world.owner("a")
      const ended = holdOf(a).nonce
      world.crash(a)
      world.advance(late)
      const b = world.process("b")
      takes(world, b)
      expect(holdOf(b).past).toEqual(late === 0 ? [ended] : [])
    }
  })

  it("but not where its create was brought back meanwhile: whatever it was, it has only now begun to stand", () => {
    const world = new World()
    const a = world.owner("a")
    const created = world.store.body
    const b = world.process("b")
    world.send(b, acquire({ whenOwned: "report" }))
    world.until(() => a.last("Renewed") !== undefined, 15_000)
    world.crash(a) // nobody can see that it did
    world.advance(20_000)
    world.store.remove(world.at)
    world.store.put(created, world.at)
    takes(world, b)
    expect(holdOf(b).past).toEqual([])
  })
})

describe("rule 6: what is observed", () => {
  // Tests rule 6: The pair is observed, never the generation.
  it("is the pair, though others write the record again and again under the stamp that it had", () => {
    const world = orphaned({ clock: "none", spacing: 0 })
    const b = world.process("b")
    world.send(b, acquire({ whenOwned: "wait", budgetMs: undefined }))
    for (let times = 0; times < 5; times++) {
      world.advance(5000)
      world.store.put(world.store.body, world.at)
    }
    expect(b.holds(world.at)).toBe(false)
    world.until(() => b.holds(world.at), 10_000)
  })
})

describe("rule 7: the memory of a record that vanished", () => {
  // Tests rule 7: The memory of a vanished owner ends within its ttl, or with a record of mine that names nobody.
  it("ends a ttl after it was seen last, whatever was set back since", () => {
    for (const granted of [true, false]) {
      const world = new World({ clock: "none", spacing: 0 })
      const a = world.owner("a", { bootClock: false })
      const b = world.waiter("b")
      world.until(() => a.count("ReleaseRequested") > 0)
      world.send(a, { type: "release" })
      world.until(() => a.phase === "idle")
      if (!granted) world.send(a, acquire({ whenOwned: "report" }))
      world.advance(1000)
      world.crash(b)
      world.store.remove(world.at)
      world.watchdog.excuse("growing tokens")
      a.wallAhead -= 3_600_000
      world.send(a, acquire({ budgetMs: undefined }))
      const from = world.at
      world.until(() => a.holds(world.at))
      expect(world.at - from).toBeLessThan(33_000)
    }
  })
})

describe("rule 6: a stranger's pair", () => {
  // Tests rule 6: A stranger's half is over by its time and by observation.
  it("is over when it is past and was seen unchanged for strangerTtl", () => {
    for (const strangerTtl of [40_000, 60_000]) {
      const world = deserted()
      const at = takes(world, world.process("b", { strangerTtl }))
      expect(at).toBeGreaterThan(strangerTtl)
      expect(at).toBeLessThan(strangerTtl + 4000)
    }
  })

  it("and for the looker's own ttl, where that is longer", () => {
    const world = deserted()
    const at = takes(world, world.process("b", { ttl: 90_000 }))
    expect(at).toBeGreaterThan(90_000)
    expect(at).toBeLessThan(94_000)
  })

  it("and for three times the longest gap seen between its renewals", () => {
    const world = new World()
    const stranger = new Stranger(world, "s")
    stranger.own(20_000)
    const b = world.process("b")
    world.send(b, acquire({ budgetMs: undefined }))
    world.advance(50_000)
    stranger.own(20_000)
    world.advance(3000)
    const renewed = world.at - 3000
    world.until(() => b.holds(world.at), 600_000)
    expect(world.at - renewed).toBeGreaterThan(3 * 48_000)
    expect(world.at - renewed).toBeLessThan(3 * 52_000 + 3000)
  })

  it("which is a gap that was seen: a time in which nobody looked is none", () => {
    const world = new World()
    const stranger = new Stranger(world, "s")
    stranger.own(20_000)
    const b = world.process("b")
    world.send(b, acquire({ whenOwned: "report" }))
    world.advance(600_000)
    stranger.own(20_000)
    const renewed = world.at
    world.send(b, acquire({ budgetMs: undefined }))
    world.until(() => b.holds(world.at))
    expect(world.at - renewed).toBeLessThan(65_000)
  })

  // Tests rule 6: Times more than 24 h ahead are corrupt.
  it("is not over before its published time, up to 24 hours ahead", () => {
    const world = deserted(300_000)
    expect(takes(world, world.process("b"))).toBeGreaterThan(301_000)
    const day = deserted(24 * 3_600_000 - 5000)
    const c = day.process("c")
    day.send(c, acquire({ budgetMs: 200_000 }))
    day.advance(200_001)
    expect(c.error).toMatchObject({ _tag: "LockTimeoutError", owner: { ownerId: "s", token: 0 } })
  })

  it("more than 24 hours ahead is corrupt, not free and not honoured", () => {
    const world = deserted(24 * 3_600_000 + 5000)
    const b = world.process("b")
    world.send(b, acquire())
    world.advance(100)
    expect(b.error).toMatchObject({ _tag: "CorruptRecordError", message: expect.stringContaining("24 hours") })
    expect(world.store.history).toHaveLength(1)
  })

  it("that is alive with a slow clock is never taken over: its times are past, and it changes them", () => {
    const world = new World()
    const stranger = new Stranger(world, "s")
    const b = world.process("b")
    stranger.own(-40_000)
    world.send(b, acquire({ budgetMs: 300_000 }))
    for (let renewals = 0; renewals < 15; renewals++) {
      world.advance(20_000)
      stranger.own(-40_000)
    }
    world.advance(2000)
    expect(b.error).toMatchObject({ _tag: "LockTimeoutError" })
    expect(world.store.body["ownerId"]).toBe("s")
  })

  it("that is dead is taken over though a waiter goes on writing the record: the pair is observed, not the generation", () => {
    const world = deserted()
    const b = world.process("b")
    const at = takes(world, b)
    expect(world.store.history.length).toBeGreaterThan(8)
    expect(at).toBeLessThan(64_000)
  })

  it("on a store without a clock is over by observation alone", () => {
    const world = deserted(300_000, { clock: "none", spacing: 0 })
    const at = takes(world, world.process("b"))
    expect(at).toBeGreaterThan(60_000)
    expect(at).toBeLessThan(62_000)
  })
})

describe("rule 6: observation", () => {
  // Tests rule 6: Observation counts from receipt, in the smaller clock, and belongs to the process.
  it("counts from the receipt of the first answer that showed the pair, not from its request", () => {
    const world = deserted()
    const b = world.process("b")
    b.network = "held"
    world.send(b, acquire({ budgetMs: undefined }))
    const read = world.next(b)
    world.deliver(read)
    world.advance(30_000)
    b.network = "up"
    world.answer(read)
    world.until(() => b.holds(world.at))
    expect(world.at).toBeGreaterThan(90_000)
  })

  it("is measured by the clock that counted less: a suspend of the looker brings nobody's end nearer", () => {
    const world = deserted()
    const b = world.process("b")
    world.send(b, acquire({ budgetMs: 600_000 }))
    world.advance(10_000)
    b.freeze("suspended", world.at)
    world.advance(45_000)
    b.thaw(world.at)
    world.until(() => b.holds(world.at))
    expect(world.at).toBeGreaterThan(45_000 + 60_000)
  })

  it("counts on where the clock that stands in for the boot clock is set back", () => {
    const world = orphaned({ clock: "none", spacing: 0 })
    const b = world.process("b", { bootClock: false })
    world.send(b, acquire({ budgetMs: undefined, contention: "retry" }))
    world.advance(10_000)
    b.wallAhead -= 3_600_000
    world.until(() => b.holds(world.at), 600_000)
    expect(world.at).toBeGreaterThan(30_000)
    expect(world.at).toBeLessThan(35_000)
  })

  it("gains nothing where that clock is set forward and back", () => {
    const world = orphaned({ clock: "none", spacing: 0 })
    const b = world.process("b", { bootClock: false })
    world.send(b, acquire({ budgetMs: undefined, contention: "retry" }))
    for (const step of [3_600_000, -3_600_000, 3_600_000, -3_600_000]) {
      world.advance(4000)
      b.wallAhead += step
    }
    world.until(() => b.holds(world.at), 600_000)
    expect(world.at).toBeGreaterThan(30_000)
  })

  it("belongs to the process, not to the attempt: short attempts add up", () => {
    const world = deserted()
    const b = world.process("b")
    while (!b.holds(world.at) && world.at < 120_000) {
      world.send(b, acquire({ budgetMs: 5000 }))
      world.advance(9000)
    }
    expect(b.last("Acquired")).toMatchObject({ how: "takeover" })
    expect(world.at).toBeLessThan(75_000)
  })

  it("begins anew with every change of the pair or of its half", () => {
    const world = orphaned({ clock: "none", spacing: 0 }, { ttl: 12_000 })
    const b = world.process("b")
    world.send(b, acquire({ budgetMs: undefined }))
    world.advance(10_000)
    const { owner } = world.store.body
    world.store.put({ ...world.store.body, owner: { ...(owner as object), opId: "another" } }, world.at)
    world.until(() => b.holds(world.at))
    expect(world.at).toBeGreaterThan(22_000)
  })
})

describe("rule 6: a waiter's half", () => {
  // Tests rule 6: A waiter is over by its time alone.
  it("is over by the store's time alone, a second after what it published", () => {
    const world = new World({ clock: "exact" })
    world.owner("a")
    new Stranger(world, "w", "keep").mark(3000)
    const marked = world.at
    world.advance(3960)
    const [b, c] = [world.process("b"), world.process("c")]
    world.send(b, acquire())
    world.advance(60)
    world.send(c, acquire())
    world.advance(3000)
    expect(world.at - marked).toBeLessThan(12_000)
    expect(b.error).toMatchObject({ _tag: "LockContentionError", waiterId: "w" })
    expect(c.types).toEqual(["Waiting"])
  })

  // Tests rule 6: On a store without a clock a mark is over when it stood unchanged for a waiter's ttl.
  it("on a store without a clock is over when it stood unchanged for a waiter's ttl", () => {
    const world = new World({ clock: "none", spacing: 0 })
    const a = world.owner("a")
    world.crash(world.waiter("b"))
    const start = world.at
    const c = world.process("c")
    world.send(c, acquire({ budgetMs: undefined, contention: "retry" }))
    world.until(() => world.store.body["waitingOwnerId"] === "c")
    expect(world.at - start).toBeGreaterThan(12_000)
    expect(world.at - start).toBeLessThan(14_000)
    expect(a.holds(world.at)).toBe(true)
  })

  // Tests rule 6: A mark more than 24 h ahead is corrupt to a would-be waiter, and nobody to the owner.
  it("more than 24 hours ahead is corrupt to who wants to wait, and nobody to the owner, who works on", () => {
    const world = new World()
    const a = world.owner("a")
    new Stranger(world, "w", "keep").mark(25 * 3_600_000)
    const b = world.process("b")
    world.send(b, acquire())
    world.advance(60_000)
    expect(b.error).toMatchObject({ _tag: "CorruptRecordError" })
    expect(a.types).not.toContain("ReleaseRequested")
    expect(a.holds(world.at)).toBe(true)
    world.send(a, { type: "release" })
    world.advance(2000)
    expect(world.store.body).toMatchObject({ ownerId: null, waitingOwnerId: null, ended: { how: "release" } })
  })
})
