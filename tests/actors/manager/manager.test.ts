import { describe, expect, it } from "vitest"
import type { InspectionEvent } from "xstate"
import {
  CheckpointVersionError,
  InvalidKeyError,
  LockCancelledError,
  LockContentionError,
  LockTimeoutError,
  OwnedElsewhereError,
  UnknownDefinitionError,
} from "../../../src/mod.ts"
import { counter, failure, gate, statesOf, World } from "../world.ts"

describe("restoring a sandbox", () => {
  it("joins a restore in flight: one restore, one handle", async () => {
    const world = new World()
    let restores = 0
    const sandbox = counter({
      restore: () => {
        restores++
        return { n: 0 }
      },
    })
    const a = await world.manager("a", sandbox)
    const calls = Array.from({ length: 5 }, () => a.restoreSandbox(sandbox, "k"))
    const handles = new Set(await world.run(Promise.all(calls)))
    handles.add(await world.run(a.restoreSandbox(sandbox, "k")))
    expect(handles.size).toBe(1)
    expect(restores).toBe(1)
    await world.end()
  })

  it("gives up alone: a call that joined neither takes the restore along, nor is taken along", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const b = await world.manager("b", sandbox, { minTenure: "5 s" })
    await world.run(b.restoreSandbox(sandbox, "k"))
    const abort = new AbortController()
    const first = failure(a.restoreSandbox(sandbox, "k", { signal: abort.signal }))
    await world.time.advance(100)
    const short = failure(a.restoreSandbox(sandbox, "k", { timeout: "1 s" }))
    const long = a.restoreSandbox(sandbox, "k", { timeout: "20 s" })
    expect(await world.run(short)).toMatchObject({ limitMs: 1000, owner: { ownerId: "b" } })
    abort.abort()
    expect(await world.run(first)).toBeInstanceOf(LockCancelledError)
    expect((await world.run(long)).lease.isHeld()).toBe(true)
    await world.end()
  })

  it("goes on for a call that may wait longer than the one that it joined", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const b = await world.manager("b", sandbox, { minTenure: "5 s" })
    await world.run(b.restoreSandbox(sandbox, "k"))
    const short = failure(a.restoreSandbox(sandbox, "k", { timeout: "2 s" }))
    await world.time.advance(100)
    const long = a.restoreSandbox(sandbox, "k", { timeout: "20 s" })
    expect(await world.run(short)).toBeInstanceOf(LockTimeoutError)
    expect((await world.run(long)).lease.isHeld()).toBe(true)
    await world.end()
  })

  it("that its last caller gives up takes its mark back", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const b = await world.manager("b", sandbox, { minTenure: "1 h" })
    await world.run(b.restoreSandbox(sandbox, "k"))
    const call = failure(a.restoreSandbox(sandbox, "k", { timeout: "5 s" }))
    expect(await world.took(call)).toBe(5000)
    expect(await call).toBeInstanceOf(LockTimeoutError)
    await world.time.advance(5000)
    expect(await world.run(b.whereIs(sandbox, "k"))).not.toHaveProperty("waiterId")
    expect([...a.sandboxes()]).toEqual([])
    await world.end()
  })

  it("that comes to run when nobody waits for it any more is released", async () => {
    const world = new World()
    const restoring = gate()
    const closed: string[] = []
    const sandbox = counter({
      restore: async () => {
        await restoring.promise
        return { n: 0 }
      },
      close: (_state, { reason }) => void closed.push(reason),
    })
    const a = await world.manager("a", sandbox)
    expect(await world.failure(a.restoreSandbox(sandbox, "k", { timeout: "2 s" }))).toBeInstanceOf(LockTimeoutError)
    restoring.resolve()
    await world.time.advance(100)
    expect(closed).toEqual(["released"])
    expect(await world.run(a.whereIs(sandbox, "k"))).toBeUndefined()
    await world.end()
  })

  it("reports the owner with whenOwned: report, also to a call that joined one that waits", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox, { address: "http://a" })
    const b = await world.manager("b", sandbox)
    const c = await world.manager("c", sandbox, { minTenure: "1 h" })
    await world.run(c.restoreSandbox(sandbox, "kept"))
    await world.run(a.restoreSandbox(sandbox, "k"))
    const error = await world.failure(b.restoreSandbox(sandbox, "k", { whenOwned: "report" }))
    expect(error).toBeInstanceOf(OwnedElsewhereError)
    expect(error).toMatchObject({ owner: { ownerId: "a", address: "http://a" } })
    const waiting = failure(b.restoreSandbox(sandbox, "kept", { timeout: "10 s" }))
    await world.time.advance(3000)
    const joined = failure(b.restoreSandbox(sandbox, "kept", { whenOwned: "report" }))
    expect(await world.took(joined)).toBe(0)
    expect(await joined).toMatchObject({ _tag: "OwnedElsewhereError", owner: { ownerId: "c" } })
    expect(await world.run(waiting)).toBeInstanceOf(LockTimeoutError)
    await world.end()
  })

  it("says that another waits already to who won't queue; all others wait behind it", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox, { minTenure: "6 s" })
    const b = await world.manager("b", sandbox, { minTenure: "1 s" })
    const c = await world.manager("c", sandbox, { minTenure: "1 s" })
    await world.run(a.restoreSandbox(sandbox, "k"))
    const second = b.use(sandbox, "k", (state) => ++state.n)
    await world.time.advance(2500)
    const error = await world.failure(c.restoreSandbox(sandbox, "k", { contention: "fail" }))
    expect(error).toBeInstanceOf(LockContentionError)
    expect(error).toMatchObject({ owner: { ownerId: "a" }, waiterId: "b" })
    const third = c.restoreSandbox(sandbox, "k")
    expect(await world.run(second)).toBe(1)
    expect(await world.run((await world.run(third)).use((state) => ++state.n))).toBe(2)
    await world.end()
  })

  it("keeps a sandbox for minTenure, 5 s by default, so that it doesn't ping-pong", async () => {
    const world = new World()
    const sandbox = counter()
    const host = { minTenure: undefined } as never
    const a = await world.manager("a", sandbox, host)
    const b = await world.manager("b", sandbox, host)
    await world.run(a.use(sandbox, "k", () => 0))
    const took = await world.took(b.use(sandbox, "k", () => 0))
    expect(took).toBeGreaterThan(4500)
    expect(took).toBeLessThan(8000)
    const back = await world.took(a.use(sandbox, "k", () => 0))
    expect(back).toBeGreaterThan(4500) // in turns each takes as long
    await world.time.advance(10_000)
    expect(await world.took(b.use(sandbox, "k", () => 0))).toBeLessThan(1000) // it has run for long enough
    await world.end()
  })
})

