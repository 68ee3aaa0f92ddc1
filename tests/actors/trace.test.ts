// Pins what a manager writes as its trace: the simulator's lines, of its own sandboxes alone, redacted; that nobody
// waits for it, that its last lines are there at the end, and that nothing is made while nobody reads.
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { insideOf } from "../../src/actors/inside/inside.ts"
import { TraceWriteError } from "../../src/locks/api/errors.ts"
import { InvalidConfigError, memoryStore, SandboxManager, StoreLock } from "../../src/mod.ts"
import { allInvariants, checkTrace, invariants } from "../../src/testing/invariants/mod.ts"
import { parseTrace } from "../../src/trace/trace-text.ts"
import type { CallLine, LockLine, RequestLine, StateLine, TraceLine, WorkLine } from "../../src/trace/trace.ts"
import { counter, failure, type Overrides, World } from "./world.ts"

const ofKind = <L extends TraceLine>(lines: readonly TraceLine[], kind: L["kind"]): L[] =>
  lines.filter((line): line is L => line.kind === kind)

const sections = (lines: readonly TraceLine[]): string[] =>
  ofKind<WorkLine>(lines, "work").map(({ work, edge, reason }) => [work, edge, reason].filter(Boolean).join(" "))

const calls = (lines: readonly TraceLine[]): string[] =>
  ofKind<CallLine>(lines, "call").map(({ call, edge }) => `${call} ${edge}`)

/** Two managers that hand a counter over, and what each wrote. */
async function handoff(overrides: (lines: TraceLine[]) => Overrides): Promise<{ a: TraceLine[]; b: TraceLine[] }> {
  const world = new World()
  const sandbox = counter({
    run: async (_state, { turn, checkpoint }) => {
      await turn(() => {})
      await checkpoint()
    },
  })
  const [a, b]: [TraceLine[], TraceLine[]] = [[], []]
  const first = await world.manager("a", sandbox, overrides(a))
  const second = await world.manager("b", sandbox, overrides(b))
  await world.run(first.use(sandbox, "k", (state) => ++state.n, { durable: true }))
  await world.run(second.use(sandbox, "k", (state) => ++state.n))
  const handle = await world.run(second.restoreSandbox(sandbox, "k"))
  await world.run(handle.use((state) => ++state.n))
  await world.run(handle.release())
  await world.run(second.remove(sandbox, "k"))
  await world.end()
  return { a, b }
}

const sink = (lines: TraceLine[]): Overrides => ({ trace: (line) => void lines.push(line) })

