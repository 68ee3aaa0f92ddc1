// Pins that what happens is in the trace, as it happened, in real and in simulated time, and that recording changes
// nothing.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { SandboxManager } from "../../src/actors/manager/manager.ts"
import { TraceRecorder } from "../../src/inspector/recorder.ts"
import { InvalidConfigError } from "../../src/locks/api/errors.ts"
import { fileStore } from "../../src/locks/stores/file/mod.ts"
import { traceHash } from "../../src/runtime/time/hash.ts"
import { formatTrace, parseTrace } from "../../src/trace/trace-text.ts"
import type { AnswerLine, LockLine, RequestLine, StateLine, TraceLine } from "../../src/trace/trace.ts"
import { counter, statesOf, World } from "../actors/world.ts"
import { recorded } from "./scenario.ts"

// Of both runtimes: this suite runs on Node and on Deno against the one value.
const expectedHash = "2a07b5476b2c4f70c5147cf37149acb7e999fa5381c116f042c4da681bee2eb0"

const ofKind = <L extends TraceLine>(lines: readonly TraceLine[], kind: L["kind"]): L[] =>
  lines.filter((line): line is L => line.kind === kind)

const steps = (lines: readonly TraceLine[], worker: string): string[] =>
  ofKind<LockLine>(lines, "lock")
    .filter((line) => line.worker === worker && line.type !== "Renewed")
    .map(({ type, how }) => (how === undefined ? type : `${type} ${how}`))

const states = (lines: readonly TraceLine[], worker: string): string[] =>
  ofKind<StateLine>(lines, "state")
    .filter((line) => line.worker === worker)
    .map(({ value }) => {
      const [inner] = Object.values(value) as (string | { readonly work: string })[]
      return typeof inner === "object" ? inner.work : inner!
    })

/** Each answer belongs to one request, each request of these runs has one. */
function expectAnswered(lines: readonly TraceLine[]): void {
  const requests = ofKind<RequestLine>(lines, "request").map(({ id, worker }) => `${worker} ${id}`)
  const answers = ofKind<AnswerLine>(lines, "answer").map(({ id, worker }) => `${worker} ${id}`)
  expect(requests.length).toBeGreaterThan(10)
  expect(new Set(requests).size).toBe(requests.length)
  expect(answers.toSorted()).toEqual(requests.toSorted())
}

describe("a recorded run in a simulated world", () => {
  it("is the same in every run of one seed, on both runtimes, and another with another seed", async () => {
    const runs = [await recorded(7), await recorded(7), await recorded(8)]
    const [one, two, other] = runs.map(({ lines }) => traceHash(lines))
    expect([one, two]).toEqual([expectedHash, expectedHash])
    expect(other).not.toBe(expectedHash)
    expect(runs[0]!.header).toEqual({ kind: "trace", version: 1, source: "simulated", seed: 7, commit: null })
  })

  it("tells the handoff, the takeover, the loss and the refusal", async () => {
    const { lines } = await recorded(7)
    expect(steps(lines, "a")).toEqual([
      "Acquired created",
      "ReleaseRequested",
      "Granted grant",
      "Released",
      "GaveUp",
      "Waiting",
      "Acquired takeover",
      "Released",
    ])
    expect(steps(lines, "b")).toEqual(["Waiting", "Acquired granted", "Lost"])
    expect(ofKind(lines, "handoff")).toMatchObject([
      { how: "granted", from: "a", to: "b", ms: 280 },
      { how: "takeover", from: "b", to: "a", ms: null },
    ])
    expect(states(lines, "b")).toEqual(["trying", "watching", "restoring", "running", "lost"])
    expect(ofKind<LockLine>(lines, "lock").find(({ type }) => type === "Lost")?.error?.code).toBe("LEASEHOLD_LOST")
    expectAnswered(lines)
  })

  it("survives being written and read", async () => {
    const { header, lines } = await recorded(7)
    expect(parseTrace(formatTrace({ header, lines }))).toEqual({ header, lines })
  })
})