describe("a budget", () => {
  // Tests waits: A timeout tells of a queue only where an earlier call was first; a budget of 0 is one try.
  it("of 0 is one try: it takes a free sandbox, and waits for nothing", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const b = await world.manager("b", sandbox)
    expect(await world.run(a.use(sandbox, "k", (state) => ++state.n, { timeout: 0 }))).toBe(1)
    const call = failure(b.use(sandbox, "k", () => 0, { timeout: 0 }))
    expect(await world.took(call)).toBe(0)
    const error = await call
    expect(error).toBeInstanceOf(LockTimeoutError)
    expect(error).toMatchObject({ limitMs: 0, message: expect.stringContaining("in one try (the timeout option)") })
    expect(await world.run(a.whereIs(sandbox, "k"))).not.toHaveProperty("waiterId")
    const busy = a.use(sandbox, "k", (_state, { clock }) => clock.sleep("2 s"))
    await world.time.advance(1)
    const turn = await world.run(failure(a.use(sandbox, "k", () => 0, { timeout: 0 })))
    expect(turn.message).toContain("One try would have had to wait (the timeout option) for the sandbox of counter/k")
    await world.run(busy)
    await world.end()
  })

  it.each(["infinite", "1000 h"] as const)("of %s outlasts what timers can wait for", async (timeout) => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox, { minTenure: "5 min" })
    const b = await world.manager("b", sandbox)
    await world.run(a.restoreSandbox(sandbox, "k"))
    const from = world.time.mono()
    const handle = await world.run(b.restoreSandbox(sandbox, "k", { timeout }))
    expect(world.time.mono() - from).toBeGreaterThan(4 * 60_000)
    expect(handle.lease.isHeld()).toBe(true)
    await world.end()
  })
})

