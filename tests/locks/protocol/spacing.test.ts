/** Rules 13 and 14: how often an object is written, and how many requests things take. */
import { describe, expect, it } from "vitest"
import { SeededRandom } from "../../../src/runtime/time/random.ts"
import { acquire, type ProcessModel } from "./process-model.ts"
import { silence } from "./store-model.ts"
import { type Request, World } from "./world.ts"

/** When each version was written, and what it says. */
const writes = (world: World): readonly { readonly at: number; readonly body: Record<string, unknown> }[] =>
  world.store.history.map(({ at, text }) => ({ at, body: JSON.parse(text ?? "{}") as Record<string, unknown> }))

const kinds = (requests: readonly Request[]): string => requests.map(({ command }) => command.type).join(" ")

/** A world of ordinary chance: every jitter and the latency drawn from a seed. */
function chancy(seed: number): { readonly world: World; readonly random: SeededRandom } {
  const random = new SeededRandom(seed)
  return { world: new World({ draw: () => random.next(), latency: 20 + 60 * random.next() }), random }
}

describe("rule 13: spacing", () => {
  // Tests rule 13: Owners and acquirers write a second after the last write, waiters later.
  it("an owner writes a second after the last known write of the object, and not before", () => {
    const world = new World()
    const a = world.owner("a")
    world.send(a, { type: "renew" })
    world.advance(2000)
    world.send(a, { type: "renew" })
    world.send(a, { type: "release" })
    world.until(() => a.phase === "idle")
    const times = writes(world).map(({ at }) => at)
    expect(times.length).toBeGreaterThanOrEqual(3)
    for (const [i, at] of times.slice(1).entries()) expect(at - times[i]!).toBeGreaterThanOrEqual(1000)
    expect(times[1]! - times[0]!).toBeLessThan(1100)
  })

  it("an acquirer of a free record keeps the same distance from its release", () => {
    const { world } = chancy(3)
    const a = world.owner("a")
    world.send(a, { type: "release" })
    world.until(() => a.phase === "idle")
    world.owner("b")
    const [released, acquired] = writes(world).slice(-2)
    expect(acquired!.at - released!.at).toBeGreaterThanOrEqual(1000)
  })

  it("marks and refreshes come two to three seconds after the last write, erasures after a mark later still", () => {
    const early: number[] = []
    for (const draw of [0, 0.5, 0.999]) {
      const world = new World({ clock: "exact", draw: () => draw })
      const a = world.owner("a")
      const b = world.waiter("b")
      const mark = world.store.history.at(-1)!.at
      expect(mark - world.store.history.at(-2)!.at).toBeGreaterThan(2000)
      expect(mark - world.store.history.at(-2)!.at).toBeLessThan(3200)
      world.send(b, { type: "cancel" })
      world.until(() => b.phase === "idle")
      early.push(world.store.history.at(-1)!.at - mark)
      expect(a.holds(world.at)).toBe(true)
    }
    for (const wait of early) expect(wait).toBeGreaterThan(2500)
  })

  // Tests rule 13: Nobody starves.
  it("behind an owner that renews every two seconds a waiter has its turn before the next renewal", () => {
    for (let seed = 0; seed < 50; seed++) {
      const { world, random } = chancy(seed)
      const a = world.owner("a", { ttl: 6000 })
      world.advance(10_000 * random.next())
      const b = world.process("b", { ttl: 6000 })
      const start = world.at
      world.send(b, acquire())
      world.until(() => b.count("Waiting") > 0)
      expect(world.at - start).toBeLessThan(8000)
      expect(a.count("Lost")).toBe(0)
    }
  })

  it("a waiter that comes when such an owner's renewal is due lets it by", () => {
    for (let seed = 0; seed < 50; seed++) {
      const random = new SeededRandom(seed)
      const world = new World({ clock: "exact", draw: () => random.next() })
      const a = world.owner("a", { ttl: 6000 })
      world.until(() => a.count("Renewed") === 1)
      world.advance(1700 + 300 * random.next())
      const b = world.process("b", { ttl: 6000 })
      world.send(b, acquire())
      world.until(() => a.count("Renewed") === 2)
      expect(b.count("Waiting")).toBe(0)
      world.until(() => b.count("Waiting") > 0)
      expect(a.count("Degraded") + a.count("Lost")).toBe(0)
    }
  })

  it("a waiter goes on looking for a grant while its mark's refresh waits for its turn", () => {
    for (let seed = 0; seed < 20; seed++) {
      const { world } = chancy(seed)
      const a = world.owner("a", { ttl: 6000 })
      const b = world.waiter("b", { ttl: 6000 }, { budgetMs: undefined })
      const marked = world.requests.length
      for (let minutes = 0; minutes < 3; minutes++) {
        world.advance(60_000)
        const looks = world.requests
          .slice(marked)
          .filter(({ process }) => process === b)
          .map(({ sentAt }) => sentAt)
        for (const [i, at] of looks.slice(1).entries()) expect(at - looks[i]!).toBeLessThan(2500)
        expect(b.count("Waiting")).toBe(1)
      }
      expect(a.count("Lost")).toBe(0)
    }
  })

  it("owners first: three clients with short budgets starve no renewal", () => {
    for (const ttl of [10_000, 30_000]) {
      for (let seed = 0; seed < 5; seed++) {
        const { world, random } = chancy(seed)
        const a = world.owner("a", { ttl })
        const clients = ["c1", "c2", "c3"].map((id) => world.process(id, { ttl }))
        for (let tenths = 0; tenths < 1200; tenths++) {
          for (const client of clients) wanting(world, client, random)
          world.advance(100)
        }
        expect(clients.map((client) => client.count("Waiting")).reduce((one, other) => one + other)).toBeGreaterThan(5)
        expect(a.count("Lost")).toBe(0)
        expect(a.holds(world.at)).toBe(true)
      }
    }
  })

  it("a waiter that meets a 429 leaves the owner its turn, also when it has given up by then", () => {
    for (const cancels of [false, true]) {
      const world = new World()
      const a = world.owner("a", { ttl: 6000 })
      const b = world.process("b", { ttl: 6000 })
      b.network = "held"
      world.send(b, acquire())
      world.deliver(world.requests.at(-1)!)
      const mark = world.nextWrite(b)
      const met = world.at
      world.answer(mark, {
        kind: "unknown",
        error: silence(),
        throttled: true,
        storeTime: world.store.time(world.at)!,
      })
      b.network = "up"
      if (cancels) world.send(b, { type: "cancel" })
      const again = ({ process, command, sentAt }: Request): boolean =>
        process === b && command.type === "put" && sentAt > met
      world.until(() => world.requests.some(again))
      expect(world.at - met).toBeGreaterThan(1500)
      expect(a.holds(world.at)).toBe(true)
      world.until(() => b.phase === (cancels ? "idle" : "owning") || b.count("Waiting") > 0)
    }
  })

  it("a waiter that gave up after a 429 lets an owner that renews often renew first (seed 26504)", () => {
    let chance = 1 // the owner renews as late as it may, and the other writes as early
    const world = new World({
      draw: () => chance,
      // By the other's clock the owner's last write is longer ago, so that its mark comes too soon.
      twist: ({ process }, result) =>
        process.id === "b" && result.storeTime !== undefined
          ? { ...result, storeTime: result.storeTime + 1200 }
          : result,
    })
    const a = world.owner("a", { ttl: 6000 })
    const b = world.process("b", { ttl: 6000 })
    const renewed = a.count("Renewed")
    world.until(() => a.count("Renewed") > renewed)
    chance = 0
    b.network = "held"
    world.send(b, acquire())
    world.deliver(world.requests.at(-1)!)
    world.answer(world.nextWrite(b), {
      ...{ kind: "unknown", error: silence(), throttled: true },
      storeTime: world.store.time(world.at)!,
    })
    b.network = "up"
    world.send(b, { type: "cancel" })
    const again = a.count("Renewed")
    const before = world.store.history.length
    world.until(() => b.phase === "idle")
    // The renewal has moved the version that the mark could have landed on: there is nothing left to write.
    expect(a.count("Renewed")).toBeGreaterThan(again)
    expect(world.store.history.length - before).toBe(a.count("Renewed") - again)
  })

  // Tests rule 13: A 429 is contention for the object, not loss.
  it("a 429 is no loss: the renewal comes again soon, and not before it may", () => {
    const world = new World()
    const a = world.owner("a")
    world.advance(8000)
    world.store.put(world.store.text!, world.at)
    world.advance(3500)
    expect(world.requests.filter(({ result }) => result?.kind === "unknown").length).toBeLessThan(4)
    expect(a.count("Lost")).toBe(0)
    expect(a.holds(world.at)).toBe(true)
  })

  // Tests rule 9: `strict` takes any failure as a loss; a 412, a 429 and an overtaken write are none.
  it("nor to a strict lock, to which every failed renewal is one", () => {
    const world = new World()
    const a = world.owner("a", { strict: true })
    world.advance(2000)
    a.network = "held"
    world.send(a, { type: "renew" })
    const renewal = world.nextWrite(a)
    a.network = "up"
    world.answer(renewal, {
      kind: "unknown",
      error: silence(),
      throttled: true,
      storeTime: world.store.time(world.at)!,
    })
    expect(a.types).toEqual(["Acquired", "Degraded"])
    world.advance(2000)
    expect(a.types).toEqual(["Acquired", "Degraded", "Recovered"])
  })

  // Tests rule 13: An acquirer that meets a 429 tries again within its budget.
  it("an acquirer that meets a 429 tries again within its budget", () => {
    const world = new World()
    world.store.put({ ownerId: null, expiresAt: 0 }, 0)
    world.store.put({ ownerId: null, expiresAt: 0, writtenAt: 0 }, 0)
    const a = world.process("a")
    world.send(a, acquire())
    world.until(() => a.holds(world.at))
    expect(world.at).toBeGreaterThan(1000)
    expect(world.at).toBeLessThan(2500)
    expect(a.types).toEqual(["Acquired"])
  })

  // Tests rule 13: Renewals in no hurry keep clear of 429s though stamps are whole seconds.
  it("the first renewals after grants meet no 429, though stamps are whole seconds", () => {
    let degraded = 0
    for (let seed = 0; seed < 40; seed++) {
      const { world, random } = chancy(seed)
      world.advance(3000 * random.next())
      const a = world.owner("a")
      const b = world.waiter("b")
      world.until(() => a.count("ReleaseRequested") > 0)
      world.send(a, { type: "release" })
      world.until(() => b.count("Renewed") > 0)
      degraded += b.count("Degraded")
    }
    expect(degraded).toBeLessThan(5)
  })

  it("where writes aren't spaced nothing waits", () => {
    const world = new World({ clock: "exact", spacing: 0, latency: 1 })
    const a = world.owner("a")
    const b = world.waiter("b")
    world.until(() => a.count("ReleaseRequested") > 0)
    world.send(a, { type: "release" })
    world.until(() => b.holds(world.at))
    expect(world.at).toBeLessThan(1200)
  })
})

