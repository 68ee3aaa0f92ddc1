// Pins what a test can do with a sandbox: use it, hand it over, crash it, stop it, lose its messages, and see what is
// saved.
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as z from "zod"
import {
  CheckpointInvalidError,
  defineSandbox,
  type HookContext,
  InvalidConfigError,
  LockLostError,
  ManagerClosedError,
  UnknownDefinitionError,
} from "../../../src/mod.ts"
import { layerTestClock, testWorker } from "../../../src/testing/mod.ts"

interface Count {
  n: number
  readonly seen: string[]
}

const counter = defineSandbox({
  name: "counter",
  schema: z.object({ n: z.number() }),
  restore: ({ checkpoint }): Count => ({ n: checkpoint?.n ?? 0, seen: [] }),
  async run(state, { clock, turn }) {
    for (;;) {
      await clock.sleep("1 s")
      await turn(() => void state.n++)
    }
  },
  checkpoint: ({ n }) => ({ n }),
  close: (state, { reason }) => void state.seen.push(reason),
})
const add = (state: Count): number => ++state.n

const slowly = defineSandbox({
  name: "slowly",
  schema: z.object({ n: z.number() }),
  restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
  checkpoint: ({ n }) => ({ n }),
})
const tenSeconds = async (state: { n: number }, { clock }: HookContext): Promise<number> => {
  await clock.sleep("10 s")
  return ++state.n
}
const deaf = defineSandbox({
  name: "deaf",
  schema: z.object({}),
  restore: () => ({}),
  run: () => new Promise<void>(() => {}),
  checkpoint: () => ({}),
})
const broken = (refuses: () => boolean) =>
  defineSandbox({
    name: "broken",
    schema: z.object({}),
    restore: () => {
      if (refuses()) throw new Error("no state")
      return {}
    },
    checkpoint: () => ({}),
  })

