import * as Schedule from "effect/Schedule"
import { describe, expect, it } from "vitest"
import type { InspectionEvent } from "xstate"
import {
  CheckpointInvalidError,
  HandingOffError,
  LockCancelledError,
  LockLostError,
  type LockTimeoutError,
  type RunContext,
} from "../../src/mod.ts"
import { counter, failure, gate, statesOf, World } from "./world.ts"

const broken = new Error("as scripted")

describe("a restore that throws", () => {
  // Tests input: Hooks, observers and handlers may throw; `restore` may hang or ignore its abort.
  it("rejects the call with its error, releases without a checkpoint, and the next attempt backs off", async () => {
    const world = new World()
    let tries = 0
    const sandbox = counter({
      restore: () => {
        tries++
        if (tries < 3) throw broken
        return { n: 1 }
      },
      close: (state) => expect(state).toEqual({ n: 1 }),
    })
    const a = await world.manager("a", sandbox)
    expect(await world.failure(a.restoreSandbox(sandbox, "k"))).toBe(broken)
    expect(await world.run(a.whereIs(sandbox, "k"))).toBeUndefined()
    expect(world.headWrites("k")).toBe(1) // the claim
    const second = failure(a.restoreSandbox(sandbox, "k"))
    await world.time.advance(100)
    expect(tries).toBe(1)
    expect(a.stats()).toMatchObject({ acquiring: 1 })
    const waited = await world.took(second)
    expect(await second).toBe(broken)
    const third = await world.took(a.restoreSandbox(sandbox, "k"))
    expect([waited + 100, third].map((ms) => ms > 500 && ms < 2500)).toEqual([true, true])
    expect(tries).toBe(3)
    expect(world.errors).toEqual([])
    await world.end()
  })

  it("backs off anew after one that went well", async () => {
    const world = new World()
    let throws = true
    const sandbox = counter({
      restore: () => {
        if (throws) throw broken
        return { n: 1 }
      },
    })
    const a = await world.manager("a", sandbox)
    expect(await world.failure(a.restoreSandbox(sandbox, "k"))).toBe(broken)
    throws = false
    await world.run((await world.run(a.restoreSandbox(sandbox, "k"))).release())
    throws = true
    expect(await world.took(failure(a.restoreSandbox(sandbox, "k")))).toBeLessThan(100)
    throws = false
    expect(await world.took(a.restoreSandbox(sandbox, "k"))).toBeLessThan(1000)
    await world.end()
  })

  it("backs off as its definition says, and a call that gives up meanwhile ends the wait at once", async () => {
    const world = new World()
    let tries = 0
    const sandbox = counter({
      backOff: Schedule.spaced("20 seconds"),
      restore: () => {
        if (++tries < 3) throw broken
        return { n: 1 }
      },
    })
    const a = await world.manager("a", sandbox)
    expect(await world.failure(a.restoreSandbox(sandbox, "k"))).toBe(broken)
    const given = new AbortController()
    const gave = failure(a.use(sandbox, "k", () => 0, { signal: given.signal }))
    await world.time.advance(5000)
    given.abort()
    expect(await world.took(gave)).toBe(0)
    expect(await gave).toBeInstanceOf(LockCancelledError)
    await world.time.advance(0)
    expect(a.stats()).toMatchObject({ acquiring: 0 })
    expect([await world.took(failure(a.restoreSandbox(sandbox, "k"))), tries]).toEqual([15_000, 2])
    expect(await world.took(a.restoreSandbox(sandbox, "k"))).toBe(20_000)
    expect(world.errors).toEqual([])
    await world.end()
  })

  it("is the cause of the timeout of a call that waits for the next attempt", async () => {
    const world = new World()
    const sandbox = counter({
      restore: () => {
        throw broken
      },
    })
    const a = await world.manager("a", sandbox)
    await world.failure(a.restoreSandbox(sandbox, "k"))
    const error = await world.failure(a.restoreSandbox(sandbox, "k", { timeout: 100 }))
    expect(error).toMatchObject({ _tag: "LockTimeoutError", cause: broken, limitMs: 100 })
    const atOnce = failure(a.restoreSandbox(sandbox, "k", { timeout: 0 }))
    expect(await world.took(atOnce)).toBe(0)
    expect(await atOnce).toMatchObject({ _tag: "LockTimeoutError", cause: broken })
    await world.end()
  })

  it("that nobody waits for any more, and that was told so, has stopped and not failed", async () => {
    const world = new World()
    const restoring = gate()
    const sandbox = counter({
      restore: async () => {
        await restoring.promise
        throw broken
      },
    })
    const a = await world.manager("a", sandbox)
    const abort = new AbortController()
    const call = failure(a.restoreSandbox(sandbox, "k", { signal: abort.signal }))
    await world.time.advance(10)
    abort.abort()
    expect(await world.run(call)).toMatchObject({ _tag: "LockCancelledError" })
    restoring.resolve()
    await world.time.advance(10)
    expect(world.errors).toEqual([])
    expect(await world.run(a.whereIs(sandbox, "k"))).toBeUndefined()
    await world.end()
  })
})

