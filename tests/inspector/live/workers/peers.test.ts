// Pins the fleet in one page: two managers that share a store and a secret, over real sockets, and everything that
// keeps one from being seen.
import { once } from "node:events"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { afterEach, describe, expect, it } from "vitest"
import { SandboxManager } from "../../../../src/actors/manager/manager.ts"
import { Fleet } from "../../../../src/inspector/live/model/fleet.ts"
import type { ActionAnswer, SandboxDetail, WireMessages, WorkerRow } from "../../../../src/inspector/live/model/wire.ts"
import { EventReader } from "../../../../src/inspector/live/stream/sse.ts"
import { NONCE, PROOF, proofOf } from "../../../../src/inspector/live/workers/signature.ts"
import { type Inspector, inspector, type InspectorOptions, nodeListener } from "../../../../src/inspector/mod.ts"
import { memoryStore } from "../../../../src/locks/stores/memory-store.ts"
import { counter } from "../../../actors/world.ts"
import { row, running, state } from "../made.ts"

const SECRET = "a-secret-of-the-test"
const sandbox = counter()
const store = memoryStore()
const cleanups: (() => Promise<void>)[] = []

/** One worker of the fleet: a manager, and its server at the address that it publishes. */
class Worker {
  readonly manager: SandboxManager
  readonly page: Inspector
  readonly address: string
  readonly #server: Server

  static async start(name: string, options: InspectorOptions = { secret: SECRET }): Promise<Worker> {
    const server = createServer()
    const address = await listening(server)
    const manager = await SandboxManager.start({
      ...{
        store,
        sandboxes: [sandbox],
        address,
        minTenure: 0,
        incarnation: { id: `${name}-${Math.floor(performance.now() * 1000)}` },
      },
      trace: { worker: name },
    })
    const page = inspector(manager, options)
    server.on("request", nodeListener(page))
    const worker = new Worker(manager, page, address, server)
    cleanups.push(() => worker.stop())
    return worker
  }

  constructor(manager: SandboxManager, page: Inspector, address: string, server: Server) {
    this.manager = manager
    this.page = page
    this.address = address
    this.#server = server
  }

  get headers(): Record<string, string> {
    return { authorization: `Bearer ${this.page.token}` }
  }

  async detail(worker: string, key: string): Promise<SandboxDetail> {
    const query = new URLSearchParams({ worker, key }).toString()
    const answer = await fetch(`${this.address}/sandbox?${query}`, { headers: this.headers })
    return (await answer.json()) as SandboxDetail
  }

  async act(request: object): Promise<ActionAnswer> {
    const body = JSON.stringify(request)
    const answer = await fetch(`${this.address}/action`, { method: "POST", headers: this.headers, body })
    return (await answer.json()) as ActionAnswer
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return
    this.#server.close()
    await this.page[Symbol.asyncDispose]()
    await this.manager[Symbol.asyncDispose]()
    this.#server.closeAllConnections()
  }
}

async function listening(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The fleet as a page at this worker has it. */
async function lookAt({ address, headers }: Worker): Promise<Fleet> {
  const fleet = new Fleet()
  const end = new AbortController()
  const answer = await fetch(`${address}/events`, { headers, signal: end.signal })
  const events = new EventReader(1e9)
  const reading = (async () => {
    for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
      for (const { event, data } of events.push(chunk)) {
        fleet.apply(event as keyof WireMessages, JSON.parse(data) as never)
      }
    }
  })().catch(() => {})
  cleanups.push(async () => {
    end.abort()
    await reading
  })
  return fleet
}

const problemsIn = (fleet: Fleet): readonly (string | null)[] =>
  [...fleet.workers.values()].map(({ problem }) => problem)
const workerOf = (fleet: Fleet, name: string): WorkerRow | undefined => fleet.workers.get(name)

