import { describe, expect, it } from "vitest"
/** Calls at a sandbox of this process: typed, validated, one at a time, and durable ones once. */
import { z } from "zod"
import { defineSandbox } from "../../../src/actors/api/definition.ts"
import { SandboxManager } from "../../../src/actors/manager/manager.ts"
import {
  CallIdReusedError,
  CallInputError,
  CallThrewError,
  CallTooOldError,
  InvalidConfigError,
  OwnedElsewhereError,
  UnknownCallError,
} from "../../../src/locks/api/errors.ts"
import { memoryStore } from "../../../src/locks/stores/memory-store.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"

const counterOf = (callMemory = {}) =>
  defineSandbox({
    name: "counter",
    schema: z.object({ n: z.number() }),
    restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
    checkpoint: ({ n }) => ({ n }),
    callMemory,
    calls: {
      add: {
        input: z.object({ by: z.number() }),
        durable: true,
        handle: (state, { by }) => (state.n += by),
      },
      get: { readonly: true, handle: ({ n }) => n },
      fail: {
        durable: true,
        handle: (state) => {
          state.n++
          throw Object.assign(new RangeError("too far"), { code: "FAR" })
        },
      },
      strange: { handle: () => new Date(0) },
    },
  })

const world = async (callMemory = {}) => {
  const time = new VirtualTime()
  const store = memoryStore({ clock: time })
  const counter = counterOf(callMemory)
  const manager = async (id: string): Promise<SandboxManager> =>
    time.runUntil(SandboxManager.start({ store, clock: time, sandboxes: [counter], incarnation: { id } }))
  return { time, store, counter, manager }
}

describe("a call", () => {
  it("answers with what its handler returns, in the order of calls", async () => {
    const { time, counter, manager } = await world()
    const here = await manager("a")
    const all = [1, 2, 3].map((by) => here.call(counter, "k", "add", { by }))
    expect(await time.runUntil(Promise.all(all))).toEqual([1, 3, 6])
    expect(await time.runUntil(here.call(counter, "k", "get"))).toBe(6)
  })

  it("that isn't one of the definition's, or whose input or options can't be, is refused with nothing done", async () => {
    const { time, counter, manager } = await world()
    const here = await manager("a")
    const refused = async (call: Promise<unknown>): Promise<unknown> =>
      time.runUntil(call.catch((error: unknown) => error))
    // @ts-expect-error no such call
    expect(await refused(here.call(counter, "k", "subtract", { by: 1 }))).toBeInstanceOf(UnknownCallError)
    // @ts-expect-error a wrong input
    expect(await refused(here.call(counter, "k", "add", { by: "1" }))).toBeInstanceOf(CallInputError)
    // @ts-expect-error no input
    expect(await refused(here.call(counter, "k", "add"))).toBeInstanceOf(CallInputError)
    const cyclic: { by: number; self?: unknown } = { by: 1 }
    cyclic.self = cyclic
    expect(await refused(here.call(counter, "k", "add", cyclic))).toBeInstanceOf(CallInputError)
    // @ts-expect-error an unknown option
    expect(await refused(here.call(counter, "k", "add", { by: 1 }, { durabel: true }))).toBeInstanceOf(
      InvalidConfigError,
    )
    expect(await refused(here.call(counter, "k", "add", { by: 1 }, { id: "a b" }))).toBeInstanceOf(InvalidConfigError)
    expect(await time.runUntil(here.call(counter, "k", "get"))).toBe(0)
  })

  it("that throws rejects with what was thrown, as data", async () => {
    const { time, counter, manager } = await world()
    const here = await manager("a")
    const failed = await time.runUntil(here.call(counter, "k", "fail").catch((error: unknown) => error))
    expect(failed).toBeInstanceOf(CallThrewError)
    expect(failed).toMatchObject({ thrown: { name: "RangeError", message: "too far", code: "FAR" } })
    const strange = await time.runUntil(here.call(counter, "k", "strange").catch((error: unknown) => error))
    expect(strange).toMatchObject({ thrown: { name: "TypeError" } })
  })

  it("to a sandbox of another process doesn't move it", async () => {
    const { time, counter, manager } = await world()
    const [here, there] = [await manager("a"), await manager("b")]
    await time.runUntil(here.call(counter, "k", "add", { by: 1 }))
    await time.advance(20_000)
    const elsewhere = await time.runUntil(there.call(counter, "k", "get").catch((error: unknown) => error))
    expect(elsewhere).toBeInstanceOf(OwnedElsewhereError)
    await time.advance(20_000)
    expect(await time.runUntil(here.call(counter, "k", "get"))).toBe(1)
  })
})

describe("a durable call", () => {
  it("that is repeated under its id is answered and not applied again, also by a later owner", async () => {
    const { time, counter, manager } = await world()
    const here = await manager("a")
    const add = (by: number) => here.call(counter, "k", "add", { by }, { id: "payment" })
    expect(await time.runUntil(Promise.all([add(2), add(2)]))).toEqual([2, 2])
    await time.runUntil(here[Symbol.asyncDispose]())
    const next = await manager("b")
    const again = next.call(counter, "k", "add", { by: 2 }, { id: "payment" })
    expect(await time.runUntil(again)).toBe(2)
    expect(await time.runUntil(next.call(counter, "k", "get"))).toBe(2)
    const other = next.call(counter, "k", "add", { by: 3 }, { id: "payment" }).catch((error: unknown) => error)
    expect(await time.runUntil(other)).toBeInstanceOf(CallIdReusedError)
  })

  it("that threw is not run again, and rejects as it did", async () => {
    const { time, counter, manager } = await world()
    const here = await manager("a")
    const fail = () =>
      time.runUntil(here.call(counter, "k", "fail", undefined, { id: "1" }).catch((error: unknown) => error))
    expect(await fail()).toMatchObject({ thrown: { code: "FAR" } })
    expect(await fail()).toMatchObject({ thrown: { code: "FAR" } })
    expect(await time.runUntil(here.call(counter, "k", "get"))).toBe(1)
  })

  it("costs a repetition that is stored no write", async () => {
    const { time, counter, manager } = await world()
    const here = await manager("a")
    const add = () => time.runUntil(here.call(counter, "k", "add", { by: 1 }, { id: "1" }))
    await add()
    const { checkpoints } = here.stats()
    expect(await add()).toBe(1)
    expect(here.stats().checkpoints).toBe(checkpoints)
  })

  it("that was forgotten is refused as too old", async () => {
    const { time, counter, manager } = await world({ count: 1 })
    const here = await manager("a")
    const sentAt = time.read().wall
    const add = (id: string) =>
      time.runUntil(
        here
          .call(counter, "k", "add", { by: 1 }, { id, ...(id === "1" && { sentAt }) })
          .catch((error: unknown) => error),
      )
    await add("1")
    await time.advance(1000)
    expect(await add("2")).toBe(2)
    await time.advance(1000)
    expect(await add("1")).toBeInstanceOf(CallTooOldError)
    expect(await time.runUntil(here.call(counter, "k", "get"))).toBe(2)
  })

  it("leaves what is saved as the schema has it, for who reads it without a lease", async () => {
    const { time, counter, manager } = await world()
    const here = await manager("a")
    await time.runUntil(here.call(counter, "k", "add", { by: 5 }))
    expect(await time.runUntil(here.readCheckpoint(counter, "k"))).toEqual({ n: 5 })
  })
})