describe("a restore that hangs", () => {
  // Tests input.
  it("is the cause of a timeout that comes before its limit, which names restoreWithin", async () => {
    const world = new World()
    const restoring = gate()
    const sandbox = counter({ restore: () => restoring.promise.then(() => ({ n: 1 })) })
    const a = await world.manager("a", sandbox)
    const error = await world.failure(a.restoreSandbox(sandbox, "k"))
    expect(error).toMatchObject({ _tag: "LockTimeoutError", limitMs: 30_000 })
    expect((error as Error).message).toContain("of counter/k, where a hook goes on within restoreWithin (30000 ms)")
    const { cause } = error as { readonly cause: LockTimeoutError }
    expect(cause).toMatchObject({ _tag: "LockTimeoutError", limitMs: 30_000, source: "restoreWithin" })
    expect(cause.message).toContain("restore of counter/k goes on, and has 30000 ms for that (restoreWithin)")
    restoring.resolve()
    await world.end()
  })

  it("ends by restoreWithin: its signal aborts, the call rejects, and when it obeys the key is released", async () => {
    const world = new World()
    const sandbox = counter({
      restore: ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason as Error))
        }),
    })
    const a = await world.manager("a", sandbox, { restoreWithin: "3 s" })
    const call = failure(a.restoreSandbox(sandbox, "k"))
    expect(await world.took(call)).toBe(3000)
    expect(await call).toMatchObject({ _tag: "HookOverrunError", hook: "restore", option: "restoreWithin" })
    expect(await world.run(a.whereIs(sandbox, "k"))).toBeUndefined()
    await world.end()
  })

  // Tests chart: A `restore` that resolves late is closed, never run and never saved.
  // Tests input.
  it("and ignores its signal is stuck; when it resolves late its state is closed, never run and never saved", async () => {
    const world = new World()
    const restoring = gate()
    const log: string[] = []
    const sandbox = counter({
      restore: async () => {
        await restoring.promise
        return { n: 9 }
      },
      run: async () => void log.push("run"),
      checkpoint: ({ n }) => {
        log.push("checkpoint")
        return { n }
      },
      close: ({ n }, { reason }) => void log.push(`close ${n} ${reason}`),
    })
    const a = await world.manager("a", sandbox, { restoreWithin: "3 s", settleWithin: "2 s" })
    const call = failure(a.restoreSandbox(sandbox, "k", { timeout: "1 h" }))
    await world.time.advance(1000)
    const states = statesOf([...a.sandboxes()][0]!)
    await world.time.advance(60_000)
    expect(states.slice(1)).toEqual(["handingOff.settling.healthy", "handingOff.stuck.healthy"])
    restoring.resolve()
    expect(await world.run(call)).toMatchObject({ hook: "restore", option: "restoreWithin" })
    await world.time.advance(10)
    expect(log).toEqual(["close 9 failed"])
    expect(await world.saved(sandbox, "k")).toBeUndefined()
    await world.end()
  })

  it("is closed too when the lease was lost meanwhile", async () => {
    const world = new World()
    const restoring = gate()
    const closed: string[] = []
    const sandbox = counter({
      restore: async () => {
        await restoring.promise
        return { n: 9 }
      },
      close: (_state, { reason }) => void closed.push(reason),
    })
    const host = world.host("a")
    const a = await world.manager("a", sandbox, { clock: host })
    const call = failure(a.restoreSandbox(sandbox, "k"))
    await world.time.advance(1000)
    host.pause()
    await world.time.advance(40_000)
    host.resume()
    expect(await world.run(call)).toBeInstanceOf(LockLostError)
    restoring.resolve()
    await world.time.advance(10)
    expect(closed).toEqual(["lost"])
    await world.end()
  })
})

