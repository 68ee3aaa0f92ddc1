/** Rule 10: how a key goes from its owner to the one who waits. */
import { describe, expect, it } from "vitest"
import { acquire, type ProcessModel } from "./process-model.ts"
import { seconds, Stranger } from "./strangers.ts"
import { World } from "./world.ts"

const asked = (process: ProcessModel): number => process.count("ReleaseRequested")

/** An owner that was asked to leave by a waiter. */
function asking(world = new World()): { readonly world: World; readonly a: ProcessModel; readonly b: ProcessModel } {
  const a = world.owner("a")
  const b = world.waiter("b", {}, { budgetMs: undefined })
  world.until(() => asked(a) > 0)
  return { world, a, b }
}

/** The owner has granted the key, and doesn't know it: the answer is lost and its network held. */
function grantUnheard(): ReturnType<typeof asking> {
  const { world, a, b } = asking()
  a.network = "held"
  world.send(a, { type: "release" })
  world.loseAnswer(world.nextWrite(a))
  return { world, a, b }
}

/** The waiter is of a release that says nothing of how long a lease it wants. */
function untold(world: World): void {
  const { ttlMs: _ttl, ...waiter } = world.store.body["waiter"] as Record<string, unknown>
  world.store.put({ ...world.store.body, waiter }, world.at)
}

describe("rule 10: the request", () => {
  it("says in its grant which version the waiter can read, so that older code refuses before it waits", () => {
    const world = new World()
    const a = world.owner("a", {}, { stateVersion: 1 })
    world.waiter("b", {}, { stateVersion: 2 })
    world.until(() => a.count("ReleaseRequested") > 0)
    world.send(a, { type: "release" })
    world.until(() => a.phase === "idle")
    expect(JSON.parse(world.store.text!)).toMatchObject({ ownerId: "b", owner: { stateVersion: 2 } })
    const old = world.process("c")
    world.send(old, acquire({ stateVersion: 1 }))
    world.until(() => old.phase === "idle")
    expect(old.error).toMatchObject({ _tag: "CheckpointVersionError" })
    expect(JSON.parse(world.store.text!)).toMatchObject({ waitingOwnerId: null })
  })

  // Tests rule 10: A live waiter is passed on exactly once, after `minTenure`.
  it("is raised exactly once for a waiter, however long it waits and however often it refreshes", () => {
    const { world, a } = asking()
    expect(a.last("ReleaseRequested")).toMatchObject({ waiterId: "b", token: a.token! })
    world.advance(120_000)
    expect(asked(a)).toBe(1)
  })

  it("is raised again for the next attempt of the same process", () => {
    const { world, a, b } = asking()
    world.send(b, { type: "cancel" })
    world.until(() => b.phase === "idle")
    world.send(b, acquire())
    world.advance(10_000)
    expect(asked(a)).toBe(2)
  })

  it("is raised for a stranger once, and again only when it was gone in between", () => {
    const world = new World()
    const a = world.owner("a")
    const stranger = new Stranger(world, "w")
    stranger.mark()
    world.until(() => asked(a) === 1)
    for (let refreshes = 0; refreshes < 5; refreshes++) {
      world.advance(5000)
      stranger.mark()
    }
    expect(asked(a)).toBe(1)
    stranger.write({ waitingOwnerId: null, waiterExpiresAt: null })
    world.advance(5000)
    stranger.mark()
    world.until(() => asked(a) === 2)
  })

  it("is not raised for a mark that is over", () => {
    const world = new World()
    const a = world.owner("a")
    new Stranger(world, "w").mark(-2000)
    world.advance(20_000)
    expect(asked(a)).toBe(0)
  })

  it("waits for minTenure, so that traffic can't make a key ping-pong", () => {
    const world = new World()
    const a = world.owner("a", {}, { minTenure: 15_000 })
    const start = a.told[0]!.at
    world.waiter("b", {}, { budgetMs: 60_000 })
    world.until(() => asked(a) > 0)
    const at = a.told.find(({ event }) => event.type === "ReleaseRequested")!.at
    expect(at - start).toBeGreaterThanOrEqual(15_000)
    expect(at - start).toBeLessThan(15_010)
  })

  it("waits until an owner that prepares has said how long it stays, and that counts from then", () => {
    const world = new World()
    const a = world.owner("a", {}, { minTenure: undefined })
    world.waiter("b", {}, { budgetMs: 600_000 })
    world.advance(300_000)
    expect(asked(a)).toBe(0)
    const { at } = world
    world.send(a, { type: "stay", ms: 5000 })
    world.until(() => asked(a) > 0)
    expect(world.at - at).toBeGreaterThanOrEqual(5000)
    expect(world.at - at).toBeLessThan(5010)
  })

  it("is raised for a waiter that was there at acquisition already", () => {
    const { world, a, b } = asking()
    world.send(a, { type: "release" })
    world.until(() => b.holds(world.at))
    new Stranger(world, "w", "keep").mark()
    world.advance(3000)
    expect(asked(b)).toBe(1)
  })

  // Tests rule 10: The owner renews while it finishes; then it grants, or reserves.
  it("the owner goes on renewing while it finishes", () => {
    const { world, a } = asking()
    world.advance(120_000)
    expect(a.holds(world.at)).toBe(true)
    expect(a.count("Renewed")).toBeGreaterThan(8)
  })
})