describe("rule 14: round trips", () => {
  // Tests rule 14: Cold acquire 2, warm 1, renew 1, release 1, waiter 1 more, poll 1.
  it("a cold acquire takes a read and a write, a warm one a write, a renewal one, a release one", () => {
    const world = new World()
    const a = world.owner("a")
    expect(kinds(world.requests)).toBe("read put")
    world.advance(1500)
    world.send(a, { type: "renew" })
    world.until(() => a.count("Renewed") === 1)
    expect(kinds(world.requests.slice(2))).toBe("put")
    world.advance(1100)
    world.send(a, { type: "release" })
    world.until(() => a.phase === "idle")
    expect(kinds(world.requests.slice(3))).toBe("put")
    world.advance(1100)
    world.send(a, acquire())
    world.until(() => a.holds(world.at))
    expect(kinds(world.requests.slice(4))).toBe("put")
  })

  it("becoming the waiter takes one write more than the look, and a poll one read", () => {
    const world = new World()
    world.owner("a")
    world.advance(2500)
    const b = world.waiter("b")
    const of = (): string => kinds(world.requests.filter(({ process }) => process === b))
    expect(of()).toBe("read put")
    world.advance(1600)
    expect(of()).toBe("read put read")
  })

  // Tests rule 14: A granted key takes no round trip beyond the poll that shows it.
  it("a granted key takes no round trip to own beyond the poll that shows it", () => {
    const world = new World()
    const a = world.owner("a")
    const b = world.waiter("b")
    world.until(() => a.count("ReleaseRequested") > 0)
    world.send(a, { type: "release" })
    world.until(() => b.holds(world.at))
    expect(world.requests.filter(({ process }) => process === b).at(-1)!.command.type).toBe("read")
  })
})

/** Now and then an idle client wants the key for a while that is too short. */
function wanting(world: World, client: ProcessModel, random: SeededRandom): void {
  if (client.phase !== "idle" || random.next() > 0.1) return
  world.send(client, acquire({ budgetMs: 4000 + 4000 * random.next(), contention: "retry" }))
}