describe("a run that throws", () => {
  // Tests input.
  it("ends the sandbox as failed, reported, closed, and without a checkpoint", async () => {
    const world = new World()
    const log: string[] = []
    const going = gate()
    const sandbox = counter({
      run: async (state) => {
        state.n = 99
        await going.promise
        throw broken
      },
      checkpoint: ({ n }) => {
        log.push("checkpoint")
        return { n }
      },
      close: (_state, { reason }) => void log.push(`close ${reason}`),
    })
    const a = await world.manager("a", sandbox)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    going.resolve()
    const { reason, error } = await world.run(handle.ended)
    expect([reason, error]).toEqual(["failed", expect.any(HandingOffError)])
    expect(error).toMatchObject({ key: "counter/k", cause: broken })
    expect((error as Error).message).toBe(
      "run of counter/k threw Error: as scripted, and the sandbox ends without a checkpoint. " +
        "Make run catch it; the next use restores what was saved last, after a pause of 1 s or more.",
    )
    expect(world.errors).toEqual([error])
    expect(log).toEqual(["close failed"])
    expect(await world.saved(sandbox, "k")).toBeUndefined()
    await world.time.advance(10)
    const again = failure(a.restoreSandbox(sandbox, "k", { timeout: 100 }))
    expect(await world.run(again)).toMatchObject({ _tag: "LockTimeoutError", cause: broken })
    await world.end()
  })

  it("is the cause of what the uses are told that wait", async () => {
    const world = new World()
    const going = gate()
    const sandbox = counter({
      run: async () => {
        await going.promise
        throw broken
      },
    })
    const a = await world.manager("a", sandbox)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    const using = gate()
    const first = handle.use(() => using.promise)
    const second = failure(handle.use(() => "never"))
    await world.time.advance(1)
    going.resolve()
    expect(await world.run(second)).toMatchObject({ _tag: "HandingOffError", cause: broken })
    using.resolve()
    await world.run(first)
    const late = await world.failure(handle.use(() => "never"))
    expect(late).toMatchObject({ _tag: "HandingOffError", cause: broken })
    expect((late as Error).message).toBe(
      "counter/k is leaving this process: it failed (Error: as scripted). " +
        "Use it again through the manager, which restores what was saved last, after a pause of 1 s or more.",
    )
    await world.end()
  })

  it("after its signal aborted has stopped, not failed: the checkpoint is made", async () => {
    const world = new World()
    const sandbox = counter({
      run: async (state, { clock }) => {
        for (;;) {
          state.n++
          await clock.sleep("1 s")
        }
      },
    })
    const a = await world.manager("a", sandbox)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    await world.time.advance(2500)
    expect(await world.run(handle.release())).toBe("released")
    expect(await handle.ended).toEqual({ reason: "released" })
    expect(await world.saved(sandbox, "k")).toEqual({ n: 3 })
    expect(world.errors).toEqual([])
    await world.end()
  })

  it("is not needed: a sandbox whose run has returned stays owned and usable", async () => {
    const world = new World()
    const sandbox = counter({ run: async (state) => void (state.n = 5) })
    const a = await world.manager("a", sandbox)
    expect(await world.run(a.use(sandbox, "k", (state) => ++state.n))).toBe(6)
    await world.time.advance(10 * 60_000)
    expect(a.stats()).toMatchObject({ owning: 1 })
    await world.end()
  })
})

