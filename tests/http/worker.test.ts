// Calls between two managers over real HTTP: what crosses, and what is refused.
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { listen, nodeListener, serveWorker, type WorkerOptions } from "../../src/http/mod.ts"
import { Signing } from "../../src/http/signing.ts"
import { CallThrewError, defineSandbox, memoryStore, SandboxManager } from "../../src/mod.ts"
import { liveClock } from "../../src/runtime/time/clock.ts"

const secret = "a-secret-of-one-fleet"
const heard: string[] = []

const counter = defineSandbox({
  name: "counter",
  schema: z.object({ n: z.number() }),
  restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
  checkpoint: ({ n }) => ({ n }),
  calls: {
    add: { durable: true, input: z.object({ by: z.number() }), handle: (state, { by }) => (state.n += by) },
    get: { readonly: true, handle: ({ n }) => n },
    echo: { handle: (_state, input: string) => input },
    repeat: { handle: (_state, { text, times }: { text: string; times: number }) => text.repeat(times) },
    fail: {
      handle: () => {
        throw Object.assign(new RangeError("too far"), { code: "FAR" })
      },
    },
    wait: {
      handle: async (_state, _input: undefined, { signal }) => {
        heard.push("begun")
        await new Promise((resolve) => signal.addEventListener("abort", resolve))
        heard.push("aborted")
      },
    },
  },
})

let stack: AsyncDisposableStack
let store: ReturnType<typeof memoryStore>
beforeEach(() => {
  stack = new AsyncDisposableStack()
  store = memoryStore()
  heard.length = 0
})
afterEach(() => stack.disposeAsync())

/** A worker of its own incarnation, at an address of its own or at one that it only says to have. */
const worker = async (id: string, options: WorkerOptions & { readonly address?: string } = {}) => {
  const { address, ...rest } = options
  const server = stack.use(await listen())
  const start = { store, sandboxes: [counter], address: address ?? server.address, incarnation: { id }, minTenure: 0 }
  const manager = stack.use(await SandboxManager.start(start))
  server.serve(serveWorker(manager, { secret, ...rest }))
  return { manager, address: server.address }
}

const two = async (of: Parameters<typeof worker>[1] = {}, other: Parameters<typeof worker>[1] = {}) => {
  const [a, b] = [await worker("a", of), await worker("b", other)]
  await a.manager.call(counter, "k", "add", { by: 1 })
  return { a, b }
}
const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "no failure",
    (error: unknown) => error,
  )