describe("rule 10: grant and reserve", () => {
  // Tests rule 10.
  it("a grant names the waiter and its nonce, the next token, 15 s at most, and how the last ownership ended", () => {
    const { world, a } = asking()
    const { nonce } = world.store.body["waiter"] as { nonce: string }
    const token = a.token!
    world.send(a, { type: "release" })
    expect(a.holds(world.at)).toBe(false)
    world.until(() => a.phase === "idle")
    const { owner, ended, writtenAt, ...record } = world.store.body
    expect(record).toMatchObject({ ownerId: "b", waitingOwnerId: null, waiterExpiresAt: null, waiter: null })
    expect(record["expiresAt"]).toBe((writtenAt as number) + 15)
    expect(owner).toMatchObject({ for: "b", nonce, ttlMs: 15_000, address: null, expiresAt: record["expiresAt"] })
    expect((owner as { token: number }).token).toBeGreaterThan(token)
    expect(ended).toEqual({ token, by: (owner as { opId: string }).opId, how: "grant", note: null })
    expect(a.events.slice(-2)).toMatchObject([
      { type: "Granted", token, waiterId: "b", how: "grant" },
      { type: "Released", token, result: "released" },
    ])
  })

  // Tests rule 10: A grant names the waiter's process, never the granter's.
  it("a grant within one host says whose clock stamped it, and which process the waiter is, never the granter", () => {
    const host = { name: "h", pid: 7, startedAt: "1", bootId: "boot-1", pidNs: "2", groups: [] }
    const unknown = { name: "h", pid: 0, startedAt: null, bootId: "boot-1", pidNs: null, groups: [] }
    for (const [waiter, granted] of [
      [
        { ...host, pid: 8 },
        { ...host, pid: 8 },
      ],
      [null, unknown],
    ] as const) {
      const world = new World({ clock: "exact", spacing: 0 })
      const a = world.owner("a", { bootId: "boot-1", host })
      const b = world.waiter("b", { bootId: "boot-1", host: waiter })
      world.until(() => asked(a) > 0)
      b.network = "held"
      world.send(a, { type: "release" })
      world.until(() => a.phase === "idle")
      expect(world.store.body["owner"]).toMatchObject({ for: "b", host: granted })
      b.network = "up"
      world.until(() => b.count("Renewed") > 0)
      expect(world.store.body["owner"]).toMatchObject({ host: waiter })
    }
  })

  it.each([
    ["as long as the lease that the waiter wants", 30_000, 8000, true, 8],
    ["15 s where that is longer, however short the granter's own is", 8000, 30_000, true, 15],
    ["as long as the granter's where the waiter says none", 8000, 30_000, false, 8],
  ])("a grant is %s", (_, mine, wanted, isTold, lasts) => {
    const world = new World()
    const a = world.owner("a", { ttl: mine })
    const b = world.waiter("b", { ttl: wanted })
    world.until(() => asked(a) > 0)
    if (!isTold) {
      untold(world)
      b.network = "held"
    }
    world.send(a, { type: "release" })
    world.until(() => a.phase === "idle")
    expect(world.store.body["expiresAt"]).toBe((world.store.body["writtenAt"] as number) + lasts)
  })

  // Tests rule 10: A grant found dead, or with hardly anything left, is acquired afresh.
  it("a grant that leaves no time to renew it twice, for it came late or is shorter than asked for, is renewed before it is owned", () => {
    for (const [late, ttl, isOwned] of [
      [500, 6000, true],
      [3000, 6000, false],
      [500, 30_000, false],
    ] as const) {
      const world = new World()
      const a = world.owner("a", { ttl: 6000 })
      const b = world.waiter("b", { ttl })
      world.until(() => asked(a) > 0)
      if (ttl > 6000) untold(world)
      world.advance(2500) // its owner sees that
      a.network = "held"
      world.send(a, { type: "release" })
      const grant = world.nextWrite(a)
      world.advance(late)
      world.deliver(grant)
      const writes = world.store.history.length
      world.until(() => b.phase === "owning")
      expect(world.store.history.length - writes).toBe(isOwned ? 0 : 1)
      world.advance(20_000)
      expect(b.count("Lost")).toBe(0)
    }
  })

  // Tests rule 10: The first renewal after a grant comes a second after it was written.
  it("the first renewal after a grant comes a second after the grant was written, and says where the owner is", () => {
    for (const ttl of [8000, 30_000]) {
      const world = new World()
      const a = world.owner("a", { ttl })
      const b = world.waiter("b", { ttl, address: "http://b" })
      world.until(() => asked(a) > 0)
      world.send(a, { type: "release" })
      world.until(() => b.holds(world.at))
      const granted = world.store.history.at(-1)!.at
      world.until(() => b.count("Renewed") > 0)
      expect(world.store.history.at(-1)!.at - granted).toBeGreaterThan(1000)
      expect(world.store.history.at(-1)!.at - granted).toBeLessThan(2100)
      expect(world.store.body["owner"]).toMatchObject({ address: "http://b", ttlMs: ttl })
    }
  })

  it("a waiter that accepts no grants, or accepts what nobody knows, is reserved the key: no owner, 15 s at most", () => {
    for (const accepts of [[], ["teleport"], "grant", undefined]) {
      const world = new World()
      const a = world.owner("a")
      const waiterExpiresAt = seconds(60_000)
      const waiter = { for: "w", expiresAt: waiterExpiresAt, nonce: "n", opId: "o", accepts }
      world.store.put({ ...world.store.body, waitingOwnerId: "w", waiterExpiresAt, waiter }, world.at)
      world.advance(3000)
      const token = a.token!
      world.send(a, { type: "release" })
      world.until(() => a.phase === "idle")
      const { writtenAt, ...record } = world.store.body
      expect(record).toMatchObject({ ownerId: null, waitingOwnerId: "w", waiter: { for: "w", nonce: "n" } })
      expect(record["waiterExpiresAt"]).toBe((writtenAt as number) + 15)
      expect((record["waiter"] as { expiresAt: number }).expiresAt).toBe(record["waiterExpiresAt"])
      expect(record["ended"]).toMatchObject({ token, how: "reserve" })
      expect(a.last("Granted")).toMatchObject({ how: "reserve", waiterId: "w" })
    }
  })

  // Tests rule 10: A reserve never lengthens a mark.
  it("a reserve never lengthens a mark", () => {
    const world = new World()
    const a = world.owner("a")
    new Stranger(world, "w").mark(6000)
    const before = world.store.body["waiterExpiresAt"]
    world.send(a, { type: "release" })
    world.until(() => a.phase === "idle")
    expect(world.store.body).toMatchObject({ ownerId: null, waitingOwnerId: "w", waiterExpiresAt: before })
  })

  it("only the one it is reserved for may take it meanwhile; afterwards anybody", () => {
    const world = new World()
    const a = world.owner("a")
    new Stranger(world, "w").mark(60_000)
    world.advance(3000)
    world.send(a, { type: "release" })
    world.until(() => a.phase === "idle")
    const reserved = world.at
    const c = world.process("c")
    world.send(c, acquire({ contention: "retry", budgetMs: 60_000 }))
    world.until(() => c.holds(world.at))
    expect(world.at - reserved).toBeGreaterThan(15_000)
    expect(world.at - reserved).toBeLessThan(20_000)
  })

  it("one of ours that is reserved the key claims it", () => {
    const world = new World()
    const stranger = new Stranger(world, "s", "keep")
    stranger.own()
    const b = world.waiter("b")
    stranger.release()
    world.until(() => b.holds(world.at))
    expect(b.last("Acquired")).toMatchObject({ how: "reserved" })
  })

  it("with a live waiter release is a grant, without one a release, and a mark that is over doesn't count", () => {
    const { world, a, b } = asking()
    world.crash(b)
    world.advance(14_000)
    world.send(a, { type: "release" })
    world.until(() => a.phase === "idle")
    expect(world.store.body).toMatchObject({ ownerId: null, waitingOwnerId: null, ended: { how: "release" } })
  })

  // Tests rule 10: With a live waiter a release is a handoff, also for a waiter after the last look.
  it("a waiter that came after the last look is granted the key all the same", () => {
    const world = new World()
    const a = world.owner("a")
    world.advance(2200)
    a.network = "held"
    const b = world.waiter("b")
    world.send(a, { type: "release" })
    const release = world.nextWrite(a)
    a.network = "up"
    world.answer(release)
    expect(release.result?.kind).toBe("refused")
    world.until(() => b.holds(world.at))
    expect(a.last("Granted")).toMatchObject({ how: "grant" })
    expect(asked(a)).toBe(0)
  })
})