describe("a use", () => {
  it("waits its turn within its timeout, up to the start of fn", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    const going = gate()
    const first = handle.use(() => going.promise, { timeout: "1 s" })
    const second = failure(handle.use(() => "never", { timeout: "3 s" }))
    const atOnce = failure(handle.use(() => "never", { timeout: 0 }))
    const abort = new AbortController()
    const third = failure(handle.use(() => "never", { signal: abort.signal }))
    expect(await world.took(atOnce)).toBe(0)
    expect(await atOnce).toBeInstanceOf(LockTimeoutError)
    expect(await world.took(second)).toBe(3000)
    abort.abort()
    expect(await world.run(third)).toBeInstanceOf(LockCancelledError)
    await world.time.advance(60_000)
    going.resolve()
    await world.run(first)
    expect(await world.run(handle.use(() => "last"))).toBe("last")
    await world.end()
  })

  it("is told by its signal when its caller aborts, and still answers", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const abort = new AbortController()
    const use = a.use(
      sandbox,
      "k",
      (_state, { signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve("cut short"))),
      { signal: abort.signal },
    )
    await world.time.advance(10)
    abort.abort()
    expect(await world.run(use)).toBe("cut short")
    await world.end()
  })

  it("gets the key, the token, a clock of the manager's time, and a lease that it can't end", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const seen = await world.run(
      a.use(sandbox, "k", async (_state, { key, token, clock, lease }) => {
        const from = clock.now()
        await clock.sleep("90 s")
        return { key, token, slept: clock.now() - from, random: clock.random(), lease }
      }),
    )
    expect(seen).toMatchObject({ key: "k", token: seen.lease.token, slept: 90_000 })
    expect(seen.random).toBeLessThan(1)
    const members = [seen.lease, Object.getPrototypeOf(seen.lease) as object].flatMap((each) =>
      Object.getOwnPropertyNames(each).filter((name) => name !== "constructor"),
    )
    expect(members.toSorted()).toEqual(["deadline", "events$", "isHeld", "key", "signal", "token"])
    const { isHeld } = seen.lease
    expect(isHeld()).toBe(true)
    await world.end()
  })
})

describe("what is saved", () => {
  it("is listed and read without a lease, stale or not there", async () => {
    const world = new World()
    const sandbox = counter()
    const other = counter({ name: "other" })
    const a = await world.manager("a", [sandbox, other])
    await world.run(a.use(sandbox, "x/1", (state) => void (state.n = 1), { durable: true }))
    await world.run(a.use(sandbox, "x%2F1", (state) => void (state.n = 2), { durable: true }))
    await world.run(a.use(other, "x/1", (state) => void (state.n = 3), { durable: true }))
    const list = async (): Promise<string[]> => {
      const keys: string[] = []
      for await (const key of a.list(sandbox)) keys.push(key)
      return keys.toSorted()
    }
    expect(await world.run(list())).toEqual(["x%2F1", "x/1"])
    expect(await world.run(a.readCheckpoint(sandbox, "x/1"))).toEqual({ n: 1 })
    expect(await world.run(a.readCheckpoint(other, "x/1"))).toEqual({ n: 3 })
    expect(await world.run(a.readCheckpoint(other, "nobody"))).toBeUndefined()
    await world.end()
  })

  it("is removed by a process that owns it: a tombstone stays, and a later restore starts empty", async () => {
    const world = new World()
    const closed: string[] = []
    const sandbox = counter({ close: (_state, { reason }) => void closed.push(reason) })
    const a = await world.manager("a", sandbox)
    const b = await world.manager("b", sandbox)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    await world.run(handle.use((state) => void (state.n = 5), { durable: true }))
    await world.run(a.remove(sandbox, "k"))
    expect(await handle.ended).toEqual({ reason: "removed" })
    expect(await world.saved(sandbox, "k")).toBeUndefined()
    await world.run(b.use(sandbox, "k", (state) => void (state.n += 2), { durable: true }))
    expect(await world.saved(sandbox, "k")).toEqual({ n: 2 })
    await world.run(a.remove(sandbox, "k"))
    expect(await world.saved(sandbox, "k")).toBeUndefined()
    expect(closed).toEqual(["removed", "handoff"])
    expect([...b.sandboxes(), ...a.sandboxes()]).toEqual([])
    await world.end()
  })

  it("by a newer version is refused by older code, before it becomes the waiter or runs", async () => {
    const world = new World()
    const old = counter()
    const young = counter({ version: 2, migrate: (saved) => saved })
    const a = await world.manager("a", old)
    const b = await world.manager("b", young)
    await world.run(a.use(old, "k", (state) => void (state.n = 5), { durable: true }))
    expect(await world.run(b.use(young, "k", ({ n }) => n))).toBe(5)
    const error = await world.failure(a.use(old, "k", () => 0))
    expect(error).toBeInstanceOf(CheckpointVersionError)
    expect(error).toMatchObject({ saved: 2, known: 1 })
    expect(await world.run(b.whereIs(young, "k"))).not.toHaveProperty("waiterId")
    await world.run((await world.run(b.restoreSandbox(young, "k"))).release())
    expect(await world.failure(a.use(old, "k", () => 0))).toBeInstanceOf(CheckpointVersionError)
    expect(await world.run(b.use(young, "k", ({ n }) => n))).toBe(5)
    await world.end()
  })

  it("by an older version is migrated", async () => {
    const world = new World()
    const old = counter()
    const young = counter({
      version: 2,
      migrate: (saved, from) => ({ n: (saved as { n: number }).n * 100 + from }),
    })
    const a = await world.manager("a", old)
    const b = await world.manager("b", young)
    await world.run(a.use(old, "k", (state) => void (state.n = 5), { durable: true }))
    expect(await world.run(b.readCheckpoint(young, "k"))).toEqual({ n: 501 })
    expect(await world.run(b.use(young, "k", ({ n }) => n))).toBe(501)
    await world.end()
  })
})

