// Two real processes that write their own traces, one of each runtime: merged, their traces are judged as a simulated
// one. And what a process leaves that is killed, and one whose disk is full.
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { invariants } from "../../src/testing/invariants/mod.ts"
import { isTraceLine, parseTrace } from "../../src/trace/trace-text.ts"
import type {
  AnswerLine,
  CallLine,
  HandoffLine,
  RequestLine,
  Trace,
  TraceLine,
  WorkLine,
} from "../../src/trace/trace.ts"
import { judgeLive } from "../chaos/traces.ts"
import { fleetTrace } from "./support/live-traces.ts"
import { canMount, mountSmall } from "./support/small-disk.ts"
import { type Runtime, spawnScript } from "./support/spawn.ts"

/**
 * What was stored only the store knows, and nobody watched it. And with a tenure of 1 ms a use may not have begun when
 * that is over on a machine with other work: then it is tried again.
 */
const notLive: ReadonlySet<string> = new Set([invariants.acknowledgedIsStored.name, invariants.turnsAreUsed.name])

const worker = new URL("./live-trace-worker.ts", import.meta.url)

async function folder(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "leasehold-live-trace-"))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

const read = async (file: string): Promise<Trace> => parseTrace(await readFile(file, "utf8"))

const ofKind = <L extends TraceLine>({ lines }: Trace, kind: L["kind"]): L[] =>
  lines.filter((line): line is L => isTraceLine(line) && line.kind === kind)

/** By worker and id: what began, and what ended. */
function pairs(lines: readonly (CallLine | WorkLine)[]): readonly [string[], string[]] {
  const of = (begins: boolean): string[] =>
    lines.filter(({ edge }) => (edge === "began") === begins).map(({ worker: whose, id }) => `${whose} ${id}`)
  return [of(true).sort(), of(false).sort()]
}

/** Whose keys came by a grant, as the files tell so far. */
async function granted(files: readonly string[]): Promise<readonly string[]> {
  const traces = await Promise.all(files.map((file) => read(file).catch(() => undefined)))
  const whose = traces.flatMap((trace) => (trace === undefined ? [] : ofKind<HandoffLine>(trace, "handoff")))
  return [...new Set(whose.filter(({ how }) => how === "granted").map(({ worker: name }) => name))].sort()
}

describe("the traces of two processes on one directory", () => {
  // Tests traces: A live manager writes the simulator's lines, of its own sandboxes alone; unread none are made.
  it("are one that every invariant holds of, with all that happened, and no secret", async () => {
    const directory = await folder()
    const files = ["a", "b"].map((name) => join(directory, `${name}.ndjson`))
    const runtimes: readonly Runtime[] = ["node", "deno"]
    const processes = runtimes.map((runtime, index) => {
      const args = [join(directory, "store"), files[index]!, "ab"[index]!]
      return spawnScript({ runtime, script: worker, args })
    })
    await expect.poll(() => granted(files)).toEqual(["a", "b"])
    for (const { child } of processes) child.stdin!.write("end\n")
    const ended = await Promise.all(processes.map((each) => each.ended))
    for (const { stdout, stderr, code } of ended) expect([stdout, stderr, code]).toEqual(["done\n", "", 0])
    const trace = fleetTrace(await Promise.all(files.map(read)))

    expect(judgeLive(trace).filter(({ invariant }) => !notLive.has(invariant))).toEqual([])

    const handoffs = ofKind<HandoffLine>(trace, "handoff").filter(({ how }) => how === "granted")
    expect(handoffs.length).toBeGreaterThan(1)
    expect(handoffs.every(({ from, to }) => from !== to)).toBe(true)
    for (const kind of ["call", "work"] as const) {
      const [begun, over] = pairs(ofKind<CallLine | WorkLine>(trace, kind))
      expect(over).toEqual(begun)
      expect(begun.length).toBeGreaterThan(10)
    }
    const requests = ofKind<RequestLine>(trace, "request").map(({ worker: whose, id }) => `${whose} ${id}`)
    expect(
      ofKind<AnswerLine>(trace, "answer")
        .map(({ worker: whose, id }) => `${whose} ${id}`)
        .sort(),
    ).toEqual(requests.sort())
    expect(JSON.stringify(trace)).not.toMatch(/hunter/)
  })
})

describe("the program of docs/trace.md", () => {
  it.each<Runtime>(["node", "deno"])("leaves a trace beside its leases, and ends by itself (%s)", async (runtime) => {
    const directory = await folder()
    const program = new URL("../../examples/live-trace/main.ts", import.meta.url)
    const { stdout, stderr, code } = await spawnScript({
      ...{ runtime, script: program, first: `cd '${directory}'` },
    }).ended
    expect([stdout, stderr, code]).toEqual(["", "", 0])
    const trace = await read(join(directory, "leases.ndjson"))
    expect(ofKind<CallLine>(trace, "call").map(({ call, edge }) => `${call} ${edge}`)).toEqual([
      ...["start began", "start ended", "use began", "use ended"],
      ...["close began", "drain began", "drain ended", "close ended"],
    ])
  })
})

describe("the trace of a process whose sink takes nothing", () => {
  // Tests traces: A live trace waits for nobody: a slow sink, a full disk and a bad path are reported once.
  it.each<Runtime>(["node", "deno"])("doesn't end the process before its manager is disposed (%s)", async (runtime) => {
    const script = new URL("./live-trace-stuck-sink.ts", import.meta.url)
    const { stdout, stderr, code } = await spawnScript({ runtime, script }).ended
    expect([stdout, stderr, code]).toEqual(["disposed\n", "", 0])
  })
})

describe("the trace of a process that is killed", () => {
  // Tests traces: A live trace's files parse, have bounds, are their user's alone, and replace nobody else's.
  it.each<Runtime>(["node", "deno"])("is there but for its last moments, and is read (%s)", async (runtime) => {
    const directory = await folder()
    const file = join(directory, "a.ndjson")
    const args = [join(directory, "store"), file, "a"]
    const process = spawnScript({ runtime, script: worker, args })
    await expect.poll(async () => (await readFile(file).catch(() => "")).length).toBeGreaterThan(20_000)
    process.signal("SIGKILL")
    expect((await process.ended).signal).toBe("SIGKILL")
    const trace = await read(file)
    expect(ofKind<CallLine>(trace, "call").length).toBeGreaterThan(10)
  })
})

describe.skipIf(!canMount())("the trace of a process whose disk is full", () => {
  // Tests traces.
  it.each<Runtime>(["node", "deno"])(
    "says so once and stops nothing, and goes on whole when there is room (%s)",
    async (runtime) => {
      const directory = await folder()
      const small = join(directory, "small")
      await mkdir(small)
      expect(mountSmall(small, "1m")).toBe(true)
      const script = new URL("./live-trace-full-disk.ts", import.meta.url)
      const args = [join(directory, "store"), small]
      const { stdout, stderr, code } = await spawnScript({ runtime, script, args }).ended
      expect([stderr, code]).toEqual(["", 0])
      expect(JSON.parse(stdout)).toEqual({ errors: ["TraceWriteError"], uses: 300, dropped: 0 })
      const trace = await read(join(small, "t.ndjson"))
      expect(trace.torn).toBeUndefined()
      const [begun, over] = pairs(ofKind<CallLine>(trace, "call"))
      expect(over).toEqual(begun)
      expect(begun.length).toBeGreaterThan(300)
    },
  )
})