describe("rule 10: a handoff whose answer is lost", () => {
  // Tests rule 10: After a grant, reserve or release was sent, its sender never acts under that token again.
  it("after it was sent the sender is no owner, whatever the answer", () => {
    const { world, a } = asking()
    a.network = "held"
    world.send(a, { type: "release" })
    const grant = world.nextWrite(a)
    expect(a.holds(world.at)).toBe(false)
    world.send(a, { type: "renew" })
    world.lose(grant)
    expect(a.phase).toBe("leaving")
    world.advance(11_000)
    expect(a.last("Released")).toMatchObject({ result: "unknown" })
    expect(a.types).not.toContain("Renewed")
  })

  // Tests rule 10: `ended` tells the fate of a grant whose answer was lost.
  it("a grant that landed is learned from the record's ended, also after the next owner renewed", () => {
    const { world, a, b } = grantUnheard()
    world.until(() => b.count("Renewed") > 0)
    a.network = "up"
    world.answer(world.next(a, "read"))
    expect(a.events.slice(-2)).toMatchObject([{ type: "Granted", how: "grant" }, { result: "released" }])
  })

  // Tests rule 10: A grant that didn't land is written again.
  it("a grant that didn't land is written again, the same bytes where the generation stands", () => {
    const { world, a, b } = asking()
    a.network = "held"
    world.send(a, { type: "release" })
    const first = world.nextWrite(a)
    world.lose(first)
    const second = world.nextWrite(a)
    expect({ ...second.command, id: 0 }).toEqual({ ...first.command, id: 0 })
    world.answer(second)
    world.until(() => b.holds(world.at))
    expect(a.last("Released")).toMatchObject({ result: "released" })
  })

  it("where the key moved on past telling the result is unknown", () => {
    const { world, a, b } = grantUnheard()
    world.until(() => b.holds(world.at))
    world.send(b, { type: "release" })
    world.until(() => b.phase === "idle")
    world.answer(world.next(a, "read"))
    expect(a.last("Released")).toMatchObject({ result: "unknown" })
  })

  it("a takeover sets ended to null, so that a former owner doesn't take it for its own", () => {
    const { world, a, b } = grantUnheard()
    world.crash(b)
    const c = world.process("c")
    world.send(c, acquire({ budgetMs: undefined }))
    world.until(() => c.holds(world.at))
    expect(world.store.body["ended"]).toBeNull()
    expect(a.last("Released")).toMatchObject({ result: "unknown" })
  })

  // Tests rule 10: The next owner carries `ended` on.
  it("the next owner carries ended on with every renewal", () => {
    const { world, a, b } = asking()
    world.send(a, { type: "release" })
    world.until(() => b.holds(world.at))
    const { ended } = world.store.body
    world.advance(60_000)
    expect(b.count("Renewed")).toBeGreaterThan(4)
    expect(world.store.body["ended"]).toEqual(ended)
  })

  // Tests rule 4: A grant longer than the grantee's own ttl gives it no more than that ttl.
  it("a grant longer than the grantee's own ttl gives it no more than that: its first renewal shortens the record", () => {
    const world = new World({ clock: "exact", spacing: 0 })
    const a = world.owner("a", { ttl: 30_000 })
    const b = world.waiter("b", { ttl: 6000 }, { budgetMs: undefined })
    world.until(() => asked(a) > 0)
    world.send(a, { type: "release" })
    world.until(() => b.count("Acquired") > 0)
    world.deliver(world.next(b, "put"))
    b.freeze("stopped", world.at)
    const c = world.process("c", { ttl: 6000 })
    world.send(c, acquire({ budgetMs: undefined }))
    world.until(() => c.count("Acquired") > 0, 12_000)
    expect(b.holds(world.at)).toBe(false)
  })

  // Tests rule 10.
  it("a grant found dead on arrival is acquired afresh, not reported lost", () => {
    const { world, a, b } = asking()
    b.freeze("stopped", world.at)
    world.send(a, { type: "release" })
    world.until(() => a.phase === "idle")
    world.advance(20_000)
    b.thaw(world.at)
    world.until(() => b.holds(world.at))
    expect(b.types).toEqual(["Waiting", "Acquired"])
    expect(b.last("Acquired")).toMatchObject({ how: "granted" })
  })
})