describe("a fleet of workers with a secret", () => {
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  })

  it("is seen in one page, whichever worker serves it, and a handoff between two as it happens", async () => {
    const [a, b] = [await Worker.start("a"), await Worker.start("b")]
    await a.manager.use(sandbox, "k1", (count) => ++count.n, { durable: true })
    const fleet = await lookAt(b)
    await expect.poll(() => workerOf(fleet, "a")?.problem).toBeNull()
    await expect.poll(() => fleet.find("a", "counter/k1")?.state).toBe("owning")
    await b.manager.use(sandbox, "k1", (count) => ++count.n)
    await expect.poll(() => fleet.find("b", "counter/k1")?.state).toBe("owning")
    await expect.poll(() => fleet.find("a", "counter/k1")?.state).toBe("released")
    expect(fleet.find("a", "counter/k1")?.edges).toMatchObject({ "owning.work.running>handingOff.work.settling": 1 })
    expect(workerOf(fleet, "a")).toMatchObject({
      address: a.address,
      ttl: 30_000,
      runtime: expect.stringMatching(/^(Node|Deno) /),
    })
    // The former owner hears by the record who has it now, though nobody there waits for it.
    const other = await lookAt(a)
    await expect.poll(() => other.find("b", "counter/k1")?.state).toBe("owning")
  })

  it("tells of a sandbox at another worker what that one believes, beside what the store says", async () => {
    const [a, b] = [await Worker.start("a"), await Worker.start("b")]
    await a.manager.use(sandbox, "k2", (count) => ++count.n, { durable: true })
    const fleet = await lookAt(b)
    await expect.poll(() => fleet.find("a", "counter/k2")).toBeDefined()
    const detail = await b.detail("a", "counter/k2")
    const { token } = fleet.find("a", "counter/k2")!
    expect(detail).toMatchObject({ row: { worker: "a", token }, store: { token, address: a.address, waiterId: null } })
  })

  it("does what is asked of a sandbox at another worker, where that one allows it too", async () => {
    const [a, b] = [
      await Worker.start("a", { secret: SECRET, actions: true }),
      await Worker.start("b", { secret: SECRET, actions: true }),
    ]
    await a.manager.use(sandbox, "k3", (count) => ++count.n, { durable: true })
    const fleet = await lookAt(b)
    await expect.poll(() => fleet.find("a", "counter/k3")).toBeDefined()
    const of = { worker: "a", key: "counter/k3" }
    expect(await b.act({ action: "checkpoint", ...of })).toEqual({ done: true, message: "Its checkpoint is stored." })
    expect(await b.act({ action: "handoff", ...of })).toMatchObject({
      done: true,
      message: expect.stringMatching(/released/),
    })
    expect(await b.act({ action: "handoff", ...of })).toMatchObject({ done: false })
    expect(await b.act({ action: "cordon", worker: "a" })).toMatchObject({ done: true })
    await expect(a.manager.use(sandbox, "k4", () => 0)).rejects.toThrow(/cordoned/)
    await expect.poll(() => workerOf(fleet, "a")?.closed).toBe(true)
  })

  // Tests inspector: Nothing is done with a sandbox unless actions are allowed, also at the worker that has it.
  it("refuses what is asked of another worker that doesn't allow it", async () => {
    const [a, b] = [await Worker.start("a"), await Worker.start("b", { secret: SECRET, actions: true })]
    await a.manager.use(sandbox, "k5", (count) => ++count.n, { durable: true })
    const fleet = await lookAt(b)
    await expect.poll(() => workerOf(fleet, "a")?.problem).toBeNull()
    const answer = await b.act({ action: "cordon", worker: "a" })
    expect(answer).toEqual({ done: false, message: expect.stringContaining("Actions are off") })
  })

  // Tests inspector: A worker that can't be seen is named with the reason.
  it("names a worker that went away, and has it again when it comes back under its name", async () => {
    const [a, b] = [await Worker.start("a"), await Worker.start("b")]
    await a.manager.use(sandbox, "k6", (count) => ++count.n, { durable: true })
    const fleet = await lookAt(b)
    await expect.poll(() => workerOf(fleet, "a")?.problem).toBeNull()
    await a.stop()
    await expect.poll(() => workerOf(fleet, "a")?.problem).toMatch(/nobody listens there|reached/)
    const again = await Worker.start("a")
    await again.manager.use(sandbox, "k6", (count) => ++count.n, { durable: true })
    await b.manager.use(sandbox, "k6", (count) => ++count.n)
    await expect.poll(() => workerOf(fleet, "a")?.address).toBe(again.address)
    expect(problemsIn(fleet)).toEqual([null, null])
  })
})

