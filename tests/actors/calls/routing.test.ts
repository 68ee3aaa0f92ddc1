// Calls to sandboxes of other processes, over a network that loses, doubles and delays what is sent.
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { defineSandbox } from "../../../src/actors/api/definition.ts"
import {
  CallInputError,
  CallThrewError,
  CallUnknownError,
  ManagerClosedError,
  type SandboxManager,
  UnknownDefinitionError,
} from "../../../src/mod.ts"
import { cutOff, World } from "../world.ts"
import type { NetworkFault } from "./network.ts"
import { Network } from "./network.ts"

const account = defineSandbox({
  name: "account",
  schema: z.object({ n: z.number() }),
  restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
  checkpoint: ({ n }) => ({ n }),
  calls: {
    add: { durable: true, input: z.object({ by: z.number() }), handle: (state, { by }) => (state.n += by) },
    bump: { handle: (state) => ++state.n },
    get: { readonly: true, handle: ({ n }) => n },
    fail: {
      handle: () => {
        throw Object.assign(new RangeError("too far"), { code: "FAR" })
      },
    },
    wait: {
      handle: async (_state, _input: undefined, { signal }) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve))
        aborted.push(signal.reason)
      },
    },
  },
})
const aborted: unknown[] = []

/** Workers that know each other, the first of which owns the account k. */
const fleet = async (...names: readonly string[]) => {
  const world = new World()
  const network = new Network(world.time)
  const start = async (name: string, overrides = {}): Promise<SandboxManager> => {
    const address = `http://${name}.test`
    const manager = await world.manager(name, account, { address, ...overrides })
    network.join(address, manager)
    return manager
  }
  const managers: SandboxManager[] = []
  for (const name of names) managers.push(await start(name))
  await world.run(managers[0]!.call(account, "k", "add", { by: 1 }))
  return { world, network, start, managers }
}

describe("a call to a sandbox of another process", () => {
  // Tests calls: A call to a sandbox of another process is answered there, and the sandbox stays.
  it("is answered there, and nothing moves", async () => {
    const { world, network, managers } = await fleet("a", "b", "c")
    const [a, b, c] = managers as [SandboxManager, SandboxManager, SandboxManager]
    const all = Array.from({ length: 60 }, (_, index) => [a, b, c][index % 3]!.call(account, "k", "add", { by: 1 }))
    const answers = await world.run(Promise.all(all))
    expect(answers.toSorted((one, other) => one - other)).toEqual(Array.from({ length: 60 }, (_, index) => index + 2))
    expect([world.told("b"), world.told("c")]).toEqual([[], []])
    expect(world.told("a").filter((type) => type === "ReleaseRequested" || type === "Granted")).toEqual([])
    expect(b.stats()).toMatchObject({ callsForwarded: 20, owning: 0 })
    expect(network.sent.every(({ to }) => to === "http://a.test")).toBe(true)
    await world.end()
  })

  it("reads the store once for many calls, as it remembers the owner", async () => {
    const { world, managers } = await fleet("a", "b")
    const reads = (): number => world.store.script.requests.filter(({ op }) => op === "read").length
    await world.run(managers[1]!.call(account, "k", "get"))
    const before = reads()
    for (let calls = 0; calls < 10; calls++) await world.run(managers[1]!.call(account, "k", "get"))
    expect(reads()).toBe(before)
    await world.end()
  })

  it("rejects with what its handler threw, or with why it isn't taken, as it does there", async () => {
    const { world, managers } = await fleet("a", "b")
    const threw = await world.failure(managers[1]!.call(account, "k", "fail"))
    expect(threw).toBeInstanceOf(CallThrewError)
    expect(threw).toMatchObject({ thrown: { name: "RangeError", message: "too far", code: "FAR" } })
    // @ts-expect-error a wrong input
    expect(await world.failure(managers[1]!.call(account, "k", "add", { by: "x" }))).toBeInstanceOf(CallInputError)
    await world.end()
  })

  it("that nobody waits for any more is aborted there", async () => {
    const { world, managers } = await fleet("a", "b")
    aborted.length = 0
    const late = await world.failure(managers[1]!.call(account, "k", "wait", undefined, { timeout: "1 s" }))
    expect(late).toBeInstanceOf(CallUnknownError)
    await world.time.advance(100)
    expect(aborted).toHaveLength(1)
    expect(await world.run(managers[1]!.call(account, "k", "get"))).toBe(1)
    await world.end()
  })

  it("is asked for anew where the owner has become another", async () => {
    const { world, network, managers } = await fleet("a", "b", "c")
    const [, b, c] = managers
    await world.run(b!.call(account, "k", "get"))
    await world.run(c!.restoreSandbox(account, "k", { whenOwned: "request" }))
    network.sent.length = 0
    expect(await world.run(b!.call(account, "k", "get"))).toBe(1)
    expect(network.sent.map(({ to }) => to)).toEqual(["http://a.test", "http://c.test"])
    await world.end()
  })

  it("comes to the next owner while the sandbox is handed over", async () => {
    const { world, managers } = await fleet("a", "b", "c")
    const [a, b, c] = managers
    await world.run(b!.call(account, "k", "get"))
    const moved = c!.restoreSandbox(account, "k", { whenOwned: "request" })
    const calls = Array.from({ length: 30 }, (_, index) => [a, b, c][index % 3]!.call(account, "k", "add", { by: 1 }))
    await world.run(moved)
    const answers = await world.run(Promise.all(calls))
    expect(answers.toSorted((one, other) => one - other)).toEqual(Array.from({ length: 30 }, (_, index) => index + 2))
    await world.end()
  })

  it("runs here where the owner has ended, as soon as its lease is over", async () => {
    const { world, network, managers, start } = await fleet("a", "b")
    const wire = world.wire()
    const dying = await start("d", { store: wire })
    await world.run(dying.call(account, "other", "add", { by: 5 }))
    expect(await world.run(managers[1]!.call(account, "other", "get"))).toBe(5)
    cutOff(wire)
    network.leave("http://d.test")
    const answer = managers[1]!.call(account, "other", "add", { by: 2 }, { timeout: "2 min" })
    expect(await world.run(answer)).toBe(7)
    await world.end()
  })

  it("goes on from a manager that drains, and is refused where nobody has the sandbox then", async () => {
    const { world, managers } = await fleet("a", "b")
    const [a, b] = managers
    await world.run(b!.call(account, "mine", "add", { by: 3 }))
    await world.run(a!.drain())
    expect(await world.run(a!.call(account, "mine", "get"))).toBe(3)
    expect(await world.failure(a!.call(account, "k", "get"))).toBeInstanceOf(ManagerClosedError)
    await world.end()
  })
})

