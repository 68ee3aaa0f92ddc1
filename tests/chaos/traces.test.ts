// Pins how the traces of a chaos run are made one, and what the invariants say of it: small traces, written by hand.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { formatTraceLine, isTraceLine } from "../../src/trace/trace-text.ts"
import type { AppliedLine, LockLine, RequestLine, Trace, TraceLine, WorkLine } from "../../src/trace/trace.ts"
import { judgeLive, ProcessTrace, RunTrace } from "./traces.ts"

const folder = mkdtempSync(join(tmpdir(), "leasehold-traces-"))
afterAll(() => rmSync(folder, { recursive: true }))

const applied = (at: number, worker: string, ownerId: string | null): AppliedLine => ({
  ...{ kind: "applied", at, worker, op: "put", area: "leases", name: "chaos=2fk", before: "1", generation: "2" },
  lease: { ownerId, token: 1, expiresAt: 6000, waiterId: null },
})
const acquired = (at: number, worker: string, token: number): LockLine => ({
  ...{ kind: "lock", at, worker, key: "chaos/k", type: "Acquired", ownerId: worker, wall: at, token },
  deadline: at + 4000,
})
const begins = (at: number, worker: string, token: number, id: number): WorkLine => ({
  ...{ kind: "work", at, worker, id, key: "chaos/k", token, work: "use", edge: "began" },
})
const fault = (at: number, worker: string, name: string): TraceLine => ({
  ...{ kind: "fault", at, worker, fault: name, detail: {} },
})

const { header } = new RunTrace().recorder
const violations = (...lines: readonly TraceLine[]): readonly string[] =>
  judgeLive({ header, lines }).map(({ invariant }) => invariant)

describe("the trace of a run", () => {
  const written = (name: string, lines: readonly TraceLine[]): string => {
    const path = join(folder, `${name}.ndjson`)
    writeFileSync(path, [header, ...lines].map(formatTraceLine).join("") + '{"kind":"wo')
    return path
  }

  // Tests traces: Traces of live processes merge into one, in which no two share an id, and are judged alike.
  it("has the lines of one millisecond in the order of causes: what the run did, what took effect, what came of it", () => {
    const run = new RunTrace()
    run.add(applied(7, "a", "a"))
    run.add(applied(5, "a", null)) // answered later than the one before
    run.add(fault(5, "a", "resume"))
    run.add(undefined) // a read
    const lines = [begins(5, "a", 1, 1), begins(7, "a", 1, 2)]
    const whole: Trace = run.with([written("a1", lines)])
    expect(whole.header.source).toBe("live")
    expect(whole.lines).toEqual([
      ...[fault(5, "a", "resume"), applied(5, "a", null), lines[0]],
      ...[applied(7, "a", "a"), lines[1]],
    ])
  })

  it("has a write between its request and what came of it, also where all are of one millisecond", () => {
    const run = new RunTrace()
    const write = applied(5, "a", "a")
    run.add(write)
    const asked: RequestLine = {
      ...{ kind: "request", at: 5, worker: "a", id: 2, store: "s", op: "put", deadline: 1 },
      ...{ area: "leases", name: write.name, generation: write.before },
    }
    const lines = [begins(5, "a", 1, 1), { ...asked, worker: "b" }, asked, begins(5, "a", 1, 3)]
    expect(run.with([written("a2", lines)]).lines).toEqual([...lines.slice(0, 3), write, lines[3]])
  })

  it("has what each process wrote into a file of its own, which is never another's", () => {
    const path = join(folder, "b1.ndjson")
    using process = new ProcessTrace(path)
    process.recorder.note("here", { worker: "b" })
    const notes = new RunTrace().with([path]).lines.filter(isTraceLine)
    expect(notes).toMatchObject([{ kind: "note", worker: "b", note: "here" }])
    expect(() => new ProcessTrace(path)).toThrow("EEXIST")
  })
})

describe("a live trace", () => {
  // Tests traces.
  it("is judged as a simulated one: two that own at once", () => {
    expect(violations(acquired(1, "a", 1), acquired(2, "b", 2))).toEqual(["one owner"])
  })

  it("knows that an owner has left by what took effect, when that owner hasn't heard of it yet", () => {
    expect(violations(acquired(1, "a", 1), applied(2, "a", "b"), acquired(2, "b", 2))).toEqual([])
  })

  it("blames nobody for what it did first when it went on after a stop, and for all that it does next", () => {
    const stopped = [acquired(1, "a", 1), fault(2, "a", "pause"), fault(9000, "a", "resume")]
    expect(violations(...stopped, begins(9000, "a", 1, 1))).toEqual([])
    expect(violations(...stopped, begins(9000, "a", 1, 1), begins(9000, "a", 1, 2))).toEqual([
      "work under a lease",
      "one at a time",
    ])
    expect(violations(...stopped, applied(9000, "a", "a"), begins(9001, "a", 1, 1))).toEqual([])
    expect(violations(acquired(1, "a", 1), begins(9000, "a", 1, 1))).toEqual(["work under a lease"])
  })

  it("blames whoever owns beside another, also right after a stop", () => {
    const stopped = [acquired(1, "a", 1), fault(2, "b", "pause"), fault(3, "b", "resume")]
    expect(violations(...stopped, acquired(3, "b", 2))).toEqual(["one owner"])
  })
})