describe("what a manager tells", () => {
  it("where a sandbox is: here, elsewhere or nowhere", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox, { address: "http://a" })
    const b = await world.manager("b", sandbox)
    expect(await world.run(a.whereIs(sandbox, "k"))).toBeUndefined()
    await world.run(a.use(sandbox, "k", () => 0))
    expect(await world.run(a.whereIs(sandbox, "k"))).toMatchObject({ ownerId: "a", here: true })
    expect(await world.run(b.whereIs(sandbox, "k"))).toMatchObject({ address: "http://a", here: false })
    await world.end()
  })

  it("which sandboxes it has, those that it only wants included", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox, { minTenure: "1 h" })
    const b = await world.manager("b", sandbox)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    expect([...a.sandboxes()]).toEqual([handle])
    const call = failure(b.restoreSandbox(sandbox, "k", { timeout: "5 s" }))
    await world.time.advance(2000)
    const [wanted] = b.sandboxes()
    expect(wanted).toMatchObject({ name: "counter", key: "k", lease: undefined })
    const states = statesOf(wanted!)
    expect(wanted!.actor.getSnapshot().matches("waiting")).toBe(true)
    await world.run(call)
    await world.time.advance(5000)
    expect(states).toEqual(["waiting.watching", "acquiring.reconciling", "released.cancelled"])
    await world.end()
  })

  it("to XState's tools: an actor that can be looked at, and inspection events", async () => {
    const world = new World()
    const sandbox = counter()
    const inspected: string[] = []
    const told = new Set<string | undefined>()
    const inspect = ({ type, actorRef }: InspectionEvent): void => {
      inspected.push(type)
      told.add(actorRef.getSnapshot().context?.key)
    }
    const a = await world.manager("a", sandbox, { inspect })
    const { actor } = await world.run(a.restoreSandbox(sandbox, "k"))
    expect(Object.keys(actor).toSorted()).toEqual(["getSnapshot", "id", "select", "sessionId", "subscribe"])
    const seen: (string | undefined)[] = []
    actor.select(({ context }) => context.leaving).subscribe((leaving) => void seen.push(leaving))
    expect(inspected).toContain("@xstate.snapshot")
    await world.run(a.drain())
    expect(seen).toEqual(["drain"])
    expect(told).toEqual(new Set(["counter/k"])) // nothing of what they have as parent
    await world.end()
  })

  // Tests input: Keys may be empty, 2,000 bytes, not NFC, with control characters or `..`, or look alike.
  it("that it doesn't know a definition, or that a key can't be one", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    expect(await world.failure(a.use(counter(), "k", () => 0))).toBeInstanceOf(UnknownDefinitionError)
    expect(await world.failure(a.restoreSandbox({ name: "counter", version: 1, calls: {} }, "k"))).toBeInstanceOf(
      UnknownDefinitionError,
    )
    for (const key of ["", "a/../b", "e\u0301", "line\nbreak", "x".repeat(2000)]) {
      expect(await world.failure(a.use(sandbox, key, () => 0))).toBeInstanceOf(InvalidKeyError)
    }
    await world.end()
  })
})