describe("other hooks", () => {
  // Tests input.
  it("a close that throws is reported, and everything else goes on", async () => {
    const world = new World()
    const sandbox = counter({
      close: () => {
        throw broken
      },
    })
    const a = await world.manager("a", sandbox)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    await world.run(handle.use((state) => void (state.n = 2)))
    expect(await world.run(handle.release())).toBe("released")
    expect(world.errors).toEqual([broken])
    expect(await world.saved(sandbox, "k")).toEqual({ n: 2 })
    await world.end()
  })

  it("a last checkpoint that throws ends the sandbox as failed, reported, and released without it", async () => {
    const world = new World()
    let fails = false
    const sandbox = counter({
      checkpoint: ({ n }) => {
        if (fails) throw broken
        return { n }
      },
    })
    const a = await world.manager("a", sandbox)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    await world.run(handle.use((state) => void (state.n = 2), { durable: true }))
    fails = true
    await world.run(handle.use((state) => void (state.n = 3)))
    expect(await world.run(handle.release())).toBe("released")
    expect(await handle.ended).toEqual({ reason: "failed", error: broken })
    expect(world.errors).toEqual([broken])
    expect(await world.saved(sandbox, "k")).toEqual({ n: 2 })
    await world.end()
  })

  it("a checkpoint that JSON would change is refused, by name, and the last good one stays", async () => {
    const world = new World()
    const sandbox = counter({ checkpoint: ({ n }) => ({ n: n > 1 ? Number.NaN : n }) })
    const a = await world.manager("a", sandbox)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    await world.run(handle.use((state) => ++state.n, { durable: true }))
    await world.run(handle.use((state) => ++state.n))
    expect(await world.failure(handle.checkpoint())).toBeInstanceOf(CheckpointInvalidError)
    expect(await world.saved(sandbox, "k")).toEqual({ n: 1 })
    expect(handle.lease.isHeld()).toBe(true)
    await world.run(handle.release())
    expect(await world.saved(sandbox, "k")).toEqual({ n: 1 })
    await world.end()
  })

  // Tests input: The chart is done where it is released; a late observer gets the last snapshot and completes.
  it("a late observer of state$ gets the last snapshot, and completes", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    const told: string[] = []
    const observe = (who: string) =>
      handle.state$.subscribe({
        next: ({ status, value }) => void told.push(`${who} ${status} ${JSON.stringify(value)}`),
        complete: () => void told.push(`${who} complete`),
      })
    observe("early")
    await world.run(handle.release())
    await world.run(handle.ended)
    expect(told.splice(0).slice(-2)).toEqual(['early done {"released":"clean"}', "early complete"])
    observe("late")
    expect(told).toEqual(['late done {"released":"clean"}', "late complete"])
    await world.end()
  })

  it("a turn that run left behind hears when the sandbox leaves, and what waits ends", async () => {
    const world = new World()
    const given = Promise.withResolvers<RunContext>()
    const sandbox = counter({ run: async (_state, context) => given.resolve(context) })
    const a = await world.manager("a", sandbox)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    const context = await given.promise
    const gone = gate()
    const inTurn = context.turn(async () => gone.promise)
    const [waiting, saving] = [failure(context.turn(() => {})), failure(context.checkpoint())]
    await world.time.advance(10)
    const released = handle.release()
    for (const call of [waiting, saving]) expect(await world.run(call)).toBeInstanceOf(HandingOffError)
    expect(world.time.mono()).toBeLessThan(100)
    gone.resolve()
    await world.run(inTurn)
    expect(await world.run(released)).toBe("released")
    expect(await failure(context.turn(() => {}))).toBeInstanceOf(HandingOffError)
    expect(world.errors).toEqual([])
    await world.end()
  })

  it("an inspector may be a function or an observer, as XState's, and may throw", async () => {
    for (const kind of ["function", "observer"]) {
      const world = new World()
      const types = new Set<string>()
      const next = ({ type }: InspectionEvent): void => {
        types.add(type)
        if (types.size === 2) throw broken
      }
      const inspect = kind === "function" ? next : { next }
      const sandbox = counter()
      const a = await world.manager("a", sandbox, { inspect })
      await world.run(a.use(sandbox, "k", () => {}))
      expect(types).toContain("@xstate.snapshot")
      expect(world.errors).toContain(broken)
      await world.end()
    }
  })

  it("an observer of events$ or state$ that throws is reported and left, and harms nobody", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    a.events$.subscribe(() => {
      throw broken
    })
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    handle.state$.subscribe((snapshot) => {
      if ("handingOff" in snapshot.value) throw broken
    })
    expect(await world.run(handle.release())).toBe("released")
    expect(world.errors).toEqual([broken, broken])
    await world.end()
  })
})
