// How a call ends that isn't simply answered: its time is over, its caller leaves, its sandbox is lost, too many wait.
import { describe, expect, it } from "vitest"
import type { CallContext } from "../../../src/actors/api/calls.ts"
import { defineSandbox } from "../../../src/actors/api/definition.ts"
import {
  CallUnknownError,
  LockCancelledError,
  LockTimeoutError,
  OverloadedError,
  OwnedElsewhereError,
  unchecked,
} from "../../../src/mod.ts"
import { cutOff, failure, gate, World } from "../world.ts"

/** A sandbox whose handlers do what the test says. */
const scripted = (handle: (state: { n: number }, context: CallContext) => unknown, callQueue = 1000) =>
  defineSandbox({
    name: "scripted",
    schema: unchecked<{ n: number }>(),
    restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
    checkpoint: ({ n }) => ({ n }),
    callQueue,
    calls: {
      plain: { handle: (state, _input: undefined, context) => handle(state, context) },
      durable: { durable: true, handle: (state, _input: undefined, context) => handle(state, context) },
      readonly: { readonly: true, handle: (state, _input: undefined, context) => handle(state, context) },
    },
  })

const aborted = async ({ signal }: CallContext): Promise<never> => {
  await new Promise((resolve) => signal.addEventListener("abort", resolve))
  throw signal.reason
}

describe("a call", () => {
  // Tests calls: A call settles within its timeout, and says where nobody knows its effect.
  it("ends at its timeout, which aborts its handler, and says that nobody knows its effect", async () => {
    const world = new World()
    const reasons: unknown[] = []
    const sandbox = scripted((_state, context) => aborted(context).catch((error: unknown) => reasons.push(error)))
    const here = await world.manager("a", sandbox)
    const late = await world.failure(here.call(sandbox, "k", "plain", undefined, { timeout: "2 s" }))
    expect(late).toBeInstanceOf(CallUnknownError)
    expect(late).toMatchObject({ cause: { _tag: "LockTimeoutError", limitMs: 2000 }, id: undefined })
    expect(reasons).toEqual([expect.any(LockTimeoutError)])
    await world.end()
  })

  it("that its caller gives up is cancelled while it waits, and unknown once it has begun", async () => {
    const world = new World()
    const begun = gate()
    const sandbox = scripted((_state, context) => {
      begun.resolve()
      return aborted(context)
    })
    const here = await world.manager("a", sandbox)
    const [first, second] = [new AbortController(), new AbortController()]
    const running = failure(here.call(sandbox, "k", "durable", undefined, { signal: first.signal }))
    const waiting = failure(here.call(sandbox, "k", "durable", undefined, { signal: second.signal }))
    await world.run(begun.promise)
    second.abort()
    expect(await world.run(waiting)).toBeInstanceOf(LockCancelledError)
    first.abort()
    const unknown = await world.run(running)
    expect(unknown).toBeInstanceOf(CallUnknownError)
    expect(unknown).toMatchObject({ cause: { _tag: "LockCancelledError" }, id: expect.any(String) as string })
    await world.end()
  })

  // Tests calls: No more calls wait for a sandbox than may.
  it("too many is refused, and those that wait are answered", async () => {
    const world = new World()
    const going = gate()
    const sandbox = scripted(async (state) => {
      await going.promise
      return ++state.n
    }, 2)
    const here = await world.manager("a", sandbox)
    const first = here.call(sandbox, "k", "plain")
    await world.run(here.restoreSandbox(sandbox, "k"))
    const all = [first, here.call(sandbox, "k", "plain"), here.call(sandbox, "k", "plain")]
    expect(await world.failure(here.call(sandbox, "k", "plain"))).toBeInstanceOf(OverloadedError)
    const elsewhere = here.call(sandbox, "other", "plain")
    going.resolve()
    expect(await world.run(Promise.all([...all, elsewhere]))).toEqual([1, 2, 3, 1])
    expect(await world.run(here.call(sandbox, "k", "plain"))).toBe(4)
    await world.end()
  })
})

describe("a call whose sandbox is lost while it runs", () => {
  /** The lease ends in the first handler; the store answers again in the second. */
  const lost = async (name: "plain" | "durable" | "readonly") => {
    const world = new World()
    const begun = gate()
    let runs = 0
    const sandbox = scripted((state, context) => {
      state.n += 10
      if (++runs > 1) return state.n
      begun.resolve()
      return aborted(context)
    })
    const wire = world.wire()
    const here = await world.manager("a", sandbox, { store: wire })
    const call = here.call(sandbox, "k", name, undefined, { timeout: "5 min" }).catch((error: unknown) => error)
    await world.run(begun.promise)
    cutOff(wire)
    await world.time.advance(30_000)
    wire.script.heal()
    const answer = await world.run(call)
    await world.end()
    return { answer, runs }
  }

  // Tests calls: Where nobody knows whether a call had its effect, only a durable or a readonly one is made again.
  it("is not made again where it may have had an effect", async () => {
    const { answer, runs } = await lost("plain")
    expect(answer).toBeInstanceOf(CallUnknownError)
    expect(answer).toMatchObject({ cause: { _tag: "LockLostError" } })
    expect(runs).toBe(1)
  })

  it.each(["durable", "readonly"] as const)(
    "is made again where it is %s, of the state that was saved",
    async (name) => {
      expect(await lost(name)).toEqual({ answer: 10, runs: 2 })
    },
  )

  it("is unknown where the sandbox went to another process meanwhile", async () => {
    const world = new World()
    const begun = gate()
    const sandbox = scripted((_state, context) => {
      begun.resolve()
      return aborted(context)
    })
    const wire = world.wire()
    const here = await world.manager("a", sandbox, { store: wire })
    const there = await world.manager("b", sandbox)
    const call = failure(here.call(sandbox, "k", "durable", undefined, { timeout: "5 min" }))
    await world.run(begun.promise)
    cutOff(wire)
    await world.run(there.restoreSandbox(sandbox, "k", { timeout: "2 min" }))
    wire.script.heal()
    const unknown = await world.run(call)
    expect(unknown).toBeInstanceOf(CallUnknownError)
    expect((unknown as CallUnknownError).cause).toBeInstanceOf(OwnedElsewhereError)
    await world.end()
  })
})
