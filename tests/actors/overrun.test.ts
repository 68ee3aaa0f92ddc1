// Hooks that go on past their limit: each is work. (That each begins only under a lease is in by-time.test.ts.)
import type { StandardSchemaV1 } from "@standard-schema/spec"
import { describe, expect, it } from "vitest"
import { type Codec, defineSandbox, HookOverrunError, NotDurableError, unchecked } from "../../src/mod.ts"
import { type Count, counter, type Counter, cutOff, failure, gate, statesOf, World } from "./world.ts"

/** A hook of a sandbox that hangs until the test lets it go, from when it is told to. */
class Hanging {
  readonly #gate = gate()
  /** The next one hangs. */
  isArmed = false
  /** What the signal of the one that hangs aborted with. */
  reason: unknown
  hasEnded = false

  async hang(signal: AbortSignal | undefined): Promise<void> {
    if (!this.isArmed) return
    this.isArmed = false
    signal?.addEventListener("abort", () => (this.reason = signal.reason))
    await this.#gate.promise
    this.hasEnded = true
  }

  letGo(): void {
    this.#gate.resolve()
  }
}

interface SignalOptions {
  readonly libraryOptions?: { readonly signal?: AbortSignal }
}

/** A schema that validates asynchronously, and takes its signal from where Standard Schema leaves room for one. */
const slowSchema = (hanging: Hanging): StandardSchemaV1<Count, Count> => ({
  "~standard": {
    version: 1,
    vendor: "test",
    validate: async (value, options) => {
      await hanging.hang((options as SignalOptions | undefined)?.libraryOptions?.signal)
      return { value: value as Count }
    },
  },
})

const slowCodec = (hanging: Hanging): Codec<Count> => ({
  encode: async (value, { signal }) => {
    await hanging.hang(signal)
    return new TextEncoder().encode(JSON.stringify(value))
  },
  decode: async (bytes, { signal }) => {
    await hanging.hang(signal)
    let text = ""
    for await (const chunk of bytes) text += new TextDecoder().decode(chunk)
    return JSON.parse(text) as Count
  },
})

const plain = { restore: ({ checkpoint }: { checkpoint?: Count | undefined }) => ({ n: checkpoint?.n ?? 0 }) }
const hookless = { name: "counter", ...plain, checkpoint: ({ n }: Count) => ({ n }) }

/** A counter whose saved state is of an older version, so that it is migrated at each restore. */
const kinds: Readonly<Record<string, (hanging: Hanging) => Counter>> = {
  restore: (hanging) =>
    counter({
      restore: async ({ checkpoint, signal }) => {
        await hanging.hang(signal)
        return { n: checkpoint?.n ?? 0 }
      },
    }),
  migrate: (hanging) =>
    defineSandbox({
      ...{ ...hookless, version: 2, schema: unchecked<Count>() },
      migrate: async (saved, _from, { signal }) => {
        await hanging.hang(signal)
        return saved
      },
    }),
  schema: (hanging) => defineSandbox({ ...hookless, schema: slowSchema(hanging) }),
  codec: (hanging) => defineSandbox({ ...hookless, schema: slowCodec(hanging) }),
  checkpoint: (hanging) =>
    counter({
      checkpoint: async ({ n }, { signal }) => {
        await hanging.hang(signal)
        return { n }
      },
    }),
  close: (hanging) => counter({ close: (_state, { signal }) => hanging.hang(signal) }),
  run: (hanging) => counter({ run: (_state, { signal }) => hanging.hang(signal) }),
  turn: (hanging) => counter({ run: async (_state, { turn, signal }) => turn(() => hanging.hang(signal)) }),
}

const limits = { restoreWithin: "3 s", settleWithin: "2 s", checkpointWithin: "4 s", closeWithin: "5 s" } as const

/** Something is saved by the older version of everything. */
const seeded = async (): Promise<World> => {
  const world = new World()
  const old = counter()
  const before = await world.manager("before", old)
  const handle = await world.run(before.restoreSandbox(old, "k"))
  await world.run(handle.use((state) => void (state.n = 1)))
  await world.run(handle.release())
  return world
}