describe("a call whose answer is lost", () => {
  it.each<NetworkFault>(["lostRequest", "lostAnswer", { doubled: 0 }, { doubled: 500 }])(
    "has its effect once where it is durable: %j",
    async (fault) => {
      const { world, network, managers } = await fleet("a", "b")
      network.fault(fault)
      expect(await world.run(managers[1]!.call(account, "k", "add", { by: 1 }))).toBe(2)
      await world.time.advance(1000)
      expect(await world.run(managers[0]!.call(account, "k", "get"))).toBe(2)
      await world.end()
    },
  )

  it("is made again where it is readonly, and unknown where it is neither", async () => {
    const { world, network, managers } = await fleet("a", "b")
    network.fault("lostAnswer")
    expect(await world.run(managers[1]!.call(account, "k", "get"))).toBe(1)
    network.fault("lostAnswer")
    expect(await world.failure(managers[1]!.call(account, "k", "bump"))).toBeInstanceOf(CallUnknownError)
    expect(await world.run(managers[1]!.call(account, "k", "get"))).toBe(2)
    await world.end()
  })

  it("has its effect once through a crash of its owner", async () => {
    const { world, network, managers, start } = await fleet("a", "b")
    const host = world.host("d")
    const dying = await start("d", { clock: host })
    await world.run(dying.call(account, "other", "add", { by: 5 }))
    await world.run(managers[1]!.call(account, "other", "get"))
    network.fault("lostAnswer")
    const call = managers[1]!.call(account, "other", "add", { by: 2 }, { timeout: "3 min" })
    await world.time.advance(10)
    host.kill()
    network.leave("http://d.test")
    expect(await world.run(call)).toBe(7)
    expect(await world.run(managers[0]!.call(account, "other", "get"))).toBe(7)
  })
})

describe("a call from a process that is no worker", () => {
  it("is made at any worker, which sends it on once", async () => {
    const { world, network } = await fleet("a", "b")
    const request = { definition: "account", key: "k", call: "get" }
    expect(await world.run(network.ask("http://b.test", request))).toEqual({
      kind: "answer",
      answer: { kind: "value", value: 1 },
    })
    expect(network.sent.map(({ to }) => to)).toEqual(["http://a.test"])
    await world.end()
  })

  it("that can't be is refused with what is wrong", async () => {
    const { world, network } = await fleet("a")
    const ask = async (request: object): Promise<unknown> => {
      const asked = { definition: "account", key: "k", call: "get", ...request }
      const result = await world.run(network.ask("http://a.test", asked))
      return result.kind === "refused" ? result.error.code : result
    }
    expect(await ask({ definition: "nothing" })).toBe(new UnknownDefinitionError({ message: "", next: "" }).code)
    expect(await ask({ call: "nothing" })).toBe("LEASEHOLD_CALL")
    expect(await ask({ key: "" })).toBe("LEASEHOLD_KEY")
    expect(await ask({ call: "add", input: { by: 1 } })).toBe("LEASEHOLD_CONFIG")
    expect(await ask({ call: "add", input: {}, durable: { id: "1", sentAt: 0 } })).toBe("LEASEHOLD_CALL_OLD")
    const now = { id: "1", sentAt: world.time.read().wall }
    expect(await ask({ call: "add", input: {}, durable: now })).toBe("LEASEHOLD_CALL_INPUT")
    expect(await ask({ durable: now })).toBe("LEASEHOLD_CONFIG")
    await world.end()
  })
})