it("a live run on the file store is told in the same lines", async () => {
  const directory = await mkdtemp(join(tmpdir(), "leasehold-trace-"))
  const lines: TraceLine[] = []
  const recorder = new TraceRecorder({ source: "live", commit: "0".repeat(40), onLine: (line) => lines.push(line) })
  const sandbox = counter()
  const start = async (id: string): Promise<SandboxManager> => {
    const worker = recorder.worker(id)
    const store = worker.store(fileStore({ directory }))
    const settings = { store, inspect: worker.inspect, incarnation: { id }, minTenure: 0 }
    const manager = await SandboxManager.start({ ...settings, sandboxes: [sandbox] })
    worker.locks(manager.events$)
    return manager
  }
  try {
    await using a = await start("a")
    await using b = await start("b")
    await a.use(sandbox, "k", (state) => ++state.n)
    expect(await b.use(sandbox, "k", (state) => ++state.n)).toBe(2)
  } finally {
    await rm(directory, { recursive: true })
  }
  expect(steps(lines, "a")).toEqual(["Acquired created", "ReleaseRequested", "Granted grant", "Released"])
  expect(steps(lines, "b")).toEqual(["Waiting", "Acquired granted", "Released"])
  expect(states(lines, "a").at(-1)).toBe("handedOff")
  const [granted] = ofKind<LockLine>(lines, "lock").filter(({ type }) => type === "Granted")
  expect(ofKind(lines, "handoff")).toMatchObject([{ how: "granted", from: "a", fromToken: granted!.token, to: "b" }])
  expectAnswered(lines)
  const times = lines.map(({ at }) => at)
  expect(times.every((at) => at >= times[0]! && at - times[0]! < 60_000)).toBe(true)
  expect(ofKind<AnswerLine>(lines, "answer").some(({ ms }) => ms > 0)).toBe(true)
  expect(parseTrace(formatTrace({ header: recorder.header, lines }))).toEqual({ header: recorder.header, lines })
})

describe("a recorder", () => {
  it("refuses options that can't work, and those that nobody reads", () => {
    const make = (options: object) => (): TraceRecorder =>
      new TraceRecorder({ source: "live", onLine: () => {}, ...options })
    expect(make({})).not.toThrow()
    expect(make({ source: "dreamt" })).toThrow(InvalidConfigError)
    expect(make({ onLine: undefined })).toThrow(InvalidConfigError)
    expect(make({ online: () => {} })).toThrow("online is no option of TraceRecorder")
  })

  it("records the states of one handle too, and what inspect tells beside is no second line", async () => {
    const world = new World()
    const lines: TraceLine[] = []
    const worker = new TraceRecorder({
      source: "simulated",
      clock: world.time,
      onLine: (line) => lines.push(line),
    }).worker("a")
    const [lone, both] = [counter({ name: "lone" }), counter({ name: "both" })]
    const unheard = await world.manager("a", lone)
    const heard = await world.manager("b", both, { inspect: worker.inspect })
    const [first, second] = [
      await world.run(unheard.restoreSandbox(lone, "k")),
      await world.run(heard.restoreSandbox(both, "k")),
    ]
    const [shownFirst, shownSecond] = [statesOf(first), statesOf(second)]
    worker.states(first.state$)
    worker.states(second.state$)
    await world.run(Promise.all([first.release(), second.release()]))
    const noted = (key: string): number => ofKind<StateLine>(lines, "state").filter((line) => line.key === key).length
    expect(shownFirst.at(-1)).toBe("released.clean")
    expect(noted("lone/k")).toBe(shownFirst.length)
    expect(noted("both/k")).toBe(shownSecond.length + 2) // those before there was a handle: trying, restoring
    await world.end()
  })

  // Tests traces: Recording changes nothing of what is recorded.
  it("whose onLine throws reports it, and what is recorded goes on", async () => {
    const world = new World()
    const errors: unknown[] = []
    const failed = new Error("disk full")
    const recorder = new TraceRecorder({
      source: "simulated",
      clock: world.time,
      onLine: () => {
        throw failed
      },
      onError: (error) => errors.push(error),
    })
    const worker = recorder.worker("a")
    const sandbox = counter()
    const manager = await world.manager("a", sandbox, {
      store: worker.store(world.store),
      inspect: worker.inspect,
    })
    worker.locks(manager.events$)
    expect(await world.run(manager.use(sandbox, "k", (state) => ++state.n))).toBe(1)
    expect(errors.length).toBeGreaterThan(10)
    expect(errors.every((error) => error === failed)).toBe(true)
    expect(world.errors).toEqual([])
    await world.end()
  })
})