describe("a hook that goes on past its limit", () => {
  // Tests rule 18: Every hook is work with a signal and a limit; past it the lease is kept until the hook ends.
  it.each(["restore", "migrate", "schema", "codec"])(
    "before a restore (%s): its signal aborts, who waits is told, it counts as stuck, and the lease is kept until it ends",
    async (hook) => {
      const world = await seeded()
      const hanging = new Hanging()
      const sandbox = kinds[hook]!(hanging)
      const a = await world.manager("a", sandbox, limits)
      const b = await world.manager("b", sandbox, limits)
      hanging.isArmed = true
      const call = failure(a.restoreSandbox(sandbox, "k", { timeout: "10 min" }))
      expect(await world.took(call)).toBeLessThan(3100)
      const error = await call
      expect(error).toBeInstanceOf(HookOverrunError)
      expect(error).toMatchObject({ hook, option: "restoreWithin", limitMs: 3000, key: "counter/k" })
      expect(hanging.reason).toBe(error)
      expect(world.errors).toEqual([error])
      expect(a.stats()).toMatchObject({ handingOff: 1, stuck: 1 })
      const there = b.use(sandbox, "k", ({ n }) => [n, hanging.hasEnded], { timeout: "10 min" })
      await world.time.advance(120_000)
      expect(b.stats()).toMatchObject({ waiting: 1 })
      expect(world.errors.slice(1)).toMatchObject([{ hook, option: "settleWithin" }])
      hanging.letGo()
      expect(await world.run(there)).toEqual([1, true])
      expect(a.stats()).toMatchObject({ stuck: 0, handingOff: 0 })
      await world.end()
    },
  )

  it.each(["checkpoint", "schema", "codec"])(
    "while it is being saved (%s): all who wait are told, later ones at once, uses wait, and it goes on when it has ended",
    async (hook) => {
      const world = await seeded()
      const hanging = new Hanging()
      const sandbox = kinds[hook]!(hanging)
      const a = await world.manager("a", sandbox, limits)
      const handle = await world.run(a.restoreSandbox(sandbox, "k"))
      const states = statesOf(handle)
      hanging.isArmed = true
      const durable = failure(handle.use((state) => ++state.n, { durable: true }))
      await world.time.advance(3000)
      const joined = failure(handle.checkpoint())
      const ran: string[] = []
      const use = handle.use((state) => (ran.push(`use ${hanging.hasEnded}`), ++state.n))
      expect(await world.took(durable)).toBe(1000)
      const cause = { hook, option: "checkpointWithin", limitMs: 4000 }
      expect(await durable).toBeInstanceOf(NotDurableError)
      expect(await durable).toMatchObject({ cause })
      expect(await world.run(joined)).toMatchObject(cause)
      expect(world.errors).toMatchObject([cause])
      expect(a.stats()).toMatchObject({ owning: 1, stuck: 1, usesWaiting: 1 })
      expect(await world.took(failure(handle.checkpoint()))).toBe(0)
      expect(await world.failure(handle.checkpoint())).toMatchObject(cause)
      await world.time.advance(5000)
      expect(ran).toEqual([])
      hanging.letGo()
      expect(await world.run(use)).toBe(3)
      expect(ran).toEqual(["use true"])
      expect(await world.run(a.readCheckpoint(sandbox, "k"))).toEqual({ n: 1 }) // what comes late isn't stored
      await world.run(handle.checkpoint())
      expect(await world.run(a.readCheckpoint(sandbox, "k"))).toEqual({ n: 3 })
      expect(a.stats()).toMatchObject({ owning: 1, stuck: 0 })
      expect(states).toEqual(["owning.running.healthy"])
      await world.end()
    },
  )

  it.each(["checkpoint", "schema", "codec"])(
    "in the last checkpoint (%s): close, the release and the next owner come after it, here and elsewhere",
    async (hook) => {
      for (const next of ["a", "b"]) {
        const world = await seeded()
        const hanging = new Hanging()
        const sandbox = kinds[hook]!(hanging)
        const a = await world.manager("a", sandbox, limits)
        const b = await world.manager("b", sandbox, limits)
        const handle = await world.run(a.restoreSandbox(sandbox, "k"))
        await world.run(handle.use((state) => void (state.n = 7)))
        const states = statesOf(handle)
        hanging.isArmed = true
        const released = handle.release()
        const there = (next === "a" ? a : b).use(sandbox, "k", ({ n }) => [n, hanging.hasEnded], { timeout: "10 min" })
        expect(await world.took(released)).toBe(4000 + 2000)
        expect(await released).toBe("unknown")
        await world.time.advance(60_000)
        expect(states.slice(1)).toEqual([
          ...["settling", "checkpointing", "settling", "stuck"].map((state) => `handingOff.${state}.healthy`),
        ])
        expect(handle.lease.isHeld()).toBe(true)
        expect(hanging.reason).toMatchObject({ hook, option: "checkpointWithin" })
        expect(world.errors).toMatchObject([
          { hook, option: "checkpointWithin", limitMs: 4000 },
          { hook, option: "settleWithin" },
        ])
        expect(a.stats()).toMatchObject({ stuck: 1 })
        hanging.letGo()
        expect(await world.run(there)).toEqual([1, true]) // the last one that was acknowledged
        expect(await handle.ended).toMatchObject({ reason: "failed", error: { hook, option: "checkpointWithin" } })
        await world.end()
      }
    },
  )

  it("in close: its signal aborts by closeWithin, and the lease is kept until it ends", async () => {
    const world = await seeded()
    const hanging = new Hanging()
    const sandbox = kinds["close"]!(hanging)
    const a = await world.manager("a", sandbox, limits)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    hanging.isArmed = true
    expect(await world.took(handle.release())).toBe(5000)
    const told = { hook: "close", option: "closeWithin", limitMs: 5000 }
    expect(hanging.reason).toMatchObject(told)
    expect(world.errors).toMatchObject([told])
    expect(a.stats()).toMatchObject({ handingOff: 1, stuck: 1 })
    await world.time.advance(60_000)
    expect(handle.lease.isHeld()).toBe(true)
    hanging.letGo()
    expect(await world.run(handle.ended)).toEqual({ reason: "released" })
    expect(await world.run(a.whereIs(sandbox, "k"))).toBeUndefined()
    await world.end()
  })

  it("in close has as long as settleWithin where closeWithin isn't given", async () => {
    const world = await seeded()
    const hanging = new Hanging()
    const sandbox = kinds["close"]!(hanging)
    const a = await world.manager("a", sandbox, { settleWithin: "7 s" })
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    hanging.isArmed = true
    expect(await world.took(handle.release())).toBe(7000)
    expect(world.errors).toMatchObject([{ hook: "close", option: "closeWithin", limitMs: 7000 }])
    hanging.letGo()
    await world.end()
  })

  it.each(["run", "turn"])("in %s, once it is asked to end: by settleWithin, by its name", async (hook) => {
    const world = await seeded()
    const hanging = new Hanging()
    hanging.isArmed = true
    const sandbox = kinds[hook]!(hanging)
    const a = await world.manager("a", sandbox, limits)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    await world.time.advance(60_000)
    expect(a.stats()).toMatchObject({ owning: 1, stuck: 0 })
    expect(await world.took(handle.release())).toBe(2000)
    await world.time.advance(10)
    expect(world.errors.map((error) => (error as HookOverrunError).hook)).toContain(hook)
    expect(world.errors).toMatchObject(world.errors.map(() => ({ option: "settleWithin", limitMs: 2000 })))
    expect(a.stats()).toMatchObject({ handingOff: 1, stuck: 1 })
    hanging.letGo()
    expect(await world.run(handle.ended)).toEqual({ reason: "released" })
    await world.end()
  })

  it("and obeys its signal costs nothing but its checkpoint: the key is released at once", async () => {
    const world = new World()
    const sandbox = counter({
      checkpoint: (_state, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error))),
    })
    const a = await world.manager("a", sandbox, limits)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    const states = statesOf(handle)
    expect(await world.took(handle.release())).toBeLessThan(4100)
    expect(await handle.release()).toBe("released")
    expect(await handle.ended).toMatchObject({ reason: "failed", error: { hook: "checkpoint" } })
    expect(states.slice(-2)).toEqual(["handingOff.releasing.healthy", "released.failed"])
    expect(world.errors).toMatchObject([{ hook: "checkpoint", option: "checkpointWithin" }])
    await world.end()
  })

  // Tests chart: Taking and storing a checkpoint have one limit.
  it("in a periodic checkpoint is told once, and the next one comes when it has ended", async () => {
    const world = await seeded()
    const hanging = new Hanging()
    const sandbox = counter({
      checkpointEvery: "10 s",
      checkpoint: async ({ n }, { signal }) => {
        await hanging.hang(signal)
        return { n }
      },
    })
    const a = await world.manager("a", sandbox, limits)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    await world.run(handle.use((state) => void (state.n = 5)))
    hanging.isArmed = true
    await world.time.advance(45_000)
    expect(world.errors).toMatchObject([{ hook: "checkpoint", option: "checkpointWithin" }])
    hanging.letGo()
    await world.time.advance(20_000)
    expect(await world.run(a.readCheckpoint(sandbox, "k"))).toEqual({ n: 5 })
    expect(world.errors).toHaveLength(1)
    await world.end()
  })

  it("leaves a write the time that is left of checkpointWithin", async () => {
    const world = new World()
    const slow = (): Promise<void> => new Promise((resolve) => void world.time.after(3000, resolve))
    const sandbox = counter({ checkpoint: async ({ n }) => (await slow(), { n }) })
    const wire = world.wire()
    const a = await world.manager("a", sandbox, { ...limits, store: wire })
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    const used = failure(handle.use((state) => ++state.n, { durable: true }))
    await world.time.advance(100)
    cutOff(wire)
    expect((await world.took(used)) + 100).toBe(4000)
    expect(await used).toMatchObject({ cause: { _tag: expect.stringMatching(/Unknown|Unavailable/) as string } })
    wire.script.heal()
    await world.end()
  })

  // Tests rule 18.
  it("when the lease is lost goes on, said to be beside others, and nothing is restored here before it has ended", async () => {
    const world = await seeded()
    const hanging = new Hanging()
    const closed: string[] = []
    const sandbox = counter({
      checkpoint: async ({ n }, { signal }) => {
        await hanging.hang(signal)
        return { n }
      },
      close: (_state, { reason }) => void closed.push(`${reason} ${hanging.hasEnded}`),
    })
    const wire = world.wire()
    const a = await world.manager("a", sandbox, { ...limits, store: wire })
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    hanging.isArmed = true
    void failure(handle.checkpoint())
    await world.time.advance(10)
    cutOff(wire)
    await world.run(handle.ended)
    expect(hanging.reason).toMatchObject({ option: "checkpointWithin" })
    wire.script.heal()
    const again = a.use(sandbox, "k", () => hanging.hasEnded, { timeout: "10 min" })
    await world.time.advance(60_000)
    expect(world.errors.at(-1)).toMatchObject({ hook: "checkpoint", option: "settleWithin" })
    expect(String(world.errors.at(-1))).toContain("may be done by another owner too")
    expect(a.stats()).toMatchObject({ stuck: 1 })
    expect(closed).toEqual([])
    hanging.letGo()
    expect(await world.run(again)).toBe(true)
    expect(closed).toEqual(["lost true"])
    await world.end()
  })

  // Tests chart: A hook past its limit hides no other failure, and also fails readers of saved state.
  it("when saved state is only read rejects the reading", async () => {
    const world = await seeded()
    const hanging = new Hanging()
    const sandbox = kinds["migrate"]!(hanging)
    const a = await world.manager("a", sandbox, limits)
    hanging.isArmed = true
    const read = failure(a.readCheckpoint(sandbox, "k"))
    expect(await world.took(read)).toBe(3000)
    expect(await read).toMatchObject({ hook: "migrate", option: "restoreWithin" })
    hanging.letGo()
    await world.end()
  })

  it("tells a call that comes later, and runs out of time, why", async () => {
    const world = await seeded()
    const hanging = new Hanging()
    const sandbox = kinds["restore"]!(hanging)
    const a = await world.manager("a", sandbox, limits)
    hanging.isArmed = true
    await world.failure(a.restoreSandbox(sandbox, "k"))
    const later = await world.failure(a.use(sandbox, "k", () => {}, { timeout: "1 s" }))
    expect(later).toMatchObject({ _tag: "LockTimeoutError", cause: { hook: "restore", option: "restoreWithin" } })
    hanging.letGo()
    await world.end()
  })
})