describe("calls over HTTP", () => {
  it("are answered by the owner, with what it answers and what its handler throws", async () => {
    const { b } = await two()
    expect(await b.manager.call(counter, "k", "add", { by: 2 })).toBe(3)
    expect(await b.manager.call(counter, "k", "echo", "ü✓\u2028")).toBe("ü✓\u2028")
    const threw = await failure(b.manager.call(counter, "k", "fail"))
    expect(threw).toBeInstanceOf(CallThrewError)
    expect(threw).toMatchObject({ thrown: { name: "RangeError", message: "too far", code: "FAR" } })
    // @ts-expect-error a wrong input
    expect(await failure(b.manager.call(counter, "k", "add", {}))).toMatchObject({
      _tag: "CallInputError",
      key: "counter/k",
    })
    expect(await b.manager.call(counter, "k", "get")).toBe(3)
  })

  it("that their caller gives up are aborted at the owner", async () => {
    const { b } = await two()
    const given = new AbortController()
    const call = failure(b.manager.call(counter, "k", "wait", undefined, { signal: given.signal }))
    await expect.poll(() => heard).toEqual(["begun"])
    given.abort()
    expect(await call).toMatchObject({ _tag: "CallUnknownError" })
    await expect.poll(() => heard).toEqual(["begun", "aborted"])
  })

  it("don't go to an address that isn't allowed, or is none", async () => {
    const { a, b } = await two({ address: "http://203.0.113.1:8080" })
    expect(await failure(b.manager.call(counter, "k", "get"))).toMatchObject({
      _tag: "CallRouteError",
      message: expect.stringContaining("http://203.0.113.1:8080/, which isn't allowed") as string,
    })
    expect(await a.manager.call(counter, "k", "get")).toBe(1)
  })

  it("to a worker with another secret are unknown, as its refusal can't be proven, and say so", async () => {
    const { b } = await two({}, { secret: "another-secret-of-another" })
    expect(await failure(b.manager.call(counter, "k", "echo", "x"))).toMatchObject({
      _tag: "CallUnknownError",
      message: expect.stringContaining("the signature is of another secret") as string,
    })
  })

  // Tests calls: No address that isn't allowed is contacted, however it is written.
  it.each(["//ADDRESS", "/.//ADDRESS/", "/\\ADDRESS"])("go to no other host by a path such as %s", async (path) => {
    const asked: string[] = []
    const other = createServer((request, response) => {
      asked.push(request.url ?? "")
      response.end()
    })
    other.listen(0, "127.0.0.2")
    await new Promise((resolve) => other.once("listening", resolve))
    stack.defer(() => void other.close())
    const host = `127.0.0.2:${(other.address() as AddressInfo).port}`
    const allow = ({ hostname }: URL): boolean => hostname === "127.0.0.1"
    const { b } = await two({ address: `http://127.0.0.1:1${path.replace("ADDRESS", host)}` }, { allow })
    await failure(b.manager.call(counter, "k", "echo", "x", { timeout: "1 s" }))
    expect(asked).toEqual([])
  })

  it.each([
    [
      "throws",
      () => {
        throw new Error("allow fails")
      },
    ],
    ["promises", async () => true],
  ])("are refused where allow %s", async (_, allow) => {
    const { b } = await two({}, { allow: allow as unknown as () => boolean })
    expect(await failure(b.manager.call(counter, "k", "get"))).toMatchObject({ _tag: "CallRouteError" })
  })

  it("find the next owner, and a new life at the same address", async () => {
    const { a, b } = await two()
    const c = await worker("c")
    expect(await b.manager.call(counter, "k", "get")).toBe(1)
    await c.manager.restoreSandbox(counter, "k", { whenOwned: "request" })
    expect(await b.manager.call(counter, "k", "get")).toBe(1)
    expect(a.manager.stats()).toMatchObject({ owning: 0 })
    await c.manager.drain()
    const again = await worker("d", { address: a.address })
    await again.manager.call(counter, "k", "add", { by: 1 })
    expect(await failure(b.manager.call(counter, "k", "get", undefined, { timeout: "1 s" }))).toMatchObject({
      _tag: "LockTimeoutError", // the manager at that address isn't the owner that the record names
    })
  })

  it("that come many at once are all answered", async () => {
    const { b } = await two()
    const all = Array.from({ length: 600 }, (_, index) => b.manager.call(counter, "k", "echo", `${index}`))
    expect(await Promise.all(all)).toEqual(all.map((_, index) => `${index}`))
  })

  it("that are answered by somebody else at the owner's address are unknown", async () => {
    const impostor = createServer((_request, response) => response.end('{"answer":{"kind":"value","value":666}}'))
    impostor.listen(0, "127.0.0.1")
    await new Promise((resolve) => impostor.once("listening", resolve))
    stack.defer(() => void impostor.close())
    const address = `http://127.0.0.1:${(impostor.address() as AddressInfo).port}`
    const { b } = await two({ address })
    expect(await failure(b.manager.call(counter, "k", "echo", "x"))).toMatchObject({ _tag: "CallUnknownError" })
  })

  it("over the cap say so: an input at its sender and at its worker, an answer as an error of the call", async () => {
    const { a, b } = await two({ maxBody: 600 }, { maxBody: 800 })
    const large = (length: number) =>
      failure(b.manager.call(counter, "k", "repeat", { text: "x".repeat(length / 4), times: 4 }))
    const input = (length: number) => failure(b.manager.call(counter, "k", "echo", "x".repeat(length)))
    expect(await input(900)).toMatchObject({ _tag: "CallInputError", key: "counter/k" })
    expect(await input(650)).toMatchObject({ _tag: "CallInputError" })
    expect(await large(700)).toMatchObject({ _tag: "CallThrewError", thrown: { name: "RangeError" } })
    expect(await b.manager.call(counter, "k", "echo", "x".repeat(100))).toHaveLength(100)
    expect(await a.manager.call(counter, "k", "echo", "x".repeat(2000))).toHaveLength(2000)
  })
})

