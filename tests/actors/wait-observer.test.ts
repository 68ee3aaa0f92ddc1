/** The observer of a manager's call: one wait from the call to its begin, whatever it consists of. */
import { describe, expect, it } from "vitest"
import {
  InvalidConfigError,
  type LockWaitEvent,
  LockWaitEvents,
  type LockWaitObserver,
  ReentrantLockError,
  UnknownDefinitionError,
} from "../../src/mod.ts"
import { counter, failure, gate, World } from "./world.ts"

function listener() {
  const observer = new LockWaitEvents()
  const events: LockWaitEvent[] = []
  observer.events$.subscribe((event) => events.push(event))
  return { observer, events, types: () => events.map(({ type }) => type) }
}

const endings = ["acquired", "timedOut", "cancelled", "failed"]
const endingsOf = (types: readonly string[]): string[] => types.filter((type) => endings.includes(type))

describe("the observer of a manager's call", () => {
  // Tests waits: A manager's call is one wait to its observer, and ends as acquired when its work can begin.
  it("hears of the process that has the sandbox, and that the use can begin; what the use throws is no ending", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox, { minTenure: "3 s" })
    const b = await world.manager("b", sandbox)
    await world.run(a.restoreSandbox(sandbox, "k"))
    const { observer, events, types } = listener()
    const broken = (): never => {
      throw new Error("broken")
    }
    const error = await world.run(failure<Error>(b.use(sandbox, "k", broken, { observer, timeout: "20 s" })))
    expect(error.message).toBe("broken")
    expect(types()[0]).toBe("waitStarted")
    expect(events[0]).toMatchObject({ waitingFor: "holder", holder: { ownerId: "a" }, limitMs: 20_000 })
    expect(types()).toContain("retry")
    expect(types()).toContain("progress")
    expect(endingsOf(types())).toEqual(["acquired"])
    expect(events.at(-1)).toMatchObject({ type: "acquired", waited: true, token: expect.any(Number) })
    expect(events.at(-1)!.elapsedMs).toBeGreaterThan(2000)
    expect(new Set(events.map(({ wait }) => wait)).size).toBe(1)
    await world.end()
  })

  it("hears one wait although a second call joins it, each call its own", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox, { minTenure: "3 s" })
    const b = await world.manager("b", sandbox)
    await world.run(a.restoreSandbox(sandbox, "k"))
    const [first, second] = [listener(), listener()]
    const one = b.restoreSandbox(sandbox, "k", { observer: first.observer })
    await world.time.advance(500)
    const two = b.restoreSandbox(sandbox, "k", { observer: second.observer })
    await world.run(Promise.all([one, two]))
    for (const { types, events } of [first, second]) {
      expect(types()[0]).toBe("waitStarted")
      expect(events[0]).toMatchObject({ holder: { ownerId: "a" } })
      expect(endingsOf(types())).toEqual(["acquired"])
    }
    expect(first.events[0]!.wait).not.toBe(second.events[0]!.wait)
    await world.end()
  })

  it("hears nothing but the ending where nothing is waited for", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const { observer, types } = listener()
    await world.run(a.restoreSandbox(sandbox, "k", { observer }))
    await world.run(a.use(sandbox, "k", () => 1, { observer }))
    expect(types()).toEqual(["acquired", "acquired"])
    await world.end()
  })

  it("hears of a restore that takes long, and of a turn that another use has", async () => {
    const world = new World()
    const open = gate()
    const sandbox = counter({ restore: () => open.promise.then(() => ({ n: 0 })) })
    const a = await world.manager("a", sandbox)
    const slow = listener()
    const restored = a.restoreSandbox(sandbox, "k", { observer: slow.observer })
    await world.time.advance(2500)
    open.resolve()
    await world.run(restored)
    expect(slow.types()).toEqual(["waitStarted", "progress", "acquired"])
    expect(slow.events[0]).toMatchObject({ waitingFor: "process", elapsedMs: 1000 })

    const turn = gate()
    const long = a.use(sandbox, "k", () => turn.promise)
    await world.time.advance(10)
    const queued = listener()
    const next = a.use(sandbox, "k", () => 1, { observer: queued.observer })
    await world.time.advance(1500)
    turn.resolve()
    await world.run(Promise.all([long, next]))
    expect(queued.types()).toEqual(["waitStarted", "progress", "acquired"])
    expect(queued.events[0]).toMatchObject({ waitingFor: "process", elapsedMs: 0 })
    expect(queued.events[0]).not.toHaveProperty("holder")
    await world.end()
  })

  it("hears exactly one ending of calls that fail: over their budget, cancelled, or by what restore threw", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox, { minTenure: "1 min" })
    const b = await world.manager("b", sandbox)
    await world.run(a.restoreSandbox(sandbox, "k"))
    const [over, cancelled] = [listener(), listener()]
    await world.run(failure(b.use(sandbox, "k", () => 1, { observer: over.observer, timeout: "3 s" })))
    const abort = new AbortController()
    const call = failure(b.remove(sandbox, "k", { observer: cancelled.observer, signal: abort.signal }))
    await world.time.advance(1500)
    abort.abort()
    await world.run(call)
    expect([over, cancelled].map(({ types }) => endingsOf(types()))).toEqual([["timedOut"], ["cancelled"]])
    expect(over.events.at(-1)).toMatchObject({ waited: true, error: { limitMs: 3000 } })
    await world.end()
  })

  it("hears what restore threw as its one ending", async () => {
    const world = new World()
    const sandbox = counter({
      restore: () => {
        throw new Error("broken")
      },
    })
    const a = await world.manager("a", sandbox)
    const { observer, types, events } = listener()
    await world.run(failure(a.use(sandbox, "k", () => 1, { observer })))
    expect(types()).toEqual(["failed"])
    expect(events[0]).toMatchObject({ waited: false, error: expect.any(Error) })
    await world.end()
  })

  it.each(["use", "remove"] as const)("hears one ending of a %s that is refused from inside a turn", async (call) => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const { observer, events } = listener()
    const again = (): Promise<unknown> =>
      call === "use" ? a.use(sandbox, "k", () => 1, { observer }) : a.remove(sandbox, "k", { observer })
    const error = await world.run(a.use(sandbox, "k", () => failure(again())))
    expect(error).toBeInstanceOf(ReentrantLockError)
    await world.time.advance(5000)
    expect(events).toMatchObject([{ type: "failed", key: "counter/k", waited: false, error }])
    await world.end()
  })

  it("hears one ending of a call for a definition that isn't known", async () => {
    const world = new World()
    const a = await world.manager("a", counter())
    const other = counter()
    const calls = [
      (observer: LockWaitObserver) => a.use(other, "k", () => 1, { observer }),
      (observer: LockWaitObserver) => a.restoreSandbox(other, "k", { observer }),
      (observer: LockWaitObserver) => a.remove(other, "k", { observer }),
    ]
    for (const call of calls) {
      const { observer, events } = listener()
      const error = await world.failure(call(observer))
      expect(error).toBeInstanceOf(UnknownDefinitionError)
      await world.time.advance(5000)
      expect(events).toMatchObject([{ type: "failed", key: "counter/k", waited: false, error }])
    }
    await world.end()
  })

  // Tests input: Unknown options of locks, acquires, providers, observers and budgets are refused.
  it("that is none is refused by name, before anything is sent", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    for (const observer of [null, "console", { retry: 5 }] as never[]) {
      const calls = [
        () => a.use(sandbox, "k", () => 1, { observer }),
        () => a.restoreSandbox(sandbox, "k", { observer }),
        () => a.remove(sandbox, "k", { observer }),
      ]
      for (const call of calls) expect(await world.failure(call())).toBeInstanceOf(InvalidConfigError)
    }
    expect(a.stats()).toMatchObject({ acquisitions: 0 })
    await world.end()
  })

  it("that throws changes nothing of the call, and is reported by the manager", async () => {
    const world = new World()
    const sandbox = counter()
    const errors: unknown[] = []
    const a = await world.manager("a", sandbox, { onError: (error) => errors.push(error) })
    const observer = {
      acquired: () => {
        throw new Error("of the observer")
      },
    }
    expect(await world.run(a.use(sandbox, "k", () => 7, { observer }))).toBe(7)
    expect(errors).toMatchObject([{ message: "of the observer" }])
    await world.end()
  })
})
