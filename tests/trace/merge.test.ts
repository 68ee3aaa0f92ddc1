// Pins that the traces of several processes become one that invariants and drawings can read.
import { describe, expect, it } from "vitest"
import { InvalidConfigError } from "../../src/locks/api/errors.ts"
import { mergeTraces } from "../../src/trace/merge.ts"
import type { CallLine, NoteLine, Trace, TraceHeader, UnknownLine } from "../../src/trace/trace.ts"

const header: TraceHeader = { kind: "trace", version: 1, source: "live", seed: null, commit: "c" }
const call = (at: number, worker: string, id: number, edge: CallLine["edge"] = "began"): CallLine => ({
  ...{ kind: "call", at, worker, id, call: "use", edge },
})
const note = (at: number, name: string): NoteLine => ({ kind: "note", at, worker: null, note: name })
const trace = (...lines: Trace["lines"]): Trace => ({ header, lines })

describe("merged traces", () => {
  // Tests traces: Traces of live processes merge into one, in which no two share an id, and are judged alike.
  it("stand in the order of their times; what happened in one millisecond, in that of the traces", () => {
    const merged = mergeTraces([trace(note(1, "a1"), note(3, "a3")), trace(note(1, "b1"), note(2, "b2"))])
    expect(merged.lines.map((line) => line["note" as "kind"])).toEqual(["a1", "b1", "b2", "a3"])
  })

  it("keep the order of each, also where its clock was set back", () => {
    const merged = mergeTraces([trace(note(5, "a5"), note(2, "a2"), note(6, "a6")), trace(note(3, "b3"))])
    expect(merged.lines).toEqual([note(3, "b3"), note(5, "a5"), note(2, "a2"), note(6, "a6")])
  })

  it("join every beginning with its own end", () => {
    const own = (worker: string): Trace => trace(call(1, worker, 1), call(2, worker, 1, "ended"), call(3, worker, 2))
    const ids = mergeTraces([own("a"), own("b"), own("c")]).lines.map((line) => {
      const { worker, id } = line as CallLine
      return `${worker}${id}`
    })
    expect(ids).toEqual(["a1", "b3", "c5", "a1", "b3", "c5", "a2", "b4", "c6"])
  })

  it("keep lines that this release doesn't know, beside those that they came after", () => {
    const unknown: UnknownLine = { kind: "later", id: 1 }
    const merged = mergeTraces([trace(call(1, "a", 1)), trace(note(4, "b4"), unknown), trace(note(9, "c"))])
    expect(merged.lines).toEqual([call(1, "a", 1), note(4, "b4"), { kind: "later", id: 2 }, note(9, "c")])
  })

  it("have a header that is true of all, and no torn end", () => {
    const torn: Trace = { header: { ...header, seed: 7 }, lines: [], torn: '{"ki' }
    expect(mergeTraces([torn, torn])).toEqual({ header: { ...header, seed: 7 }, lines: [] })
    expect(mergeTraces([torn, trace()]).header).toEqual(header)
    expect(mergeTraces([trace(), { header: { ...header, commit: "d" }, lines: [] }]).header.commit).toBeNull()
  })

  it("are refused where there are none", () => {
    expect(() => mergeTraces([])).toThrow(InvalidConfigError)
  })
})
