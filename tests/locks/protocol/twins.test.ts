/** Rule 2: what stands under my id but is of another life is another's, be that life over or not. */
import { describe, expect, it } from "vitest"
import type { Evidence } from "../../../src/locks/protocol/rules/state.ts"
import { acquire, type ProcessModel } from "./process-model.ts"
import { Stranger } from "./strangers.ts"
import { type ProcessOptions, World, type WorldOptions } from "./world.ts"

const ID = "pod-0"

/** A world whose owner has the id that the next process has too. */
function shared(options: WorldOptions = {}): {
  world: World
  first: ProcessModel
  twin: (life?: string) => ProcessModel
} {
  const world = new World(options)
  const first = world.owner(ID, { life: "first" })
  world.store.put({ ...world.store.body, began: 1 }, world.at) // it had others before
  return { world, first, twin: (life = "second") => world.process(ID, { life }) }
}

/** The error that an acquire ends with, and after how long. */
function refused(world: World, process: ProcessModel, wish: Parameters<typeof acquire>[0] = {}): [unknown, number] {
  const from = world.at
  world.send(process, acquire({ contention: "retry", ...wish }))
  world.until(() => process.count("GaveUp") > 0, 300_000)
  return [process.error, world.at - from]
}

const isTwin = { _tag: "InvalidConfigError", owner: { ownerId: ID }, message: expect.stringContaining("is alive") }

describe("an owner under my id that is of another life", () => {
  it.each<[string, WorldOptions]>([
    ["none", { clock: "none" }],
    ["coarse", { clock: "coarse" }],
    ["exact, writes unspaced", { clock: "exact", spacing: 0 }],
    // Tests rule 2: A half of my id and of another life is another's: over, or an error.
  ])(
    "is never taken over while it renews, and once that shows the attempt is an error (clock: %s)",
    (_clock, options) => {
      const { world, first, twin } = shared(options)
      const second = twin()
      const [error, after] = refused(world, second, { budgetMs: 60_000 })
      expect(error).toMatchObject(isTwin)
      expect(String(error)).toMatch(/"pod-0".* owns "k".*an incarnation of its own/)
      expect(after).toBeLessThan(25_000) // two renewals
      expect(second.count("Acquired")).toBe(0)
      world.advance(60_000)
      expect(first.holds(world.at)).toBe(true)
      expect(world.store.body).toMatchObject({ ownerId: ID, waitingOwnerId: null })
    },
  )

  it.each<[string, WorldOptions, number, number]>([
    ["none", { clock: "none" }, 30_000, 34_000],
    ["coarse", { clock: "coarse" }, 31_000, 35_000],
    ["exact", { clock: "exact" }, 31_000, 34_000],
  ])(
    "that has crashed is taken over once its lease is over, as any other (clock: %s)",
    (_clock, options, least, most) => {
      const { world, first, twin } = shared(options)
      world.crash(first)
      const from = world.at
      const second = twin()
      world.send(second, acquire({ budgetMs: undefined }))
      world.until(() => second.holds(world.at))
      expect(world.at - from).toBeGreaterThan(least - 1000)
      expect(world.at - from).toBeLessThan(most)
      expect(second.last("Acquired")).toMatchObject({ how: "takeover" })
      expect(second.token).toBeGreaterThan(first.token!)
    },
  )

  it("that released is no obstacle", () => {
    const { world, first, twin } = shared()
    world.send(first, { type: "release" })
    world.until(() => first.count("Released") > 0)
    const second = twin()
    world.send(second, acquire())
    world.until(() => second.holds(world.at), 5000)
    expect(second.last("Acquired")).toMatchObject({ how: "free" })
  })

  it("whose last renewal comes late isn't taken for alive", () => {
    const { world, first, twin } = shared()
    const renewal = world.nextWrite(first)
    const second = twin()
    world.send(second, acquire({ budgetMs: undefined }))
    world.advance(2000)
    world.crash(first)
    world.deliver(renewal)
    world.until(() => second.holds(world.at))
    expect(second.count("GaveUp")).toBe(0)
  })

  it("isn't asked to leave, nor written to by an attempt that ends", () => {
    const { world, first, twin } = shared()
    const second = twin()
    const before = world.store.body["owner"]
    world.send(second, acquire({ budgetMs: undefined }))
    world.advance(4000)
    world.send(second, { type: "cancel" })
    world.until(() => second.phase === "idle")
    expect(second.error).toMatchObject({ _tag: "LockCancelledError" })
    expect(world.store.body["owner"]).toEqual(before)
    expect(first.count("ReleaseRequested")).toBe(0)
    expect(first.holds(world.at)).toBe(true)
  })

  it("is told as owner where one only asks, or tries once", () => {
    const { world, twin } = shared()
    expect(refused(world, twin("report"), { whenOwned: "report" })[0]).toMatchObject({ _tag: "OwnedElsewhereError" })
    expect(refused(world, twin("once"), { budgetMs: 0 })[0]).toMatchObject({ _tag: "LockTimeoutError" })
  })

  it("keeps the key for what its lease has left when its record is deleted under my eyes", () => {
    const { world, twin } = shared({ clock: "exact" })
    const second = twin()
    world.send(second, acquire({ budgetMs: undefined }))
    world.advance(3000)
    const [first] = world.processes
    world.crash(first!)
    world.store.remove(world.at)
    const from = world.at
    world.until(() => second.holds(world.at))
    expect(world.at - from).toBeGreaterThan(20_000)
  })

  it.each<[Evidence["owner"], string]>([
    ["alive", "is an error at once"],
    ["gone", "is taken over at once"],
  ])("of whose process the machine says that it is %s %s", (owner) => {
    const says: { now?: Evidence["owner"] } = {}
    const world = new World({
      ...{ clock: "exact", spacing: 0 },
      twist: ({ command }, result) =>
        command.type === "read" && says.now !== undefined
          ? { ...result, evidence: { owner: says.now, waiter: undefined } }
          : result,
    })
    const host = { name: "h", pid: 7, startedAt: "1", bootId: "boot", pidNs: "2", groups: [] }
    const machine: ProcessOptions = { bootId: "boot", host }
    const first = world.owner(ID, { ...machine, life: "first" })
    if (owner === "gone") world.crash(first)
    says.now = owner
    const second = world.process(ID, { ...machine, life: "second" })
    world.send(second, acquire())
    world.advance(500)
    const outcome = [second.holds(world.at), second.error?._tag]
    expect(outcome).toEqual(owner === "gone" ? [true, undefined] : [false, "InvalidConfigError"])
  })

  it("that is alive, and has let its lease run out, is taken over", () => {
    const { world, first, twin } = shared({ clock: "exact" })
    world.send(first, { type: "leaveToExpire" })
    const second = twin()
    world.send(second, acquire({ budgetMs: undefined }))
    world.until(() => second.holds(world.at))
    expect(world.at).toBeGreaterThan(30_000)
  })
})