describe("rule 10: the note of a grant", () => {
  const noteOf = ({ state }: ProcessModel): string | undefined =>
    state.phase.name === "owning" ? state.phase.hold.note : undefined

  // Tests rule 10, rule 15: The note of a grant counts only for the nonce that it names.
  it("is told to the one that the grant was made for, and carried on for nobody", () => {
    const { world, a, b } = asking()
    world.send(a, { type: "release", note: "g7" })
    world.until(() => b.holds(world.at))
    expect(noteOf(b)).toBe("g7")
    const c = world.waiter("c", {}, { budgetMs: undefined })
    world.until(() => asked(b) > 0)
    world.send(b, { type: "release" })
    world.until(() => c.holds(world.at))
    expect(noteOf(c)).toBeUndefined()
  })

  it("is told to nobody where a stranger that keeps our fields hands the key on", () => {
    const { world, a, b } = asking()
    world.send(a, { type: "release", note: "g7" })
    world.until(() => b.holds(world.at))
    world.crash(b)
    const stranger = new Stranger(world, "s", "keep")
    stranger.own()
    const c = world.waiter("c", {}, { budgetMs: undefined })
    world.until(() => world.store.body["waitingOwnerId"] === "c")
    stranger.grant()
    world.until(() => c.holds(world.at))
    expect(world.store.body["ended"]).toMatchObject({ how: "grant", note: { says: "g7" } })
    expect(c.last("Acquired")).toMatchObject({ how: "granted" })
    expect(noteOf(c)).toBeUndefined()
  })

  it("is not told where the grant was dead on arrival", () => {
    const { world, a, b } = asking()
    b.freeze("stopped", world.at)
    world.send(a, { type: "release", note: "g7" })
    world.until(() => a.phase === "idle")
    world.advance(20_000)
    b.thaw(world.at)
    world.until(() => b.holds(world.at))
    expect(noteOf(b)).toBeUndefined()
  })

  it("stays out of a release and of a reserve", () => {
    const alone = new World()
    const owner = alone.owner("a")
    alone.send(owner, { type: "release", note: "g7" })
    alone.until(() => owner.phase === "idle")
    expect(alone.store.body["ended"]).toMatchObject({ how: "release", note: null })
  })
})
