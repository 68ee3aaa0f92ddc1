// A client that is no worker, over real HTTP: any worker answers it, and it finds another one where that fails.
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { rolldown } from "rolldown"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { callable, client } from "../../src/client/mod.ts"
import { type WorkerServer, listen, serveWorker, signedBy, type WorkerOptions } from "../../src/http/mod.ts"
import { CallThrewError, defineSandbox, memoryStore, SandboxManager } from "../../src/mod.ts"

const secret = "a-secret-of-one-fleet"

const counter = defineSandbox({
  name: "counter",
  schema: z.object({ n: z.number() }),
  restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
  checkpoint: ({ n }) => ({ n }),
  calls: {
    add: { durable: true, input: z.object({ by: z.number() }), handle: (state, { by }) => (state.n += by) },
    get: { readonly: true, handle: ({ n }) => n },
    fail: {
      handle: () => {
        throw Object.assign(new RangeError("too far"), { code: "FAR" })
      },
    },
    wait: {
      handle: (_state, _input: undefined, { signal }) =>
        new Promise((resolve) => signal.addEventListener("abort", resolve)),
    },
  },
})

let stack: AsyncDisposableStack
let store: ReturnType<typeof memoryStore>
beforeEach(() => {
  stack = new AsyncDisposableStack()
  store = memoryStore()
})
afterEach(() => stack.disposeAsync())

const worker = async (
  id: string,
  options: WorkerOptions = {},
): Promise<{ server: WorkerServer; manager: SandboxManager }> => {
  const server = stack.use(await listen())
  const start = { store, sandboxes: [counter], address: server.address, incarnation: { id } }
  const manager = stack.use(await SandboxManager.start(start))
  server.serve(serveWorker(manager, { secret, ...options }))
  return { server, manager }
}
const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "no failure",
    (error: unknown) => error,
  )

