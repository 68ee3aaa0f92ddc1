/** Rule 7: acquiring and waiting. */
import { describe, expect, it } from "vitest"
import { acquire, type ProcessModel } from "./process-model.ts"
import { seconds, Stranger } from "./strangers.ts"
import { type Request, World } from "./world.ts"

const kinds = (requests: readonly Request[]): string => requests.map(({ command }) => command.type).join(" ")
const of = (world: World, process: ProcessModel): readonly Request[] =>
  world.requests.filter((request) => request.process === process)

/** The times at which a process read, from some time on. */
const readsOf = (world: World, process: ProcessModel, from: number): readonly number[] =>
  of(world, process)
    .filter(({ command, sentAt }) => command.type === "read" && sentAt > from)
    .map(({ sentAt }) => sentAt)

const gaps = (times: readonly number[]): readonly number[] => times.slice(1).map((time, i) => time - times[i]!)

describe("rule 7: acquire", () => {
  // Tests rule 7: An acquire reads first, unless it is warm; then it makes one write.
  it("reads first, then creates what is absent in one write", () => {
    const world = new World()
    const a = world.owner("a")
    expect(kinds(of(world, a))).toBe("read put")
    expect(of(world, a)[1]!.command).toMatchObject({ expected: "0" })
    expect(a.last("Acquired")).toMatchObject({ how: "created" })
  })

  it("takes a released record, and one whose owner let it run out", () => {
    const world = new World()
    const a = world.owner("a")
    world.send(a, { type: "release" })
    world.until(() => a.phase === "idle")
    const b = world.owner("b")
    expect(b.last("Acquired")).toMatchObject({ how: "free" })
    world.crash(b)
    world.advance(32_000)
    expect(world.owner("c").last("Acquired")).toMatchObject({ how: "takeover" })
  })

  it("is warm after a release of its own: one write without a read", () => {
    const world = new World()
    const a = world.owner("a")
    world.send(a, { type: "release" })
    world.advance(5000)
    const before = world.requests.length
    world.send(a, acquire())
    world.advance(100)
    expect(kinds(world.requests.slice(before))).toBe("put")
    expect(a.holds(world.at)).toBe(true)
  })

  // Tests rule 7: A warm acquire that meets another's record reads and waits.
  it("is not misled by being warm: where another came first it reads, and waits", () => {
    const world = new World()
    const a = world.owner("a")
    world.send(a, { type: "release" })
    world.advance(2000)
    world.owner("b")
    world.send(a, acquire())
    world.until(() => a.count("Waiting") === 1)
    expect(world.store.body).toMatchObject({ ownerId: "b", waitingOwnerId: "a" })
  })

  // Tests rule 7: A vanished record is not free for one who saw a live owner in it.
  it("does not take a vanished record for free when it saw a live owner in it, before that one's expiry and a second", () => {
    const world = new World()
    const a = world.owner("a")
    const b = world.process("b")
    world.send(b, acquire({ budgetMs: 60_000 }))
    world.advance(1000)
    const expiry = (world.store.body["expiresAt"] as number) * 1000 - seconds(0) * 1000
    world.store.remove(world.at)
    world.crash(a)
    world.until(() => b.holds(world.at))
    expect(world.at).toBeGreaterThan(expiry + 1000)
    expect(world.at).toBeLessThan(expiry + 5000)
    expect(b.last("Acquired")).toMatchObject({ how: "created" })
  })

  // Tests rule 7: Where there is no clock, a vanished owner is remembered by observation, until I own the key.
  it("on a store without a clock waits for the vanished owner's ttl from when it first saw it", () => {
    const world = new World({ clock: "none", spacing: 0 })
    const a = world.owner("a", { ttl: 12_000 })
    const b = world.process("b")
    const start = world.at
    world.send(b, acquire({ budgetMs: 60_000 }))
    world.advance(1000)
    world.store.remove(world.at)
    world.crash(a)
    world.until(() => b.holds(world.at))
    expect(world.at - start).toBeGreaterThan(12_000)
    expect(world.at - start).toBeLessThan(14_000)
  })

  // Tests rule 7: Once I owned the key myself the owner before is history.
  it("remembers a vanished owner until it owns the key itself, and no longer", () => {
    const world = new World({ clock: "none", spacing: 0 })
    const a = world.owner("a", { ttl: 60_000 })
    const b = world.process("b")
    world.send(b, acquire({ budgetMs: undefined }))
    world.advance(1000)
    world.store.remove(world.at)
    world.crash(a)
    world.until(() => b.holds(world.at))
    world.store.remove(world.at)
    world.until(() => b.count("Lost") > 0)
    world.send(b, acquire())
    world.advance(100)
    expect(b.holds(world.at)).toBe(true)
  })

  it("takes a vanished record at once where its owner deletes on release, or was a stranger, or was never seen", () => {
    const world = new World()
    const a = world.owner("a", { deletes: true })
    const b = world.process("b")
    world.send(b, acquire({ budgetMs: 1000 }))
    world.advance(2000)
    world.send(a, { type: "release" })
    world.until(() => a.phase === "idle")
    expect(world.store.text).toBeUndefined()
    world.send(b, acquire())
    world.advance(2500)
    expect(b.holds(world.at)).toBe(true)
    const other = new World()
    new Stranger(other, "s").own()
    const c = other.process("c")
    other.send(c, acquire({ budgetMs: 1000 }))
    other.advance(2000)
    other.store.remove(other.at)
    other.send(c, acquire())
    other.advance(2500)
    expect(c.holds(other.at)).toBe(true)
  })

  // Tests rule 7: `whenOwned` and `contention` decide what an acquire does about an owner and a waiter.
  it("reports an owner at once, with its address, where it is told not to ask", () => {
    const world = new World()
    world.owner("a", { address: "http://a:8080" })
    const before = world.store.text
    const b = world.process("b")
    world.send(b, acquire({ whenOwned: "report" }))
    world.advance(100)
    expect(b.error).toMatchObject({ _tag: "OwnedElsewhereError", owner: { ownerId: "a", address: "http://a:8080" } })
    expect(b.error!.next).toContain("http://a:8080")
    expect(world.store.text).toBe(before)
  })

  // Tests rule 7: `report` covers a key that is reserved for another.
  it("reports a key that is reserved for another just the same", () => {
    const world = new World()
    const stranger = new Stranger(world, "w")
    stranger.write({ waitingOwnerId: "w", waiterExpiresAt: seconds(10_000) })
    const b = world.process("b")
    world.send(b, acquire({ whenOwned: "report", contention: "retry" }))
    world.advance(100)
    expect(b.error).toMatchObject({ _tag: "OwnedElsewhereError", message: expect.stringContaining('"w"') })
  })

  it("waits without a mark where it is not to ask, and takes what is free unless another's mark stands there", () => {
    const world = new World()
    const a = world.owner("a")
    const b = world.process("b")
    world.send(b, acquire({ whenOwned: "wait", budgetMs: 60_000 }))
    world.advance(5000)
    expect(b.last("Waiting")).toMatchObject({ owner: { ownerId: "a" } })
    expect(world.store.body).toMatchObject({ ownerId: "a", waitingOwnerId: null })
    const c = world.waiter("c")
    world.until(() => a.count("ReleaseRequested") === 1)
    world.send(a, { type: "release" })
    world.until(() => c.holds(world.at))
    world.advance(5000)
    expect(b.phase).toBe("seeking")
    world.send(c, { type: "release" })
    world.until(() => b.holds(world.at))
    expect(c.count("ReleaseRequested")).toBe(0)
  })

  it("meets another waiter with an error that names owner and waiter, or tries again within its budget", () => {
    const world = new World()
    const a = world.owner("a")
    const b = world.waiter("b")
    const [c, d] = [world.process("c"), world.process("d")]
    world.send(c, acquire({ contention: "fail" }))
    world.send(d, acquire({ contention: "retry", budgetMs: 60_000 }))
    world.advance(1000)
    expect(c.error).toMatchObject({ _tag: "LockContentionError", waiterId: "b", owner: { ownerId: "a" } })
    expect(c.error).toMatchObject({ retryAfterMs: expect.any(Number) })
    expect(d.phase).toBe("seeking")
    world.until(() => a.count("ReleaseRequested") > 0)
    world.send(a, { type: "release" })
    world.until(() => b.holds(world.at))
    world.until(() => b.count("ReleaseRequested") > 0)
    world.send(b, { type: "release" })
    world.until(() => d.holds(world.at))
    expect(d.count("GaveUp")).toBe(0)
  })

  // Tests rule 7: Waiters refresh at half their ttl and poll; dead ones block nobody.
  it("a waiter refreshes its mark at half its ttl of 12 s, and polls every 1 to 2 s", () => {
    const world = new World()
    world.owner("a", { ttl: 24 * 3_600_000 })
    world.store.put({ ...world.store.body, writtenAt: 0 }, -5000)
    const b = world.process("b")
    world.send(b, acquire({ budgetMs: 60_000 }))
    world.advance(59_000)
    const marks = of(world, b).filter(({ command }) => command.type === "put")
    const waits = gaps(marks.map(({ sentAt }) => sentAt))
    expect(waits.length).toBeGreaterThan(5)
    for (const wait of waits) {
      expect(wait).toBeGreaterThan(6000)
      expect(wait).toBeLessThan(8100)
    }
    for (const gap of gaps(readsOf(world, b, 1000))) {
      expect(gap).toBeGreaterThan(1000)
      expect(gap).toBeLessThan(3500)
    }
  })

  it("polls soon at first where reads are cheap, and every second later", () => {
    const world = new World({ clock: "exact", spacing: 0, latency: 0 })
    world.owner("a")
    const b = world.waiter("b", {}, { budgetMs: 60_000 })
    const start = world.at
    world.advance(5000)
    const polls = gaps(readsOf(world, b, start))
    expect(polls[0]).toBeLessThan(20)
    expect(Math.max(...polls)).toBeLessThan(1100)
    expect(Math.max(...polls)).toBeGreaterThan(700)
  })

  // Tests rule 7: Polls double from 10 ms to 1 s where reads are cheap, and start anew with the wait.
  it("polls soon again once it is the waiter, however long it stood in the line before", () => {
    const world = new World({ clock: "exact", spacing: 0, latency: 0 })
    world.owner("a")
    const b = world.waiter("b", {}, { budgetMs: 60_000 })
    const c = world.process("c")
    world.send(c, acquire({ budgetMs: 60_000, contention: "retry" }))
    world.advance(8000)
    world.send(b, { type: "cancel" })
    world.until(() => world.store.body["waitingOwnerId"] === "c")
    const known = readsOf(world, c, 0).length
    world.until(() => readsOf(world, c, 0).length > known, 1100)
    const start = world.at
    world.advance(100)
    expect(readsOf(world, c, start).length).toBeGreaterThan(2)
  })

  it("polls by conditional GET", () => {
    const world = new World()
    world.owner("a")
    const b = world.waiter("b")
    world.advance(4000)
    const last = of(world, b)
      .filter(({ command }) => command.type === "read")
      .at(-1)!
    expect(last.command).toMatchObject({ known: world.store.generation })
    expect(last.result!.kind).toBe("unchanged")
  })

  // Tests rule 7: An owner of a later state version is refused before waiting.
  it("refuses, before it waits, an owner whose state is of a later version", () => {
    const world = new World()
    world.owner("a", {}, { stateVersion: 4 })
    const [b, c] = [world.process("b"), world.process("c")]
    world.send(b, acquire({ stateVersion: 3 }))
    world.advance(100)
    expect(b.error).toMatchObject({ _tag: "CheckpointVersionError", saved: 4, known: 3 })
    expect(world.store.history).toHaveLength(1)
    world.send(c, acquire({ stateVersion: 4 }))
    world.until(() => c.count("Waiting") > 0)
  })

  it("a waiter that dies is no longer in the way once its mark is over", () => {
    const world = new World()
    const a = world.owner("a")
    world.crash(world.waiter("b"))
    const c = world.process("c")
    world.send(c, acquire({ budgetMs: 60_000, contention: "retry" }))
    world.until(() => c.count("Waiting") > 0)
    expect(world.at).toBeLessThan(20_000)
    world.until(() => a.count("ReleaseRequested") === 2)
  })

  it("an owner that dies is taken over by its waiter when its lease is over", () => {
    const world = new World()
    const a = world.owner("a")
    const b = world.waiter("b", {}, { budgetMs: 60_000 })
    world.crash(a)
    world.until(() => b.holds(world.at))
    expect(world.at).toBeGreaterThan(31_000)
    expect(world.at).toBeLessThan(35_000)
    expect(world.store.body).toMatchObject({ waitingOwnerId: null, ended: null })
  })

  it("an acquire whose budget was partly spent in a queue has only the rest", () => {
    const world = new World()
    world.owner("a")
    const b = world.process("b")
    world.send(b, { ...acquire({ budgetMs: 10_000 }), spentMs: 7000 })
    world.advance(3001)
    expect(b.error).toMatchObject({ _tag: "LockTimeoutError", waitedMs: 10_000, limitMs: 10_000 })
  })

  it("a timeout names what it waited for and where the limit came from", () => {
    const world = new World()
    world.owner("a")
    const b = world.process("b")
    world.send(b, acquire({ budgetMs: 5000, budgetSource: { name: "the flag", change: "Pass more" } }))
    world.advance(5001)
    expect(b.error).toMatchObject({ waitedMs: 5000, limitMs: 5000, source: "the flag", next: "Pass more" })
    expect(b.error!.message).toContain('held by "a"')
  })

  it("a store that was down for a while is not blamed for a key that is held", () => {
    const world = new World()
    world.owner("a")
    const b = world.process("b")
    b.network = "down"
    world.send(b, acquire({ budgetMs: 20_000 }))
    world.advance(6000)
    b.network = "up"
    world.advance(14_001)
    expect(b.error).toMatchObject({ _tag: "LockTimeoutError" })
  })

  it("a store that doesn't answer is named within the budget, and retried until then", () => {
    const world = new World()
    const b = world.process("b")
    b.network = "down"
    world.send(b, acquire({ budgetMs: 20_000 }))
    world.advance(20_001)
    expect(b.error).toMatchObject({ _tag: "StoreUnavailableError" })
    expect(of(world, b).length).toBeGreaterThan(3)
    const c = world.process("c")
    c.network = "down"
    world.send(c, acquire({ budgetMs: 20_000 }))
    world.advance(6000)
    c.network = "up"
    world.until(() => c.holds(world.at))
  })
})
