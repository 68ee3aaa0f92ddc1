// Durable calls that come again at odd moments, with odd answers, or on odd clocks.
import { describe, expect, it } from "vitest"
import { z } from "zod"
import type { CallContext } from "../../../src/actors/api/calls.ts"
import { CallUnknownError, defineSandbox, type SandboxHooks, unchecked } from "../../../src/mod.ts"
import { VirtualHost } from "../../../src/runtime/time/virtual-host.ts"
import { cutOff, gate, type Overrides, World } from "../world.ts"

interface Count {
  n: number
}
type Handle = (state: Count, input: unknown, context: CallContext) => unknown
type More = Partial<Pick<SandboxHooks<Count, Count, Count>, "callMemory">>

const counterOf = (handle: Handle, more: More = {}) =>
  defineSandbox({
    name: "counter",
    schema: unchecked<Count>(),
    restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
    checkpoint: ({ n }) => ({ n }),
    ...more,
    calls: {
      add: { durable: true, handle: (state: Count, input: unknown, context) => handle(state, input, context) },
      get: { readonly: true, handle: ({ n }: Count) => n },
    },
  })

/** A world with one process, and how it is called. */
const calling = async (handle: Handle, more: More = {}, overrides: Overrides = {}) => {
  const world = new World()
  const counter = counterOf(handle, more)
  const here = await world.manager("a", counter, overrides)
  const known = { id: "x", sentAt: world.time.read().wall }
  const add = (options = {}, input: unknown = undefined) =>
    here.call(counter, "k", "add", input, options).catch((error: unknown) => error)
  return { world, counter, here, known, add, get: () => world.run(here.call(counter, "k", "get")) }
}

describe("a repetition", () => {
  // Tests calls: A repetition that comes while the call runs is answered by it, also where its first caller has gone.
  it("that comes after its first caller gave up, while the handler runs, is answered by that run", async () => {
    const going = gate()
    const { world, known, add } = await calling(async (state) => {
      await going.promise
      return ++state.n
    })
    expect(await world.run(add({ ...known, timeout: "2 s" }))).toBeInstanceOf(CallUnknownError)
    const again = add(known)
    await world.time.advance(1)
    going.resolve()
    expect(await world.run(again)).toBe(1)
    await world.end()
  })

  it("of a call whose caller gave up is answered as if it had stayed: the handler isn't told to give up", async () => {
    const going = gate()
    const { world, known, add } = await calling(async (state, _input, { signal }) => {
      await going.promise
      signal.throwIfAborted()
      return ++state.n
    })
    await world.run(add({ ...known, timeout: "2 s" }))
    going.resolve()
    expect(await world.run(add(known))).toBe(1)
    await world.end()
  })

  it.each([
    ["nothing that has a prototype", () => Object.create(null) as unknown],
    ["an error with a number for a message", () => Object.assign(new Error("x"), { message: 5n })],
    ["an error with a list for a message", () => Object.assign(new Error("x"), { message: ["a"] })],
    ["an error with a number for a name", () => Object.assign(new Error("x"), { name: 400 })],
    ["what throws when it is looked at", () => new Proxy({}, { get: () => unlookable() })],
    ["undefined", () => undefined],
  ])("of a call that threw %s rejects as it did, also after a handoff, and runs nothing", async (_, thrown) => {
    const { world, counter, here, known, add } = await calling((state) => {
      state.n++
      throw thrown()
    })
    const [first, again] = [await world.run(add(known)), await world.run(add(known))]
    expect(first).toMatchObject({ _tag: "CallThrewError" })
    expect(again).toEqual(first)
    await world.run(here[Symbol.asyncDispose]())
    const next = await world.manager("b", counter)
    expect(await world.failure(next.call(counter, "k", "add", undefined, known))).toEqual(first)
    expect(await world.run(next.call(counter, "k", "get"))).toBe(1)
  })

  it("is answered with what was answered, whatever its callers did with that", async () => {
    const { world, known, add } = await calling((state) => ({ left: ++state.n }))
    const first = (await world.run(add(known))) as { left: unknown }
    first.left = 5n
    expect(await world.run(add(known))).toEqual({ left: 1 })
    expect(await world.run(add())).toEqual({ left: 2 })
    await world.end()
  })

  it("that the schema of a later version refuses is answered: it was taken once", async () => {
    const world = new World()
    const parts = {
      name: "counter",
      schema: unchecked<Count>(),
      restore: ({ checkpoint }: { checkpoint: Count | undefined }) => ({ n: checkpoint?.n ?? 0 }),
      checkpoint: ({ n }: Count) => ({ n }),
    }
    const handle = (state: Count) => ++state.n
    const old = defineSandbox({ ...parts, calls: { add: { durable: true, input: z.string(), handle } } })
    const newer = defineSandbox({ ...parts, calls: { add: { durable: true, input: z.string().min(3), handle } } })
    const known = { id: "x", sentAt: world.time.read().wall }
    const a = await world.manager("a", old)
    expect(await world.run(a.call(old, "k", "add", "ab", known))).toBe(1)
    await world.run(a[Symbol.asyncDispose]())
    const b = await world.manager("b", newer)
    expect(await world.run(b.call(newer, "k", "add", "ab", known))).toBe(1)
    expect(await world.failure(b.call(newer, "k", "add", "ab"))).toMatchObject({ _tag: "CallInputError" })
  })

  it("in a lost sandbox gets the input as it was sent, whatever its first run did to that", async () => {
    const world = new World()
    const begun = gate()
    const seen: unknown[] = []
    const counter = counterOf(async (_state, input, { signal }) => {
      const { items } = input as { items: string[] }
      seen.push(items.shift())
      if (seen.length > 1) return "done"
      begun.resolve()
      await new Promise((resolve) => signal.addEventListener("abort", resolve))
      throw signal.reason
    })
    const wire = world.wire()
    const here = await world.manager("a", counter, { store: wire })
    const call = here.call(counter, "k", "add", { items: ["a", "b"] }, { timeout: "5 min" })
    await world.run(begun.promise)
    cutOff(wire)
    await world.time.advance(30_000)
    wire.script.heal()
    expect([await world.run(call), seen]).toEqual(["done", ["a", "a"]])
    await world.end()
  })

  it("is made where the sandbox is lost while the effect is on its way to the store", async () => {
    const world = new World()
    let runs = 0
    const counter = counterOf((state) => {
      runs++
      return ++state.n
    })
    const wire = world.wire()
    const slow = { store: wire, checkpointWithin: "100 s", killGrace: "300 s" } as const
    const here = await world.manager("a", counter, slow)
    await world.run(here.restoreSandbox(counter, "k"))
    cutOff(wire)
    const call = here.call(counter, "k", "add", undefined, { timeout: "5 min" })
    await world.time.advance(60_000)
    wire.script.heal()
    expect([await world.run(call), runs]).toEqual([1, 2])
    await world.end()
  })
})