describe("an overrun that a hook passes on", () => {
  // Tests chart.
  it("is a failure like any other: of restore where it is another sandbox's", async () => {
    const world = new World()
    const hanging = new Hanging()
    const inner = defineSandbox({
      ...{ ...plain, name: "inner", schema: unchecked<Count>(), checkpoint: ({ n }: Count) => ({ n }) },
      restore: async ({ signal }) => (await hanging.hang(signal), { n: 0 }),
    })
    const outer = counter({ restore: async () => ({ n: await a.use(inner, "i", ({ n }) => n) }) })
    const a = await world.manager("a", [inner, outer], limits)
    hanging.isArmed = true
    const error = await world.failure(a.restoreSandbox(outer, "k", { timeout: "1 min" }))
    expect(error).toMatchObject({ hook: "restore", key: "counter/k" }) // its own limit is over at the same time
    hanging.letGo()
    await world.time.advance(10_000)
    expect(a.stats()).toMatchObject({ handingOff: 0, stuck: 0 })
    await world.end()
  })

  it("is a failure like any other: of run where it is the sandbox's own checkpoint's", async () => {
    const world = new World()
    const hanging = new Hanging()
    const sandbox = counter({
      run: async (_state, { checkpoint }) => {
        hanging.isArmed = true
        await checkpoint()
      },
      checkpoint: async ({ n }, { signal }) => (await hanging.hang(signal), { n }),
    })
    const a = await world.manager("a", sandbox, limits)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    await world.time.advance(5000)
    hanging.letGo()
    const { reason, error } = await world.run(handle.ended)
    expect([reason, error]).toMatchObject(["failed", { _tag: "HandingOffError", cause: { hook: "checkpoint" } }])
    expect((error as Error).message).toContain("run of counter/k threw HookOverrunError, and the sandbox ends")
    await world.end()
  })
})
