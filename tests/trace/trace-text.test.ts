// Pins that a trace is read as it was written, whatever is in it, and that text which is no trace is refused by its
// line.
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { FormatVersionError, TraceFormatError } from "../../src/locks/api/errors.ts"
import { traceHash } from "../../src/runtime/time/hash.ts"
import { formatTrace, formatTraceLine, isTraceLine, parseTrace } from "../../src/trace/trace-text.ts"
import { type Trace, TRACE_VERSION, type TraceHeader, type TraceLine } from "../../src/trace/trace.ts"

const text = fc.string({ unit: "binary" })
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0) // no -0: JSON has none
const worker = { at: number, worker: text }
const error = fc.record({ tag: text, code: fc.option(text), message: text, status: fc.oneof(text, number) })
const detail = fc.dictionary(text, fc.oneof(text, number, fc.boolean(), fc.constant(null)), { noNullPrototype: true })

const known: fc.Arbitrary<TraceLine> = fc.oneof(
  fc.record(
    {
      ...{ kind: fc.constant("lock" as const), ...worker, key: text, ownerId: text, wall: number },
      type: fc.constantFrom("Waiting" as const, "Acquired" as const, "Lost" as const, "GaveUp" as const),
      ...{ token: number, deadline: number, how: fc.constantFrom("created" as const, "grant" as const), error },
      owner: fc.record({ ownerId: text, token: number, expiresAt: number }),
    },
    { requiredKeys: ["kind", "at", "worker", "key", "ownerId", "wall", "type"] },
  ),
  fc.record(
    {
      ...{ kind: fc.constant("state" as const), ...worker, key: text, token: fc.option(number), leaving: text, error },
      value: fc.constant({ owning: { work: "running", lease: "healthy" } } as const),
    },
    { requiredKeys: ["kind", "at", "worker", "key", "value", "token"] },
  ),
  fc.record(
    {
      ...{ kind: fc.constant("request" as const), ...worker, id: number, store: text, deadline: number },
      op: fc.constantFrom("start" as const, "put" as const),
      ...{ area: fc.constant("leases" as const), name: text, generation: text, bytes: number },
    },
    { requiredKeys: ["kind", "at", "worker", "id", "store", "op", "deadline"] },
  ),
  fc.record(
    {
      ...{ kind: fc.constant("answer" as const), ...worker, id: number, ms: number },
      outcome: fc.constantFrom("found" as const, "unknown" as const, "rejected" as const),
      ...{ generation: text, storeTime: number, bytes: number, items: number, throttled: fc.boolean() },
      ...{ overtaken: fc.boolean(), error },
    },
    { requiredKeys: ["kind", "at", "worker", "id", "outcome", "ms"] },
  ),
  fc.record({
    ...{ kind: fc.constant("handoff" as const), ...worker, key: text, how: fc.constant("granted" as const) },
    ...{ from: fc.option(text), fromToken: fc.option(number), to: text, token: number, ms: fc.option(number) },
  }),
  fc.record({
    ...{ kind: fc.constant("work" as const), ...worker, id: number, key: text, token: number },
    ...{ work: fc.constant("use" as const), edge: fc.constantFrom("began" as const, "ended" as const) },
  }),
  fc.record({
    ...{ kind: fc.constant("call" as const), ...worker, id: number },
    ...{ call: fc.constant("use" as const), edge: fc.constantFrom("began" as const, "ended" as const) },
  }),
  fc.record({
    ...{ kind: fc.constant("applied" as const), at: number, worker: fc.option(text), op: fc.constant("put" as const) },
    ...{ area: fc.constant("leases" as const), name: text, before: text, generation: text },
  }),
  fc.record({ kind: fc.constant("note" as const), at: number, worker: fc.option(text), note: text }),
  fc.record({ kind: fc.constant("fault" as const), at: number, worker: fc.option(text), fault: text, detail }),
)

const kinds = ["lock", "state", "request", "answer", "handoff", "work", "call", "applied", "note", "fault", "trace"]
const unknown = fc.record({ kind: text.filter((kind) => !kinds.includes(kind)), more: detail, at: number })