describe("a worker under test", () => {
  it("owns the sandbox, and moves time by as much as it is told", async () => {
    await using worker = await testWorker(counter, { checkpoint: { n: 5 } })
    const from = worker.time.mono()
    expect(await worker.use(({ n }) => n)).toBe(5)
    await worker.advance("5 s")
    expect(worker.time.mono() - from).toBeLessThan(5500)
    expect(await worker.use(({ n }) => n)).toBe(10)
    expect(worker.trace.map(({ type }) => type)).toContain("Acquired")
  })

  it("hands the sandbox over with all that it has done", async () => {
    await using worker = await testWorker(counter)
    await worker.advance("3 s")
    const next = await worker.requestHandoff()
    const saved = await next.saved()
    expect(saved!.n).toBeGreaterThanOrEqual(3)
    expect(await next.use(({ n }) => n)).toBe(saved!.n)
    expect(next.name).not.toBe(worker.name)
    expect(worker.trace.at(-1)).toMatchObject({ type: "Released", result: "released" })
  })

  it("loses in a crash what wasn't durable, and no more", async () => {
    await using worker = await testWorker(counter)
    await worker.use(add, { durable: true })
    await worker.use(add)
    const from = worker.time.mono()
    const next = await worker.crash()
    expect(next.time.mono() - from).toBeGreaterThan(25_000)
    expect(await next.saved()).toEqual({ n: 1 })
    expect(next.trace.find(({ type }) => type === "Acquired")).toMatchObject({ how: "takeover" })
    await expect(worker.use(add)).rejects.toThrow(ManagerClosedError)
    await expect(worker.saved()).rejects.toThrow(ManagerClosedError)
    await expect(worker.crash()).rejects.toThrow(ManagerClosedError)
  })

  it.each([
    ["stopped", {}],
    ["suspended", { suspend: true }],
  ])("that is %s past the end of its lease has lost it when it goes on", async (_, options) => {
    await using worker = await testWorker(counter)
    await worker.pause("40 s", options)
    await worker.advance("1 s")
    expect(worker.trace.map(({ type }) => type)).toContain("Lost")
    expect(await worker.use(({ n }) => n)).toBe(0)
  })

  it.each([
    ["2 s", "10 s"],
    ["10 s", "2 s"],
    // Tests simulations: A worker stopped several times goes on after the last stop; a fault of no worker is refused.
  ] as const)(
    "that is stopped twice at once, for %s and for %s, goes on when the last stop is over",
    async (one, other) => {
      await using worker = await testWorker(counter)
      let ran = 0
      const begun = worker.time.mono()
      const process = worker.use(async (_, { clock }) => {
        await clock.sleep("1 s")
        ran = worker.time.mono() - begun
      })
      await Promise.all([process, worker.pause(one), worker.pause(other)])
      expect(ran).toBeGreaterThanOrEqual(10_000)
      expect(ran).toBeLessThan(10_500)
    },
  )

  it("whose machine sleeps while it is stopped has a monotonic clock that stands still for just that long", async () => {
    await using worker = await testWorker(slowly)
    let ran = 0
    const begun = worker.time.mono()
    const slow = worker.use(async (_, { clock }) => {
      await clock.sleep("12 s")
      ran = worker.time.mono() - begun
    })
    await Promise.all([slow, worker.pause("10 s"), worker.pause("4 s", { suspend: true })])
    expect(ran).toBeGreaterThanOrEqual(16_000) // 12 s of its own, and 4 s that it slept
    expect(ran).toBeLessThan(16_500)
  })

  it("survives lost answers and requests, and a store that says no", async () => {
    for (const kind of ["loseAnswer", "loseRequest", "status"] as const) {
      await using worker = await testWorker(counter)
      worker.fault(kind, { times: 2 })
      await worker.use(add, { durable: true })
      expect(await worker.saved()).toEqual({ n: expect.any(Number) as number })
      expect(worker.trace.map(({ type }) => type)).not.toContain("Lost")
      expect(worker.errors).toEqual([])
    }
  })

  it("has a store that goes wrong in any way that a script knows, and shows what is there", async () => {
    await using worker = await testWorker(counter)
    worker.store.inject({ kind: "partition", worker: worker.name, forMs: 40_000 })
    await worker.advance("45 s")
    expect(worker.trace.map(({ type }) => type)).toContain("Lost")
    const record = { area: "leases", name: "counter=2ftest" } as const
    expect([...worker.store.objects.keys()]).toContain(`${record.area}/${record.name}`)
    worker.store.tamper(record, new TextEncoder().encode("[]"))
    await expect(worker.use(add)).rejects.toMatchObject({ _tag: "CorruptRecordError" })
    expect(() => worker.store.inject({ kind: "flood", worker: null } as never)).toThrow(InvalidConfigError)
  })

  it("has several calls at once take their turns", async () => {
    await using worker = await testWorker(counter)
    const [one, two, saved] = await Promise.all([worker.use(add), worker.use(add), worker.saved()])
    expect([one, two, saved]).toEqual([1, 2, undefined])
  })

  it("takes a call from inside of a use, and the time that it lets pass is exact", async () => {
    await using worker = await testWorker(slowly)
    const from = worker.time.mono()
    const passed = await worker.use(async (state) => {
      await Promise.all([worker.advance("10 s"), worker.advance("1 s").then(() => void state.n++)])
      return worker.time.mono() - from
    })
    expect(passed).toBeGreaterThanOrEqual(10_000)
    expect(passed).toBeLessThan(10_500)
    await expect(worker.use(() => worker.saved())).resolves.toBeUndefined()
  })

  // Tests processes: A worker under test can be crashed, stopped and handed over at any moment of a use.
  it("advances to the millisecond, whatever else waits for time", async () => {
    await using worker = await testWorker(slowly)
    const using = worker.use(tenSeconds)
    const from = worker.time.mono()
    await worker.advance("4 s")
    expect(worker.time.mono() - from).toBe(4000)
    expect(await using).toBe(1)
  })

  it("crashes in the middle of a use, which ends with it and has changed nothing", async () => {
    await using worker = await testWorker(slowly)
    const refused = worker.use(tenSeconds, { durable: true }).catch((error: unknown) => error)
    await worker.advance("4 s")
    const next = await worker.crash()
    expect(await refused).toBeInstanceOf(ManagerClosedError)
    await expect(worker.run(new Promise(() => {}))).rejects.toThrow(ManagerClosedError)
    expect(await next.saved()).toBeUndefined()
    expect(await next.use(({ n }) => n)).toBe(0)
  })

  it("stops in the middle of a use past the end of its lease, and hears that its lease is lost", async () => {
    await using worker = await testWorker(slowly)
    const refused = worker.use(tenSeconds, { durable: true }).catch((error: unknown) => error)
    await worker.advance("4 s")
    await worker.pause("40 s")
    expect(await refused).toBeInstanceOf(LockLostError)
    expect(worker.trace.map(({ type }) => type)).toContain("Lost")
    expect(await worker.saved()).toBeUndefined()
  })

  it("hands over after the use that runs, with what it did", async () => {
    await using worker = await testWorker(slowly)
    const used = worker.use(tenSeconds)
    await worker.advance("4 s")
    const next = await worker.requestHandoff()
    expect(await used).toBe(1)
    expect(await next.saved()).toEqual({ n: 1 })
  })

  it("tells every call that waits what a timer's callback throws, and goes on", async () => {
    await using worker = await testWorker(slowly)
    worker.time.after(1000, () => {
      throw new Error("planted")
    })
    const calls = await Promise.allSettled([worker.use(tenSeconds), worker.advance("5 s")])
    expect(calls.map((call) => call.status === "rejected" && String(call.reason))).toEqual(
      calls.map(() => "Error: planted"),
    )
    await worker.advance("20 s")
    expect(await worker.use(({ n }) => n)).toBe(1)
  })

  it("leaves nothing behind of work that never ends", async () => {
    const worker = await testWorker(deaf)
    await expect(worker.requestHandoff()).rejects.toMatchObject({ _tag: "LockTimeoutError" })
    await worker[Symbol.asyncDispose]()
    expect(worker.time.pendingTimers).toBe(0)
    expect(worker.errors.map(String)).toEqual([expect.stringContaining("is stuck")])
  })

  it("closes a process whose restore failed, and says why", async () => {
    await expect(testWorker(broken(() => true))).rejects.toThrow("no state")
    let refuses = false
    const worker = await testWorker(broken(() => refuses))
    refuses = true
    await expect(worker.requestHandoff()).rejects.toThrow("no state")
    refuses = false
    expect(await worker.use(() => "back")).toBe("back")
    await worker[Symbol.asyncDispose]()
    expect(worker.time.pendingTimers).toBe(0)
  })

  it("runs the same again under one seed", async () => {
    const run = async (seed: number): Promise<unknown> => {
      await using worker = await testWorker(counter, { seed })
      const next = await worker.requestHandoff()
      return next.trace.map(({ at, type }) => [at, type])
    }
    expect(await run(7)).toEqual(await run(7))
    expect(await run(7)).not.toEqual(await run(8))
  })

  it("makes every checkpoint go through its codec: one that doesn't come back is told", async () => {
    const lossy = defineSandbox({
      name: "lossy",
      schema: z.object({ at: z.date() }),
      restore: () => ({ at: new Date(0) }),
      checkpoint: ({ at }) => ({ at }),
    })
    await using worker = await testWorker(lossy)
    await expect(worker.use(() => {}, { durable: true })).rejects.toMatchObject({
      cause: expect.any(CheckpointInvalidError),
    })
    const saved = { checkpoint: { at: new Date(0) } }
    await expect(testWorker(lossy, saved)).rejects.toThrow(CheckpointInvalidError)
  })

  // Tests simulations.
  it("refuses what it can't do", async () => {
    await expect(testWorker(counter, { seed: 0.5 })).rejects.toThrow(InvalidConfigError)
    await expect(testWorker(counter, { sed: 1 } as never)).rejects.toThrow(InvalidConfigError)
    await expect(testWorker({ ...counter })).rejects.toThrow(UnknownDefinitionError)
    await using worker = await testWorker(counter)
    expect(() => worker.fault("explode" as never)).toThrow(InvalidConfigError)
    expect(() => worker.fault("status", { times: 0 })).toThrow(InvalidConfigError)
    await expect(worker.pause("soon" as never)).rejects.toThrow(InvalidConfigError)
    await expect(worker.pause("1 s", { suspend: "yes" as never })).rejects.toThrow(InvalidConfigError)
    const misspelt = { kind: "loseRequest", worker: "wroker-1" } as const
    expect(() => worker.store.inject(misspelt)).toThrow(/worker-1.*worker-2/)
    worker.store.inject({ ...misspelt, worker: "worker-2" }) // the next one
    await expect(worker.advance(-1)).rejects.toThrow(InvalidConfigError)
  })

  it("leaves nothing behind, and closes the state of each that has it", async () => {
    const states: Count[] = []
    const noting = defineSandbox({
      name: "noting",
      schema: z.object({ n: z.number() }),
      restore: (): Count => {
        states.push({ n: 0, seen: [] })
        return states.at(-1)!
      },
      checkpoint: ({ n }) => ({ n }),
      close: (state, { reason }) => void state.seen.push(reason),
    })
    const worker = await testWorker(noting)
    await worker.requestHandoff()
    await worker[Symbol.asyncDispose]()
    await worker[Symbol.asyncDispose]()
    expect(states.map(({ seen }) => seen)).toEqual([["handoff"], ["drain"]])
    await worker.time.advance(60_000)
    expect(worker.time.pendingTimers).toBe(0)
  })

  it.effect("is driven by Effect's TestClock", () =>
    Effect.gen(function* () {
      const worker = yield* Effect.promise(() => testWorker(counter))
      yield* Effect.gen(function* () {
        yield* TestClock.adjust("4 seconds")
        yield* Effect.sleep("0 seconds")
      }).pipe(Effect.provide(layerTestClock(worker.time)))
      expect(yield* Effect.promise(() => worker.use(({ n }) => n))).toBe(4)
      yield* Effect.promise(() => worker[Symbol.asyncDispose]())
    }),
  )
})
