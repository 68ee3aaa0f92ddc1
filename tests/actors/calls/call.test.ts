// Calls at a sandbox of this process: typed, validated, one at a time, and durable ones once.
import { describe, expect, it } from "vitest"
import { z } from "zod"
import {
  CallDateError,
  CallIdReusedError,
  CallInputError,
  CallThrewError,
  CallTooOldError,
  UnknownCallError,
} from "../../../src/actors/api/call-errors.ts"
import { defineSandbox } from "../../../src/actors/api/definition.ts"
import { SandboxManager } from "../../../src/actors/manager/manager.ts"
import { InvalidConfigError, OwnedElsewhereError } from "../../../src/locks/api/errors.ts"
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
    const bad = [
      ["add", { by: 1 }, { id: "a b", sentAt: 1 }],
      ["add", { by: 1 }, { id: "a" }],
      ["add", { by: 1 }, { sentAt: 1 }],
      ["add", { by: 1 }, { id: "a", sentAt: Number.NaN }],
      ["get", undefined, { id: "a", sentAt: 1 }],
    ] as const
    for (const [name, input, options] of bad) {
      // @ts-expect-error half an identity, or one of a call that isn't durable
      expect(await refused(here.call(counter, "k", name, input, options))).toBeInstanceOf(InvalidConfigError)
    }
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

  // Tests calls: A call never moves a sandbox.
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
  // Tests calls: A durable call with an id has its effect once, also through a handoff.
  it("that is repeated under its id is answered and not applied again, also by a later owner", async () => {
    const { time, counter, manager } = await world()
    const here = await manager("a")
    const sentAt = time.read().wall
    const add = (by: number) => here.call(counter, "k", "add", { by }, { id: "payment", sentAt })
    expect(await time.runUntil(Promise.all([add(2), add(2)]))).toEqual([2, 2])
    await time.runUntil(here[Symbol.asyncDispose]())
    const next = await manager("b")
    const again = next.call(counter, "k", "add", { by: 2 }, { id: "payment", sentAt })
    expect(await time.runUntil(again)).toBe(2)
    expect(await time.runUntil(next.call(counter, "k", "get"))).toBe(2)
    const other = next.call(counter, "k", "add", { by: 3 }, { id: "payment", sentAt }).catch((error: unknown) => error)
    expect(await time.runUntil(other)).toBeInstanceOf(CallIdReusedError)
  })

  it("that threw is not run again, and rejects as it did", async () => {
    const { time, counter, manager } = await world()
    const here = await manager("a")
    const sentAt = time.read().wall
    const fail = () =>
      time.runUntil(here.call(counter, "k", "fail", undefined, { id: "1", sentAt }).catch((error: unknown) => error))
    expect(await fail()).toMatchObject({ thrown: { code: "FAR" } })
    expect(await fail()).toMatchObject({ thrown: { code: "FAR" } })
    expect(await time.runUntil(here.call(counter, "k", "get"))).toBe(1)
  })

  it("costs a repetition that is stored no write", async () => {
    const { time, counter, manager } = await world()
    const here = await manager("a")
    const sentAt = time.read().wall
    const add = () => time.runUntil(here.call(counter, "k", "add", { by: 1 }, { id: "1", sentAt }))
    await add()
    const { checkpoints } = here.stats()
    expect(await add()).toBe(1)
    expect(here.stats().checkpoints).toBe(checkpoints)
  })

  it("that was forgotten is refused as too old", async () => {
    const { time, counter, manager } = await world({ count: 1 })
    const here = await manager("a")
    const sentAt = time.read().wall
    const first = (): Promise<unknown> => {
      const call = here.call(counter, "k", "add", { by: 1 }, { id: "1", sentAt })
      return time.runUntil(call.catch((error: unknown) => error))
    }
    expect(await first()).toBe(1)
    await time.advance(1000)
    expect(await time.runUntil(here.call(counter, "k", "add", { by: 1 }))).toBe(2)
    expect(await first()).toBeInstanceOf(CallTooOldError)
    expect(await time.runUntil(here.call(counter, "k", "get"))).toBe(2)
  })

  it("is new by when it came, however many are applied and forgotten before its turn", async () => {
    const { time, counter, manager } = await world({ count: 2 })
    const here = await manager("a")
    const sentAt = time.read().wall
    const ids = Array.from({ length: 50 }, (_, index) => `call-${index}`)
    const all = [...ids, ...ids].map((id) => here.call(counter, "k", "add", { by: 1 }, { id, sentAt }))
    const answers = await time.runUntil(Promise.all(all))
    expect(answers).toEqual([...ids, ...ids].map((_, index) => (index % 50) + 1))
  })

  it("that nobody has sent before is let in where all others of its time are forgotten", async () => {
    const { time, counter, manager } = await world({ count: 1 })
    const here = await manager("a")
    for (const n of [1, 2, 3, 4]) {
      expect(await time.runUntil(here.call(counter, "k", "add", { by: 1 }))).toBe(n)
    }
  })

  it("that is dated ahead of the store's time is refused", async () => {
    const { time, counter, manager } = await world()
    const here = await manager("a")
    const at = (ms: number) => here.call(counter, "k", "add", { by: 1 }, { id: `${ms}`, sentAt: time.read().wall + ms })
    expect(await time.runUntil(at(10_000))).toBe(1)
    expect(await time.runUntil(at(600_000).catch((error: unknown) => error))).toBeInstanceOf(CallDateError)
  })

  // Tests calls: No call is applied again to what comes after the removal of its sandbox.
  it.each(["that runs", "that doesn't run"])(
    "is not applied again after the removal of a sandbox %s",
    async (which) => {
      const { time, counter, manager } = await world()
      const here = await manager("a")
      const sentAt = time.read().wall + 2000
      const add = (by: SandboxManager): Promise<unknown> => {
        const call = by.call(counter, "k", "add", { by: 1 }, { id: "1", sentAt })
        return time.runUntil(call.catch((error: unknown) => error))
      }
      expect(await add(here)).toBe(1)
      if (which === "that doesn't run") await time.runUntil(here[Symbol.asyncDispose]())
      const next = which === "that runs" ? here : await manager("b")
      await time.runUntil(next.remove(counter, "k"))
      expect(await add(next)).toBeInstanceOf(CallTooOldError)
      expect(await time.runUntil(next.call(counter, "k", "add", { by: 5 }))).toBe(5)
      await time.runUntil(next[Symbol.asyncDispose]())
      expect(await add(await manager("c"))).toBeInstanceOf(CallTooOldError)
    },
  )

  it("leaves what is saved as the schema has it, for who reads it without a lease", async () => {
    const { time, counter, manager } = await world()
    const here = await manager("a")
    await time.runUntil(here.call(counter, "k", "add", { by: 5 }))
    expect(await time.runUntil(here.readCheckpoint(counter, "k"))).toEqual({ n: 5 })
  })
})