describe("a waiter under my id that is of another life", () => {
  // Tests rule 2.
  it("is another waiter, and an error once it is seen to wait on", () => {
    const world = new World()
    world.owner("a", {}, { minTenure: 200_000 })
    const first = world.waiter(ID, { life: "first" }, { budgetMs: undefined })
    const second = world.process(ID, { life: "second" })
    expect(refused(world, second, { contention: "fail" })[0]).toMatchObject({
      _tag: "LockContentionError",
      waiterId: ID,
    })
    const [error, after] = refused(world, world.process(ID, { life: "third" }), { budgetMs: undefined })
    expect(error).toMatchObject({ _tag: "InvalidConfigError", message: expect.stringContaining(`waits for "k"`) })
    expect(after).toBeLessThan(20_000) // it refreshes its mark every 6 s
    expect(first.phase).toBe("seeking")
    expect((world.store.body["waiter"] as { nonce: string }).nonce).toContain("first")
  })

  it("is granted the key as any other", () => {
    const world = new World()
    const owner = world.owner(ID, { life: "first" })
    const other = new Stranger(world, "s")
    world.send(owner, { type: "release" })
    world.until(() => owner.count("Released") > 0)
    other.own()
    const waiter = world.process(ID, { life: "second" })
    world.send(waiter, acquire({ budgetMs: undefined }))
    world.until(() => waiter.count("Waiting") > 0)
    world.advance(3000)
    other.grant()
    world.until(() => waiter.holds(world.at), 10_000)
    expect(waiter.last("Acquired")).toMatchObject({ how: "granted" })
  })

  it("that has crashed is in nobody's way once its mark is over", () => {
    const world = new World()
    const owner = world.owner("a", {}, { minTenure: 200_000 })
    const first = world.waiter(ID, { life: "first" }, { budgetMs: undefined })
    world.crash(first)
    const second = world.process(ID, { life: "second" })
    world.send(second, acquire({ budgetMs: undefined, contention: "retry" }))
    world.until(() => (world.store.body["waiter"] as { nonce: string }).nonce.startsWith("second."))
    expect(world.at).toBeLessThan(25_000)
    expect(owner.holds(world.at)).toBe(true)
    expect(second.count("Waiting")).toBe(1)
  })
})

describe("my id without its half", () => {
  // Tests rule 2: My id without its half is mine only where this life is known to stand there.
  it("is a stranger's where no attempt of this life stood there: it is judged by observation", () => {
    const { world, first, twin } = shared({ clock: "exact" })
    new Stranger(world, "s").mark(1000) // drops the halves
    world.crash(first)
    const second = twin()
    const from = world.at
    world.send(second, acquire({ budgetMs: undefined, contention: "retry" }))
    world.until(() => second.holds(world.at))
    expect(world.at - from).toBeGreaterThan(59_000) // strangerTtl
  })

  it("is mine where one did, also after it has lost the key", () => {
    const { world, first } = shared({ clock: "exact" })
    new Stranger(world, "s").mark(1000)
    world.stop(first, 40_000)
    world.until(() => first.count("Lost") > 0, 100)
    const from = world.at
    world.send(first, acquire({ contention: "retry" }))
    world.until(() => first.holds(world.at))
    expect(world.at - from).toBeLessThan(3000)
  })

  it("doesn't let a twin of the owner in, which has waited here itself", () => {
    const world = new World({ clock: "exact" })
    const s = new Stranger(world, "s")
    s.own()
    const second = world.waiter(ID, { life: "second" }, { budgetMs: undefined, contention: "retry" })
    second.network = "down"
    world.advance(20_000) // its mark is over
    const first = world.waiter(ID, { life: "first" }, { budgetMs: undefined, contention: "retry" })
    s.grant()
    world.until(() => first.holds(world.at), 10_000)
    second.network = "up"
    world.until(() => second.count("GaveUp") > 0 || second.state.view?.record?.owner !== undefined)
    new Stranger(world, "t").mark(1000) // drops the halves
    world.advance(1)
    expect(second.state.named).toBe(false)
    world.advance(3000)
    expect(second.count("Acquired")).toBe(0)
    expect(first.holds(world.at)).toBe(true)
  })
})