describe("a worker", () => {
  const ask = async (address: string, body: string, audience = address) => {
    const signing = new Signing(secret, liveClock, () => liveClock.read().wall)
    const { headers } = await signing.sign({ address: audience, subject: "POST /_leasehold/call", body })
    const answer = await fetch(`${address}/_leasehold/call`, { method: "POST", headers, body })
    return { status: answer.status, body: (await answer.json()) as { error?: { tag: string } } }
  }
  const call = { version: 1, definition: "counter", key: "k", call: "get", forwarded: false }

  // Tests calls: A request that can't be taken has a status and says what is wrong.
  it.each([
    ["no JSON", "{", 400, "InvalidConfigError"],
    ["a list", "[]", 400, "InvalidConfigError"],
    ["another version", JSON.stringify({ ...call, version: 2 }), 400, "InvalidConfigError"],
    ["no key", JSON.stringify({ ...call, key: 5 }), 400, "InvalidConfigError"],
    [
      "a bad id",
      JSON.stringify({ ...call, call: "add", durable: { id: "a b", sentAt: 1 } }),
      400,
      "InvalidConfigError",
    ],
    ["a bad budget", JSON.stringify({ ...call, budget: -1 }), 400, "InvalidConfigError"],
    ["an unknown definition", JSON.stringify({ ...call, definition: "x" }), 404, "UnknownDefinitionError"],
    ["an unknown call", JSON.stringify({ ...call, call: "x" }), 404, "UnknownCallError"],
    ["the name of an object's own", JSON.stringify({ ...call, call: "constructor" }), 404, "UnknownCallError"],
    ["an empty key", JSON.stringify({ ...call, key: "" }), 400, "InvalidKeyError"],
    [
      "a bad input",
      JSON.stringify({ ...call, call: "add", durable: { id: "1", sentAt: Date.now() }, input: {} }),
      400,
      "CallInputError",
    ],
    [
      "an old call",
      JSON.stringify({ ...call, call: "add", durable: { id: "1", sentAt: 0 }, input: { by: 1 } }),
      410,
      "CallTooOldError",
    ],
  ])("refuses %s", async (_, body, status, tag) => {
    const { address } = await worker("a")
    const answer = await ask(address, body)
    expect([answer.status, answer.body.error?.tag]).toEqual([status, tag])
  })

  it("answers nobody without a signature, and only what it has", async () => {
    const { address } = await worker("a")
    const post = (path: string, init: RequestInit = {}) => fetch(`${address}${path}`, { method: "POST", ...init })
    expect((await post("/_leasehold/call", { body: JSON.stringify(call) })).status).toBe(401)
    expect((await ask(address, JSON.stringify(call), "http://elsewhere.test")).status).toBe(401)
    expect((await fetch(`${address}/_leasehold/call`)).status).toBe(405)
    expect((await fetch(`${address}/`)).status).toBe(404)
    expect((await post("/_leasehold/call", { body: "x".repeat(2_000_000) })).status).toBe(401)
    expect((await ask(address, "x".repeat(2_000_000))).body.error?.tag).toBe("CallInputError")
  })

  it("takes a token once, and of a repetition says that nobody knows", async () => {
    const { address } = await worker("a")
    const body = JSON.stringify({ ...call, call: "echo", input: "x" })
    const signing = new Signing(secret, liveClock, () => liveClock.read().wall)
    const { headers, isAnswer } = await signing.sign({ address, subject: "POST /_leasehold/call", body })
    const send = () => fetch(`${address}/_leasehold/call`, { method: "POST", headers, body })
    const [first, again] = [await send(), await send()]
    expect([first.status, again.status]).toEqual([200, 502])
    expect(await isAnswer!(again.status, again.headers, await again.text())).toBe(true)
    const altered = await fetch(`${address}/_leasehold/call`, {
      method: "POST",
      headers: (await signing.sign({ address, subject: "POST /_leasehold/call", body })).headers,
      body: body.replace("x", "y"),
    })
    expect((await altered.json()) as object).toMatchObject({ error: { tag: "CallRouteError" } })
  })

  it("is alive before it is ready, and while it drains", async () => {
    const server = stack.use(await listen())
    expect((await fetch(`${server.address}/readyz`)).status).toBe(503)
    const manager = stack.use(await SandboxManager.start({ store, sandboxes: [counter], address: server.address }))
    server.serve(serveWorker(manager, { secret }))
    const status = async (path: string): Promise<number> => (await fetch(`${server.address}${path}`)).status
    expect([await status("/healthz"), await status("/readyz")]).toEqual([200, 200])
    await manager.drain()
    expect([await status("/healthz"), await status("/readyz")]).toEqual([200, 503])
  })

  it("is mounted in a server of node:http", async () => {
    const server = createServer()
    server.listen(0, "127.0.0.1")
    await new Promise((resolve) => server.once("listening", resolve))
    stack.defer(() => {
      server.closeAllConnections()
      server.close()
    })
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const manager = stack.use(await SandboxManager.start({ store, sandboxes: [counter], address }))
    server.on("request", nodeListener(serveWorker(manager, { secret })))
    const answer = await ask(address, JSON.stringify(call))
    expect(answer).toMatchObject({ status: 200, body: { answer: { kind: "value", value: 0 } } })
  })

  it("takes no secret that is short, no unknown option, and none at all", async () => {
    const start = { store, sandboxes: [counter], address: "http://127.0.0.1:1" }
    const manager = stack.use(await SandboxManager.start(start))
    const bad: [object, RegExp][] = [
      [{ secret: "short" }, /secret is a text of 5 characters/],
      [{ secret, allowed: [] }, /allowed/],
      [{ secret, maxBody: 0 }, /maxBody/],
      [{}, /LEASEHOLD_SECRET isn't set/],
    ]
    for (const [options, why] of bad) expect(() => serveWorker(manager, options)).toThrow(why)
    const nowhere = stack.use(await SandboxManager.start({ store, sandboxes: [counter], incarnation: { id: "n" } }))
    expect(() => serveWorker(nowhere, { secret })).toThrow(/address is null/)
    await expect(listen({ host: "0.0.0.0" })).rejects.toMatchObject({ _tag: "InvalidConfigError" })
    await expect(listen({ port: 70_000 })).rejects.toMatchObject({ _tag: "InvalidConfigError" })
  })
})
