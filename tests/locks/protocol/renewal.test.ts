/** Rule 9: renewing, degrading, losing. */
import { describe, expect, it } from "vitest"
import { nextWake } from "../../../src/locks/protocol/reducer.ts"
import { plus } from "../../../src/locks/protocol/rules/time.ts"
import { overtaken, silence } from "./store-model.ts"
import { type Request, World } from "./world.ts"

const puts = (world: World): readonly Request[] => world.requests.filter(({ command }) => command.type === "put")
const gaps = (times: readonly number[]): readonly number[] => times.slice(1).map((time, i) => time - times[i]!)

describe("rule 9: renewal", () => {
  // Tests rule 9: A lock renews itself at a third of the ttl, in one write; it looks for a waiter in between.
  it("comes at a third of the ttl, jittered by a tenth, one write each", () => {
    for (const [draw, third] of [
      [0, 9000],
      [0.5, 10_000],
      [0.999, 11_000],
    ] as const) {
      const world = new World({ draw: () => draw })
      world.owner("a")
      world.advance(120_000)
      const waits = gaps(puts(world).map(({ sentAt }) => sentAt)).slice(1)
      expect(waits.length).toBeGreaterThan(8)
      for (const wait of waits) expect(Math.abs(wait - third)).toBeLessThan(10)
    }
  })

  it("is put off to the beat where there is one, but not once it is due soon, or has failed", () => {
    const world = new World({ draw: () => 0.5 })
    const a = world.owner("a")
    const beat = 700
    const wakeOf = (ms: number, failures = 0): number => {
      const { state } = a
      if (state.phase.name !== "owning") throw new Error(`a is ${state.phase.name}`)
      const now = a.now(world.at)
      const hold = { ...state.phase.hold, failures, renewAt: plus(now, ms), watchAt: plus(now, 1e6) }
      const put = { ...state, config: { ...state.config, beat }, phase: { ...state.phase, hold } }
      return nextWake(put, now)! - now.mono
    }
    const { mono } = a.now(world.at)
    expect((mono + wakeOf(5 * beat + 1)) % beat).toBe(0)
    expect(wakeOf(5 * beat + 1) - (5 * beat + 1)).toBeLessThan(beat)
    expect(wakeOf(4 * beat - 1)).toBe(4 * beat - 1)
    expect(wakeOf(5 * beat + 1, 1)).toBe(5 * beat + 1)
  })

  it("counts from when the claim was first sent, though it took a second to land", () => {
    const world = new World({ clock: "exact" })
    world.store.put({ ownerId: null, expiresAt: 0 }, 0)
    world.store.put({ ownerId: null, expiresAt: 0, writtenAt: 0 }, 0)
    const a = world.owner("a", { ttl: 6000 })
    const claims = puts(world)
    expect(claims.length).toBeGreaterThan(1)
    world.until(() => puts(world).length > claims.length)
    expect(world.at - claims[0]!.sentAt).toBeLessThanOrEqual(2200)
    expect(a.count("Lost")).toBe(0)
  })

  it("starts by itself at acquisition and goes on for as long as nothing is asked", () => {
    const world = new World()
    const a = world.owner("a")
    for (let hour = 0; hour < 60; hour++) {
      world.advance(60_000)
      expect(a.holds(world.at)).toBe(true)
    }
    expect(new Set(a.types)).toEqual(new Set(["Acquired", "Renewed"]))
  })

  it("between renewals one read each 2 s looks for a waiter", () => {
    const world = new World()
    world.owner("a")
    const start = world.at
    world.advance(60_000)
    const reads = world.requests.filter(({ command, sentAt }) => command.type === "read" && sentAt > start)
    const waits = gaps(reads.map(({ sentAt }) => sentAt))
    for (const wait of waits) expect(wait).toBeGreaterThan(2000)
    expect(reads.length).toBeGreaterThan(20)
    expect(reads.length).toBeLessThan(30)
  })

  // Tests rule 9: A renewal doesn't wait for a look; a failed look is no failed renewal.
  it("doesn't wait for a look that is under way", () => {
    const world = new World()
    const a = world.owner("a")
    world.advance(7000)
    a.network = "held"
    const look = world.next(a, "read")
    const renewal = world.next(a, "put")
    expect(look.over).toBe(true)
    expect(renewal.sentAt).toBeLessThan(10_100)
  })

  it("a failed look is no failed renewal", () => {
    const world = new World()
    const a = world.owner("a")
    world.advance(1000)
    a.network = "held"
    world.lose(world.next(a, "read"))
    a.network = "up"
    world.advance(60_000)
    expect(new Set(a.types)).toEqual(new Set(["Acquired", "Renewed"]))
  })

  // Tests rule 9: A failure is `degraded` and retried within the authority left.
  it("a failure shows as degraded and is retried: the lease outlives a store that is down for less than its authority", () => {
    const world = new World()
    const a = world.owner("a")
    world.advance(9000)
    a.network = "down"
    world.advance(15_000)
    expect(a.types).toContain("Degraded")
    expect(a.error).toBeUndefined()
    a.network = "up"
    world.advance(3000)
    expect(a.types.at(-1)).toBe("Recovered")
    expect(a.holds(world.at)).toBe(true)
  })

  it("an unexpected failure is retried like any other, also one that says trying again is no use", () => {
    const world = new World()
    const a = world.owner("a")
    world.advance(2000)
    a.network = "held"
    world.send(a, { type: "renew" })
    const error = Object.assign(silence(), { retryable: false as unknown as true })
    world.answer(world.nextWrite(a), { kind: "unknown", error })
    a.network = "up"
    world.until(() => a.types.at(-1) === "Recovered")
    expect(a.types).toEqual(["Acquired", "Degraded", "Recovered"])
    expect(a.last("Degraded")).toMatchObject({ error })
  })

  it("a store that stays down costs the lease at its deadline, told once", () => {
    const world = new World()
    const a = world.owner("a")
    a.network = "down"
    world.advance(120_000)
    expect(a.count("Lost")).toBe(1)
    expect(a.types.at(-1)).toBe("Lost")
    expect(a.error).toMatchObject({ reason: "expired" })
    expect(a.told.at(-1)!.at).toBeLessThan(27_200)
  })

  it("whose answer shows nothing left of it is a loss, and never told as a renewal", () => {
    const world = new World()
    const a = world.owner("a")
    world.advance(2000)
    a.storeSkew = 40_000
    world.send(a, { type: "renew" })
    world.advance(100)
    expect(a.types).toEqual(["Acquired", "Lost"])
    expect(a.error).toMatchObject({ reason: "expired" })
  })

  // Tests rule 9: `strict` takes any failure as a loss; a 412, a 429 and an overtaken write are none.
  it("strict treats any failed renewal as a loss", () => {
    const world = new World()
    const a = world.owner("a", { strict: true })
    world.advance(2000)
    a.network = "held"
    world.send(a, { type: "renew" })
    world.lose(world.nextWrite(a))
    expect(a.types).toEqual(["Acquired", "Lost"])
    expect(a.error).toMatchObject({ reason: "strict", cause: { _tag: "StoreUnavailableError" } })
  })

  it("a 412 is no failure, even to a strict lock: it is read back and written again", () => {
    const world = new World()
    const a = world.owner("a", { strict: true })
    world.advance(2200)
    a.network = "held"
    world.waiter("b")
    world.send(a, { type: "renew" })
    const renewal = world.nextWrite(a)
    a.network = "up"
    world.answer(renewal)
    expect(renewal.result?.kind).toBe("refused")
    world.advance(3000)
    expect(a.types).toEqual(["Acquired", "ReleaseRequested", "Renewed"])
  })

  it("one that was overtaken is no failure either: a read tells what became of it, with no wait", () => {
    const world = new World({ clock: "exact", spacing: 0 })
    const a = world.owner("a", { strict: true })
    world.advance(2200)
    a.network = "held"
    world.send(a, { type: "renew" })
    const renewal = world.nextWrite(a)
    world.deliver(renewal)
    world.answer(renewal, overtaken(world.store.time(world.at)!))
    const at = world.at
    world.answer(world.next(a, "read"))
    expect(world.at).toBe(at)
    expect(a.types).toEqual(["Acquired", "Renewed"])
    expect(a.holds(world.at)).toBe(true)
  })

  // Tests rule 9: Another owner, no record, or none that can be read, is loss at once.
  it("another's record and a missing one are loss at once, whatever authority is left", () => {
    const world = new World()
    const a = world.owner("a")
    world.advance(8000)
    a.network = "held"
    world.store.remove(world.at)
    world.answer(world.next(a, "read"))
    expect(a.error).toMatchObject({ reason: "deleted" })
    expect(a.holds(world.at)).toBe(false)
  })

  it("bytes that are no record are loss, and are left as they are", () => {
    const world = new World()
    const a = world.owner("a")
    world.store.put("<html>", world.at)
    world.advance(40_000)
    expect(a.error).toMatchObject({ reason: "corrupt", cause: { _tag: "CorruptRecordError" } })
    expect(world.store.text).toBe("<html>")
  })

  // Tests rule 9: A record that needs what isn't known is loss, and is never written.
  it("a record that needs what this release doesn't know is loss, and is never written", () => {
    const world = new World()
    const a = world.owner("a")
    const foreign = JSON.stringify({ ...world.store.body, needs: ["heartbeat"] })
    world.store.put(foreign, world.at)
    world.advance(40_000)
    expect(a.error).toMatchObject({
      _tag: "LockLostError",
      cause: { _tag: "FormatVersionError", needs: ["heartbeat"] },
    })
    expect(world.store.text).toBe(foreign)
  })

  // Tests rule 9: A look that shows the lease to be over is loss, and nothing is sent any more.
  it("a look that took so long that nothing can be left of the lease is loss, and no renewal is sent any more", () => {
    const world = new World({ clock: "exact", spacing: 0 })
    const a = world.owner("a")
    a.network = "held"
    const look = world.next(a, "read")
    const sent = world.requests.length
    a.freeze("stopped", world.at)
    world.advance(18_000)
    world.deliver(look)
    a.thaw(world.at)
    expect(a.holds(world.at)).toBe(true)
    world.answer(look)
    expect(a.last("Lost")).toBeDefined()
    expect(world.requests).toHaveLength(sent)
  })

  // Tests rule 9: `leaveToExpire` renews no more and holds until the deadline.
  it("left to expire, it is renewed no more and is held until its deadline", () => {
    const world = new World()
    const a = world.owner("a")
    world.send(a, { type: "leaveToExpire" })
    const before = puts(world).length
    world.advance(26_000)
    expect(a.holds(world.at)).toBe(true)
    world.advance(2000)
    expect(a.error).toMatchObject({ reason: "expired" })
    expect(puts(world)).toHaveLength(before)
  })

  it("a ttl of 6 s, the least on GCS, is kept through a minute of ordinary latency", () => {
    const world = new World({ latency: 100 })
    const a = world.owner("a", { ttl: 6000 })
    world.advance(60_000)
    expect(new Set(a.types)).toEqual(new Set(["Acquired", "Renewed"]))
  })
})