const header: fc.Arbitrary<TraceHeader> = fc.record({
  kind: fc.constant("trace" as const),
  version: fc.constant(TRACE_VERSION),
  source: fc.constantFrom("live", "simulated"),
  seed: fc.option(number),
  commit: fc.option(text),
})

const traces: fc.Arbitrary<Trace> = fc.record({ header, lines: fc.array(fc.oneof(known, unknown)) })

const first: TraceHeader = { kind: "trace", version: 1, source: "live", seed: null, commit: null }
const fault: TraceLine = { kind: "fault", at: 1, worker: null, fault: "crash", detail: {} }

/** What reading the lines throws. */
function refusal(...lines: readonly string[]): unknown {
  try {
    parseTrace(lines.join("\n"))
  } catch (thrown) {
    return thrown
  }
  throw new Error("it was read")
}

describe("a trace as text", () => {
  // Tests traces: A trace is read as written; unknown lines are kept, and what is no trace is refused.
  it("is read as it was written, lines of unknown kinds included, and has the same hash", () => {
    fc.assert(
      fc.property(traces, (trace) => {
        const read = parseTrace(formatTrace(trace))
        expect(read).toEqual(trace)
        expect(traceHash(read.lines)).toBe(traceHash(trace.lines))
        for (const [index, line] of read.lines.entries())
          expect(isTraceLine(line)).toBe(kinds.includes(trace.lines[index]!.kind))
      }),
    )
  })

  it("keeps the beginning of a last line that a killed writer left, wherever it was cut", () => {
    const whole = formatTrace({ header: first, lines: [fault] })
    const last = formatTraceLine(fault)
    for (let cut = 1; cut < last.length - 1; cut++) {
      const trace = parseTrace(whole + last.slice(0, cut))
      expect(trace).toEqual({ header: first, lines: [fault], torn: last.slice(0, cut) })
      expect(formatTrace(trace)).toBe(whole + last.slice(0, cut))
    }
    expect(parseTrace(whole + last.trimEnd())).toEqual({ header: first, lines: [fault, fault] })
  })

  it("is refused by the number of the first line that is none", () => {
    const [head, good] = [JSON.stringify(first), JSON.stringify(fault)]
    const refused = (lines: readonly string[], line: number, message: string): void => {
      const thrown = refusal(...lines)
      expect(thrown).toBeInstanceOf(TraceFormatError)
      expect(thrown).toMatchObject({ line, code: "LEASEHOLD_TRACE", message: expect.stringContaining(message) })
    }
    refused([""], 1, "is empty")
    refused([good], 1, "is no header")
    refused(["<html>"], 1, "is no JSON")
    refused([JSON.stringify({ ...first, source: "dreamt" })], 1, 'has "dreamt" as its source')
    refused([head, good, "", good, ""], 3, "is empty")
    refused([head, good, "{", ""], 3, "is no JSON")
    refused([head, "[]", ""], 2, "is no JSON object")
    refused([head, good, "7"], 3, "is no JSON object")
    refused([head, "{}", ""], 2, "has no kind")
    refused([head, head, ""], 2, "is a second header")
    refused([head, JSON.stringify({ ...fault, at: "now" }), ""], 2, 'has "now" as its at')
    refused(
      [head, JSON.stringify({ kind: "fault", at: 1, worker: null, detail: {} }), ""],
      2,
      "has nothing as its fault",
    )
  })

  it("refuses what is no text at all", () => {
    expect(() => parseTrace(undefined as unknown as string)).toThrow(TraceFormatError)
  })

  it("of a later version is refused as such, not as bad text", () => {
    const thrown = refusal(JSON.stringify({ kind: "trace", version: TRACE_VERSION + 1, sauce: "new" }))
    expect(thrown).toBeInstanceOf(FormatVersionError)
    expect(thrown).toMatchObject({ needs: [`trace version ${TRACE_VERSION + 1}`] })
  })
})