describe("the trace of a manager", () => {
  // Tests traces: A live manager writes the simulator's lines, of its own sandboxes alone; unread none are made.
  it("tells locks, states, requests, work, calls and handoffs", async () => {
    const { a, b } = await handoff(sink)
    expect(ofKind<LockLine>(a, "lock").map(({ type }) => type)).toEqual([
      ...["Acquired", "ReleaseRequested", "Granted", "Released"],
    ])
    expect(ofKind<StateLine>(a, "state").map(({ value }) => JSON.stringify(value))).toEqual([
      '{"acquiring":"trying"}',
      '{"owning":{"lease":"healthy","work":"restoring"}}',
      '{"owning":{"lease":"healthy","work":"running"}}',
      ...["settling", "checkpointing", "releasing"].map(
        (work) => `{"handingOff":{"lease":"healthy","work":"${work}"}}`,
      ),
      '{"released":"handedOff"}',
    ])
    expect(sections(a).filter((text) => !text.startsWith("schema"))).toEqual([
      ...["restore began", "restore ended", "run began", "turn began", "turn ended", "use began", "use ended"],
      ...["checkpoint began manual", "checkpoint ended", "run ended"],
      ...["checkpoint began handoff", "checkpoint ended", "close began handoff", "close ended"],
    ])
    expect(calls(b).filter((text) => text.endsWith("began"))).toEqual([
      ...["start began", "use began", "checkpoint began", "restore began", "use began", "release began"],
      ...["remove began", "close began", "drain began"],
    ])
    expect(ofKind(b, "handoff")).toMatchObject([{ key: "counter/k", how: "granted", from: "a", to: "b", worker: "b" }])
    const objects = new Set(ofKind<RequestLine>(a, "request").map(({ op, area }) => `${op} ${area}`))
    expect([...objects].sort()).toEqual([
      ...["put leases", "put state", "put store", "read leases", "read state", "read store", "start undefined"],
    ])
  })

  it("has an end for every call and section, and an answer for every request", async () => {
    const { b } = await handoff(sink)
    for (const kind of ["call", "work"] as const) {
      const of = ofKind<CallLine | WorkLine>(b, kind)
      const [open, ended] = [true, false].map((isBegin) => of.filter(({ edge }) => (edge === "began") === isBegin))
      expect(new Set(ended!.map(({ id }) => id))).toEqual(new Set(open!.map(({ id }) => id)))
      expect(ended).toHaveLength(open!.length)
    }
    const ids = (kind: "request" | "answer"): number[] => ofKind<RequestLine>(b, kind as "request").map(({ id }) => id)
    expect(new Set(ids("answer"))).toEqual(new Set(ids("request")))
    expect(ids("answer")).toHaveLength(ids("request").length)
  })

  it("is judged as a simulated one, and nothing is found", async () => {
    const { a, b } = await handoff(sink)
    // What was stored only the store knows, and it tells no live trace.
    const judges = allInvariants.filter(({ name }) => name !== invariants.acknowledgedIsStored.name)
    for (const lines of [a, b]) expect(checkTrace({ lines }, judges)).toEqual([])
  })

  it("tells of its own sandboxes alone, and each manager of its own requests, on one store of one process", async () => {
    const world = new World()
    const sandbox = counter()
    const [a, b]: [TraceLine[], TraceLine[]] = [[], []]
    const first = await world.manager("a", sandbox, sink(a))
    await world.manager("b", sandbox, sink(b))
    const lock = new StoreLock("other", { store: world.store, clock: world.time, incarnation: { id: "a" } })
    await world.run(lock.acquire())
    await world.run(first.use(sandbox, "k", () => {}))
    await world.run(lock.release())
    await world.end()
    const names = (lines: readonly TraceLine[]): string[] => [
      ...new Set(ofKind<RequestLine>(lines, "request").flatMap(({ area, name }) => (area === "leases" ? [name!] : []))),
    ]
    expect([names(a), names(b)]).toEqual([["counter=2fk"], []])
    expect(new Set(a.map((line) => "worker" in line && line.worker))).toEqual(new Set(["a"]))
  })

  it("tells of locks made elsewhere what their events tell", async () => {
    const world = new World()
    const { store, time } = world
    const lockFactory = (key: string): StoreLock => new StoreLock(key, { store, clock: time, incarnation: { id: "a" } })
    const lines: TraceLine[] = []
    const overrides = { store: undefined, lockFactory, checkpoints: store, ...sink(lines) } as unknown as Overrides
    const sandbox = counter()
    const manager = await world.manager("a", sandbox, overrides)
    await world.run(manager.use(sandbox, "k", () => {}))
    await world.end()
    expect(ofKind<LockLine>(lines, "lock").map(({ type }) => type)).toEqual(["Acquired", "Released"])
    expect(ofKind<RequestLine>(lines, "request").every(({ area }) => area !== "leases")).toBe(true)
  })

  it("tells why a manager didn't start", async () => {
    const world = new World()
    const lines: TraceLine[] = []
    world.store.start = () => Promise.reject(new TypeError("no such bucket: hunter2"))
    await expect(world.manager("a", counter(), sink(lines))).rejects.toThrow("no such bucket")
    const error = { tag: "TypeError", code: null, message: "(redacted)" }
    expect(lines.map((line) => [line.kind, "error" in line ? line.error : undefined])).toEqual([
      ...[
        ["call", undefined],
        ["request", undefined],
        ["answer", error],
        ["call", error],
      ],
    ])
  })
})

