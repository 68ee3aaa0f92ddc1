import { describe, expect, it } from "vitest"
import { HandingOffError } from "../../src/mod.ts"
import { counter, gate, statesOf, World } from "./world.ts"

describe("a sandbox that moves from one process to another", () => {
  it("carries its state along", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const b = await world.manager("b", sandbox)
    expect(await world.run(a.use(sandbox, "k", (state) => (state.n += 7)))).toBe(7)
    expect(await world.run(b.use(sandbox, "k", (state) => ++state.n))).toBe(8)
    expect(await world.run(a.use(sandbox, "k", (state) => ++state.n))).toBe(9)
    expect(world.told("a").filter((type) => type === "ReleaseRequested")).toHaveLength(1)
    expect(world.errors).toEqual([])
    await world.end()
  })

  // Tests rule 12, rule 15: Without one exact clock every owner's token is in the head, and outgrows a deleted record.
  it("costs one write of its head, the last checkpoint: the grant says that no other is under way", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const b = await world.manager("b", sandbox)
    await world.run(a.use(sandbox, "k", (state) => ++state.n))
    const before = world.headWrites("k")
    expect(await world.run(b.use(sandbox, "k", ({ n }) => n))).toBe(1)
    expect(world.headWrites("k")).toBe(before + 1)
    expect(await world.run(a.use(sandbox, "k", ({ n }) => n))).toBe(1)
    expect(world.headWrites("k")).toBe(before + 1)
    await world.end()
  })

  it("settles, saves, closes and releases, in this order, and is drawn at each step", async () => {
    const world = new World()
    const steps: string[] = []
    const sandbox = counter({
      async run(_state, { signal }) {
        await new Promise((resolve) => signal.addEventListener("abort", resolve))
        steps.push("run ended")
      },
      checkpoint: ({ n }, { reason }) => {
        steps.push(`checkpoint ${reason}`)
        return { n }
      },
      close: (_state, { reason }) => void steps.push(`close ${reason}`),
    })
    const a = await world.manager("a", sandbox)
    const b = await world.manager("b", sandbox)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    const states = statesOf(handle)
    let completed = false
    handle.state$.subscribe({ complete: () => (completed = true) })
    await world.run(b.restoreSandbox(sandbox, "k"))
    expect(steps).toEqual(["run ended", "checkpoint handoff", "close handoff"])
    expect(states).toEqual([
      "owning.running.healthy",
      "handingOff.settling.healthy",
      "handingOff.checkpointing.healthy",
      "handingOff.releasing.healthy",
      "released.handedOff",
    ])
    expect(await handle.ended).toEqual({ reason: "handoff" })
    expect(completed).toBe(true)
    await world.end()
  })

  it("lets the use in progress end, refuses those that wait, and manager.use finds it where it goes", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox, { minTenure: "2 s" })
    const b = await world.manager("b", sandbox, { minTenure: "2 s" })
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    const going = gate()
    const ran: string[] = []
    const first = handle.use(async (state) => {
      ran.push("first")
      await going.promise
      return ++state.n
    })
    const refused = handle.use((state) => void ran.push(`refused ${state.n}`))
    const retried = a.use(sandbox, "k", (state) => {
      ran.push("retried")
      return ++state.n
    })
    const there = b.use(sandbox, "k", (state) => ++state.n)
    expect(await world.failure(refused)).toBeInstanceOf(HandingOffError)
    going.resolve()
    expect(await world.run(first)).toBe(1)
    expect(await world.run(there)).toBe(2)
    expect(await world.run(retried)).toBe(3)
    expect(ran).toEqual(["first", "retried"])
    await world.end()
  })

  // Tests chart: A sandbox begun for uses is handed over only once one of them has begun.
  it("runs the use for which it was begun, however slow restore is and however soon it may be asked for", async () => {
    const world = new World()
    const sandbox = counter({
      restore: async ({ checkpoint, clock }) => {
        await clock.sleep("8 s")
        return { n: checkpoint?.n ?? 0 }
      },
    })
    const a = await world.manager("a", sandbox, { minTenure: "5 s" })
    const b = await world.manager("b", sandbox)
    const c = await world.manager("c", sandbox)
    const uses = [a, b, c].flatMap((manager) =>
      [1, 2, 3].map(() => manager.use(sandbox, "k", (state) => ++state.n, { timeout: "10 min" })),
    )
    expect((await world.run(Promise.all(uses))).toSorted((one, other) => one - other)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9,
    ])
    expect(world.told("a").filter((type) => type === "Acquired").length).toBeLessThanOrEqual(3)
    await world.end()
  })

  // Tests chart: A use whose sandbox leaves before its turn looks for it again.
  it("looks for a use again where it goes, as often as the sandbox left before its turn, or with contention fail once", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const b = await world.manager("b", sandbox)
    const each = async (contention: "retry" | "fail"): Promise<readonly PromiseSettledResult<unknown>[]> => {
      const slow = () => a.use(sandbox, "k", (_, { clock }) => clock.sleep("1 s"), { timeout: "5 min", contention })
      const settled = Promise.allSettled([slow(), slow(), slow(), slow()])
      const others = [1, 2, 3, 4].map(async (turn) => {
        await new Promise<void>((resolve) => void world.time.after(turn * 700, resolve))
        return b.use(sandbox, "k", () => {})
      })
      await world.run(Promise.all(others))
      return world.run(settled)
    }
    expect((await each("retry")).map(({ status }) => status)).toEqual(Array(4).fill("fulfilled"))
    const once = await each("fail")
    const failures = once.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []))
    expect(failures.length).toBeGreaterThan(0)
    for (const failed of failures) expect(failed).toHaveProperty("_tag", expect.stringMatching(/HandingOff|Contention/))
    await world.end()
  })

  // Tests chart: `fn` of a use never runs twice.
  it("never runs fn of a use twice: one that has begun when the handoff comes isn't tried again", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const b = await world.manager("b", sandbox)
    let runs = 0
    const failing = a.use(sandbox, "k", async (_state, { clock }) => {
      runs++
      await clock.sleep("3 s")
      throw new HandingOffError({ message: "as fn says", next: "nothing" })
    })
    const other = b.use(sandbox, "k", ({ n }) => n)
    expect(await world.failure(failing)).toMatchObject({ message: "as fn says. nothing." })
    expect(await world.run(other)).toBe(0)
    expect(runs).toBe(1)
    await world.end()
  })

  it("isn't told of what was asked of its key before it had it, by another manager of the same process", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox, { incarnation: { id: "one-process" } })
    const a2 = await world.manager("a2", sandbox, { incarnation: { id: "one-process" }, minTenure: "1 s" })
    const b = await world.manager("b", sandbox, { minTenure: "1 s" })
    await world.run(a.use(sandbox, "k", (state) => ++state.n))
    const second = a2.restoreSandbox(sandbox, "k")
    await world.time.advance(100)
    const third = b.use(sandbox, "k", (state) => ++state.n)
    expect(await world.run(third)).toBe(2)
    expect(await world.run((await world.run(second)).use((state) => ++state.n))).toBe(3)
    await world.time.advance(60_000)
    expect(a2.stats()).toMatchObject({ owning: 1 })
    await world.end()
  })

  it("tells each event once, however often the key comes back", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    for (let i = 0; i < 3; i++) await world.run((await world.run(a.restoreSandbox(sandbox, "k"))).release())
    expect(world.told("a")).toEqual(["Acquired", "Released", "Acquired", "Released", "Acquired", "Released"])
    await world.end()
  })

  // Tests chart: Leaving asked for while restoring is honoured after it, without running.
  it("isn't asked for while it restores: it comes to run first, however long that takes, and then the waiter gets it", async () => {
    const world = new World()
    const restoring = gate()
    const log: string[] = []
    const slow = counter({
      restore: async ({ signal }) => {
        log.push("restore")
        await restoring.promise
        log.push(`restored, aborted ${signal.aborted}`)
        return { n: 5 }
      },
      run: async () => void log.push("run"),
      close: (_state, { reason }) => void log.push(`close ${reason}`),
    })
    const a = await world.manager("a", slow)
    const plain = counter()
    const b = await world.manager("b", plain)
    const wanted = a.restoreSandbox(slow, "k")
    await world.time.advance(100)
    const [view] = a.sandboxes()
    const states = statesOf(view!)
    const there = b.use(plain, "k", ({ n }) => n)
    await world.time.advance(3000)
    expect(states).toEqual(["owning.restoring.healthy"])
    restoring.resolve()
    await world.run(there)
    expect(await (await wanted).ended).toEqual({ reason: "handoff" })
    expect(log).toEqual(["restore", "restored, aborted false", "run", "close handoff"])
    await world.end()
  })
})