const unlookable = (): never => {
  throw new Error("nobody may look")
}

describe("what is remembered", () => {
  it("has no answer that is too large, and its repetition says so", async () => {
    const { world, known, add, get } = await calling(
      (state) => {
        state.n++
        return "x".repeat(1000)
      },
      { callMemory: { size: 2000 } },
    )
    expect(await world.run(add(known))).toHaveLength(1000)
    expect(await world.run(add(known))).toMatchObject({ _tag: "CallAnswerForgottenError" })
    expect(await get()).toBe(1)
    await world.end()
  })

  // Tests calls: What is remembered of calls keeps no state from being saved.
  it("makes room for the state where a checkpoint may be no larger, and is old enough to go in time", async () => {
    const { world, counter, here, add } = await calling(
      (state) => {
        state.n++
        return "x".repeat(1000)
      },
      {},
      { maxCheckpoint: 5000 },
    )
    for (let calls = 0; calls < 10; calls++) expect(await world.run(add())).toHaveLength(1000)
    await world.run(here.checkpointSandbox(counter, "k"))
    expect(await world.run(here.readCheckpoint(counter, "k"))).toEqual({ n: 10 })
    await world.end()
  })
})

describe("a new call", () => {
  it("is taken where the clock of its process is wrong", async () => {
    const world = new World()
    const counter = counterOf((state) => ++state.n)
    const clock = new VirtualHost(world.time, { name: "h", wallOffset: 60_000 })
    const here = await world.manager("a", counter, { clock })
    expect(await world.run(here.call(counter, "k", "add", undefined))).toBe(1)
  })

  it("of 0 ms is refused: it is to be answered in its time", async () => {
    const { world, add } = await calling((state) => ++state.n)
    expect(await world.run(add({ timeout: 0 }))).toMatchObject({ _tag: "InvalidConfigError" })
    await world.end()
  })

  it("that was sent before a removal, by an id, isn't applied to what comes after it", async () => {
    const { world, counter, here, known, add } = await calling((state) => ++state.n)
    await world.run(here.use(counter, "k", (state) => void (state.n = 5)))
    await world.time.advance(10)
    await world.run(here.remove(counter, "k"))
    expect(await world.run(add(known))).toMatchObject({ _tag: "CallTooOldError" })
    await world.end()
  })

  it("too deep for JSON is refused as its input", async () => {
    const { world, add } = await calling((state) => ++state.n)
    let deep: unknown = 1
    for (let depth = 0; depth < 20_000; depth++) deep = [deep]
    expect(await world.run(add({}, deep))).toMatchObject({ _tag: "CallInputError" })
    await world.end()
  })
})