describe("what a trace leaves out", () => {
  async function failing(values: boolean): Promise<string> {
    const world = new World()
    const lines: TraceLine[] = []
    const sandbox = counter({ checkpoint: () => raise("checkpoint hunter2") })
    const onLine = (line: TraceLine): void => void lines.push(line)
    const manager = await world.manager("a", sandbox, {
      ...{ trace: { sink: onLine, values, worker: "one" }, address: "http://me:hunter3@host/?token=hunter4" },
    })
    const other = await world.manager("b", sandbox)
    await world.failure(manager.use(sandbox, "k", () => raise("use hunter2")))
    await world.failure(manager.use(sandbox, "k", (state) => ++state.n, { durable: true }))
    await world.failure(other.restoreSandbox(sandbox, "k", { whenOwned: "report" }))
    await world.run(manager[Symbol.asyncDispose]())
    await world.end()
    expect(lines.length).toBeGreaterThan(20)
    return JSON.stringify(lines)
  }

  // Tests traces: A live trace has no credentials, has a user's values only where asked for, and has bounds.
  it("is what the user's code says, unless it is asked for", async () => {
    expect(await failing(false)).not.toContain("hunter2")
    expect(await failing(true)).toContain("use hunter2")
  })

  it("is never without a mark, and errors have their tags and codes", async () => {
    const text = await failing(false)
    expect(text).toContain('{"tag":"Error","code":null,"message":"(redacted)"}')
    expect(text).toContain('{"tag":"NotDurableError","code":"LEASEHOLD_NOT_DURABLE","message":"(redacted)"}')
  })

  it("is the credentials in addresses, always", async () => {
    const world = new World()
    const lines: TraceLine[] = []
    const sandbox = counter()
    const address = "http://me:hunter3@host/?token=hunter4"
    const owner = await world.manager("a", sandbox, { address })
    const onLine = (line: TraceLine): void => void lines.push(line)
    const asker = await world.manager("b", sandbox, { trace: { sink: onLine, values: true } })
    await world.run(owner.use(sandbox, "k", () => {}))
    await world.failure(asker.restoreSandbox(sandbox, "k", { whenOwned: "report" }))
    await world.run(asker.use(sandbox, "k", () => {}))
    await world.end()
    const text = JSON.stringify(lines)
    expect(text).toContain('"address":"http://…@host/?…"')
    expect(text).not.toMatch(/hunter/)
  })
})

describe("a trace that can't be written", () => {
  // Tests traces: A live trace waits for nobody: a slow sink, a full disk and a bad path are reported once.
  it("is told of once, changes nothing, and is counted", async () => {
    const world = new World()
    const sandbox = counter()
    const manager = await world.manager("a", sandbox, { trace: join(tmpdir(), "leasehold-none", "no", "such", "t") })
    expect(await world.run(manager.use(sandbox, "k", (state) => ++state.n))).toBe(1)
    await world.time.advance(600_000)
    await expect.poll(() => world.errors.length).toBe(1)
    expect(await world.run(manager.use(sandbox, "k", (state) => ++state.n))).toBe(2)
    await world.run(manager[Symbol.asyncDispose]())
    expect(world.errors).toHaveLength(1)
    expect(world.errors[0]).toBeInstanceOf(TraceWriteError)
    expect(manager.stats()["traceDropped"]).toBeGreaterThan(20)
    await world.end()
  })

  it("as its sink never answers, keeps no call waiting, and the end of the manager 3 s at most", async () => {
    const world = new World()
    const sandbox = counter()
    const manager = await world.manager("a", sandbox, { trace: () => new Promise<void>(() => {}) })
    expect(await world.took(manager.use(sandbox, "k", (state) => ++state.n))).toBe(0)
    expect(await world.took(manager[Symbol.asyncDispose]())).toBeLessThanOrEqual(3000)
    expect(world.errors).toEqual([])
    await world.end()
  })
})