it("a worker that is listed is asked, whatever the records may name", async () => {
  const a = await Worker.start("a", { secret: SECRET })
  await a.manager.use(sandbox, "k9", (count) => ++count.n, { durable: true })
  const b = await Worker.start("b", { secret: SECRET, allow: () => false, peers: [a.address] })
  const fleet = await lookAt(b)
  await expect.poll(() => [...fleet.rows()].map(({ worker }) => worker)).toContain("a")
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

describe("a worker that can't be seen from another is named with the reason", () => {
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  })

  const never = (): never => {
    throw new Error("no")
  }
  const shared = { secret: SECRET }

  it.each<[string, InspectorOptions, InspectorOptions, RegExp]>([
    // Tests inspector: Only allowed addresses are asked, and a worker's answers count for itself alone.
    ["its address isn't allowed", shared, { ...shared, allow: () => false }, /isn't one that may be asked/],
    ["what says which are allowed throws", shared, { ...shared, allow: never }, /isn't one that may be asked/],
    [
      "it has another secret",
      { secret: "another-secret-of-it" },
      shared,
      /status 403: It is signed with another secret/,
    ],
    ["it has no secret", {}, shared, /status 403: This worker has no secret: give it LEASEHOLD_SECRET/],
    ["the one that asks has no secret", shared, {}, /no secret is shared: give all workers the same LEASEHOLD_SECRET/],
  ])("%s", async (_what, ofA, ofB, problem) => {
    const [a, b] = [await Worker.start("a", ofA), await Worker.start("b", ofB)]
    await a.manager.use(sandbox, "k7", (count) => ++count.n, { durable: true })
    const fleet = await lookAt(b)
    await expect.poll(() => problemsIn(fleet)).toEqual([null, expect.stringMatching(problem)])
    expect([...fleet.rows()].map(({ worker }) => worker)).not.toContain("a")
  })

  it.each<[string, (request: IncomingMessage, response: ServerResponse) => void, RegExp]>([
    // Tests inspector.
    ["it redirects", (_, response) => response.writeHead(302, { location: "/elsewhere" }).end(), /redirects/],
    ["it answers without the secret", (_, response) => eventsOf(response, {}), /doesn't know our secret/],
    ["it is no worker", (_, response) => response.writeHead(404).end("no"), /answers with status 404$/],
    ["it breaks off", (_, response) => response.destroy(), /can't be reached/],
    ["it says what is no JSON", (request, response) => eventsOf(response, proof(request), "data: {"), /no JSON/],
    [
      "it speaks other words",
      (request, response) => eventsOf(response, proof(request), 'event: hello\ndata: {"version":99}'),
      /version 99/,
    ],
  ])("%s", async (_what, listener, problem) => {
    const server = createServer((request, response) => {
      request.resume()
      listener(request, response)
    })
    const address = await listening(server)
    cleanups.push(async () => server.close().closeAllConnections())
    const fleet = await lookAt(await Worker.start("b", { ...shared, peers: [address] }))
    await expect.poll(() => problemsIn(fleet)).toEqual([null, expect.stringMatching(problem)])
  })

  // Tests inspector.
  it("goes on being asked for events, whatever else it is asked for meanwhile", async () => {
    const held: (() => void)[] = []
    const server = createServer((request, response) => {
      if (request.url?.includes("/sandbox") === true) {
        response.writeHead(200, proof(request)).end("{}")
        for (const answer of held.splice(0)) answer()
      } else held.push(() => eventsOf(response, proof(request), toldBy("x")))
    })
    const address = await listening(server)
    cleanups.push(async () => server.close().closeAllConnections())
    const b = await Worker.start("b", { ...shared, peers: [address] })
    const fleet = await lookAt(b)
    await expect.poll(() => held.length).toBe(1)
    await b.detail(new URL(address).host, "counter/k")
    await expect.poll(() => problemsIn(fleet)).not.toContain("it hasn't answered yet")
    expect(problemsIn(fleet)).toEqual([null, null])
  })

  it("only its own sandboxes count, and only what is sound of them, under its own name", async () => {
    const own = { worker: "x", ownerId: "x1", stats: {} }
    const told = [
      ["hello", { version: 1, now: Date.now() }],
      ["workers", [own, { worker: "b", ownerId: "b1" }]],
      [
        "rows",
        [row({ worker: "b", key: "k/1" }), { worker: "x" }, row({ key: "k/2", value: { asleep: "deep" } as never })],
      ],
      ["lines", { lines: [state("k/3", running, Date.now(), { worker: "b" }), { kind: "state", worker: "x" }, 7] }],
    ]
    const text = told.map(([event, data]) => `event: ${event as string}\ndata: ${JSON.stringify(data)}\n\n`).join("")
    const server = createServer((request, response) => eventsOf(response, proof(request), text))
    const address = await listening(server)
    cleanups.push(async () => server.close().closeAllConnections())
    const fleet = await lookAt(await Worker.start("b", { ...shared, peers: [address] }))
    await expect
      .poll(() => [...fleet.rows()].map(({ worker, key }) => [worker, key]))
      .toEqual([
        ["x", "k/1"],
        ["x", "k/3"],
      ])
    expect([...fleet.workers.keys()].sort()).toEqual(["b", "x"])
  })
})

const proof = (request: IncomingMessage): Record<string, string> => ({
  [PROOF]: proofOf(SECRET, String(request.headers[NONCE])),
})

const toldBy = (worker: string): string =>
  [
    ["hello", { version: 1, now: Date.now() }],
    ["workers", [{ worker, ownerId: `${worker}1`, stats: {} }]],
  ]
    .map(([event, data]) => `event: ${event as string}\ndata: ${JSON.stringify(data)}\n\n`)
    .join("")

function eventsOf(response: ServerResponse, headers: Record<string, string>, text = ""): void {
  response.writeHead(200, { "content-type": "text/event-stream", ...headers }).write(`${text}\n\n`)
}