describe("a client", () => {
  // Tests calls: A client that is no worker makes the same calls, at any of several workers.
  it("is answered by the owner, whichever worker it asks, and asks that one the next time", async () => {
    const [a, b] = [await worker("a"), await worker("b")]
    await a.manager.call(counter, "k", "add", { by: 1 })
    const { call } = client([counter], { workers: [b.server.address, a.server.address], auth: signedBy(secret) })
    const answers: number[] = []
    for (const by of [1, 2, 3]) answers.push(await call(counter, "k", "add", { by }))
    expect(answers).toEqual([2, 4, 7])
    expect(await call(counter, "k", "get")).toBe(7)
    expect([b.manager.stats().callsForwarded, b.manager.stats().owning]).toEqual([1, 0])
  })

  it("finds another worker where one is gone, with the id of the call", async () => {
    const [a, b] = [await worker("a"), await worker("b")]
    const { call } = client([counter], { workers: [a.server.address, b.server.address], auth: signedBy(secret) })
    expect(await call(counter, "k", "add", { by: 1 })).toBe(1)
    await a.manager[Symbol.asyncDispose]()
    await a.server[Symbol.asyncDispose]()
    expect(await call(counter, "k", "add", { by: 1 })).toBe(2)
    const known = { id: "payment", sentAt: Date.now() }
    expect(await call(counter, "k", "add", { by: 5 }, known)).toBe(7)
    expect(await call(counter, "k", "add", { by: 5 }, known)).toBe(7)
  })

  it("rejects as a manager does", async () => {
    const a = await worker("a")
    const { call } = client([counter], { workers: [a.server.address], auth: signedBy(secret) })
    const threw = await failure(call(counter, "k", "fail"))
    expect(threw).toBeInstanceOf(CallThrewError)
    expect(threw).toMatchObject({ thrown: { name: "RangeError", message: "too far", code: "FAR" } })
    // @ts-expect-error a wrong input
    expect(await failure(call(counter, "k", "add", {}))).toMatchObject({ _tag: "CallInputError" })
    // @ts-expect-error no such call
    expect(await failure(call(counter, "k", "subtract", {}))).toMatchObject({ _tag: "UnknownCallError" })
    // @ts-expect-error an unknown option
    expect(await failure(call(counter, "k", "get", undefined, { durabel: 1 }))).toMatchObject({
      _tag: "InvalidConfigError",
    })
    expect(await failure(call(counter, "", "get"))).toMatchObject({ _tag: "InvalidConfigError" })
    const late = await failure(call(counter, "k", "wait", undefined, { timeout: "100 ms" }))
    expect(late).toMatchObject({ _tag: "CallUnknownError", cause: { _tag: "LockTimeoutError" } })
    const given = AbortSignal.abort()
    expect(await failure(call(counter, "k", "get", undefined, { signal: given }))).toMatchObject({
      _tag: "LockCancelledError",
    })
    const gone = await listen()
    await gone[Symbol.asyncDispose]()
    const nobody = client([counter], { workers: [gone.address], auth: signedBy(secret) })
    expect(await failure(nobody.call(counter, "k", "get", undefined, { timeout: "100 ms" }))).toMatchObject({
      _tag: "LockTimeoutError",
    })
  })

  it("without a secret is known by what the worker's auth knows, and by nothing else", async () => {
    const auth = ({ headers }: Request): boolean => headers.get("x-session") === "ada"
    const a = await worker("a", { auth })
    const with_ = (session: string) =>
      client([counter], { workers: [a.server.address], auth: () => ({ headers: { "x-session": session } }) })
    expect(await with_("ada").call(counter, "k", "add", { by: 1 })).toBe(1)
    expect(await failure(with_("eve").call(counter, "k", "fail"))).toMatchObject({ _tag: "CallUnknownError" })
  })

  it("knows a definition by its name and the kinds of its calls, where that is not to be loaded", async () => {
    const a = await worker("a")
    const described = callable<typeof counter>({
      name: "counter",
      calls: { add: { durable: true }, get: { readonly: true }, fail: {}, wait: {} },
    })
    const { call } = client([described], { workers: [a.server.address], auth: signedBy(secret) })
    expect(await call(described, "k", "add", { by: 2 })).toBe(2)
    // @ts-expect-error a call is missing
    expect(() => callable<typeof counter>({ name: "counter", calls: {} })).not.toThrow()
  })

  it("refuses options that can't work", () => {
    const auth = signedBy(secret)
    const bad: [() => unknown, RegExp][] = [
      [() => client([counter], { workers: [], auth }), /workers is empty/],
      [() => client([counter], { workers: ["ftp://x"], auth }), /workers has/],
      [() => client([counter], { workers: ["http://x"] } as never), /auth/],
      [() => client([counter], { workers: ["http://x"], auth, x: 1 } as never), /x/],
      [() => client([{}] as never, { workers: ["http://x"], auth }), /definitions has/],
    ]
    for (const [make, why] of bad) expect(make).toThrow(why)
  })
})

describe("the client's code", () => {
  it("is under 10 KB minified and gzipped, and has neither XState nor Effect, RxJS, a store, nor a module of Node's", async () => {
    const root = fileURLToPath(new URL("../..", import.meta.url))
    const bundle = await rolldown({
      input: `${root}src/client/mod.ts`,
      platform: "browser",
      treeshake: { moduleSideEffects: false },
      tsconfig: false,
    })
    const { output } = await bundle.generate({ format: "esm", minify: true })
    await bundle.close()
    const modules = output[0].moduleIds.map((id) => id.replace(root, ""))
    expect(modules.filter((id) => /node_modules|stores|chart|engine/.test(id))).toEqual([])
    expect(output[0].imports).toEqual([])
    expect(gzipSync(output[0].code).byteLength).toBeLessThan(10_000)
    expect(readFileSync(`${root}src/client/mod.ts`, "utf8")).not.toMatch(/least-node/)
  })
})