describe("the end of a manager", () => {
  it("has the last lines in its file, and so has a drain", async () => {
    const directory = await mkdtemp(join(tmpdir(), "leasehold-trace-"))
    onTestFinished(() => rm(directory, { recursive: true }))
    const file = join(directory, "leases.ndjson")
    const sandbox = counter()
    const parts = { store: memoryStore(), sandboxes: [sandbox], trace: file } // in real time, as the file is
    const manager = await SandboxManager.start(parts)
    await manager.use(sandbox, "k", (state) => ++state.n)
    await manager.drain()
    const lastOf = async (): Promise<unknown> => parseTrace(await readFile(file, "utf8")).lines.at(-1)
    expect(await lastOf()).toMatchObject({ kind: "call", call: "drain", edge: "ended" })
    await manager[Symbol.asyncDispose]()
    expect(await lastOf()).toMatchObject({ kind: "call", call: "close", edge: "ended" })
  })
})

describe("a trace that nobody reads", () => {
  // Tests traces.
  it("is not made: there are lines only while somebody is subscribed", async () => {
    const world = new World()
    const sandbox = counter()
    const manager = await world.manager("a", sandbox)
    const { tap } = insideOf(manager)
    await world.run(manager.use(sandbox, "k", () => {}))
    expect(tap.recent()).toEqual([])
    const lines: TraceLine[] = []
    const end = tap.subscribe((line) => void lines.push(line))
    await world.run(manager.use(sandbox, "k", () => {}))
    const heard = lines.length
    expect(calls(lines)).toEqual(["use began", "use ended"])
    expect(tap.recent()).toEqual(lines)
    end()
    await world.run(manager.use(sandbox, "k2", () => {}))
    expect(lines).toHaveLength(heard)
    await world.end()
  })

  it("harms nothing by a subscriber that throws, which is told of and gets no more", async () => {
    const world = new World()
    const sandbox = counter()
    const manager = await world.manager("a", sandbox)
    const { tap } = insideOf(manager)
    let told = 0
    tap.subscribe(() => {
      told++
      throw new Error("of the subscriber")
    })
    await world.run(manager.use(sandbox, "k", () => {}))
    expect(told).toBe(1)
    expect(world.errors.map(String)).toEqual(["Error: of the subscriber"])
    await world.end()
  })

  it("has nobody subscribe once it is over", async () => {
    const world = new World()
    const manager = await world.manager("a", counter(), { trace: {} })
    const { tap, ended } = insideOf(manager)
    await world.end()
    await ended
    tap.subscribe(() => raise("told"))()
    expect(tap.recent().length).toBeGreaterThan(0)
  })
})

describe("the option trace", () => {
  it.each([
    [7, /trace is 7/],
    ["", /trace is ""/],
    [null, /trace is null/],
    [{ path: "x" }, /path is no option of trace/],
    [{ file: "a\0b" }, /file is /],
    [{ sink: "x" }, /sink is "x"/],
    [{ ring: -1 }, /ring is -1/],
    [{ maxBytes: 100 }, /maxBytes is 100/],
    [{ keep: 101 }, /keep is 101/],
    [{ values: 1 }, /values is 1/],
    [{ worker: "" }, /worker is ""/],
    [{ worker: "x".repeat(201) }, /worker has 201 characters/],
  ])("is refused as %j", async (trace, message) => {
    const { store } = new World()
    const error = await failure(SandboxManager.start({ store, sandboxes: [], trace: trace as never }))
    expect(error).toBeInstanceOf(InvalidConfigError)
    expect((error as Error).message).toMatch(message)
  })
})

function raise(message: string): never {
  throw new Error(message)
}
