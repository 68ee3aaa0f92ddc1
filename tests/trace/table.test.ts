// Pins the table of a trace: a column for each worker and one for the store, the lines that lead to a place, of one
// key.
import { describe, expect, it } from "vitest"
import { traceTable } from "../../src/trace/table.ts"
import { acquired, call, fault, head, lease, lost, work } from "../testing/invariants/told.ts"

describe("a table of a trace", () => {
  const lines = [
    acquired(1000, "b", 1_700_000_123_456),
    work(1010, "b", "use began", 7),
    fault(1500, "b", "pause", { ms: 31_000 }),
    lease(2000, "a", "a.1", 32_000, "c.1"),
    head(2100, "a", { token: 1_700_000_123_457, seq: 3 }),
    call(2200, "a", "failed"),
    { ...lost(2500, "b"), key: "ledger/other" },
  ]

  it("has a column for each worker and one for the store, in the order of the lines", () => {
    const rows = traceTable({ lines }, { width: 26 }).split("\n")
    expect(rows[0]).toBe("       ms  a                           b                           store and world")
    expect(rows[2]).toBe("        0                              Acquired free token …12345")
    expect(rows[3]).toBe("       10                              use (")
    expect(rows[4]).toBe("      500                              ** pause ms 31000")
    expect(rows[5]!.trimStart().startsWith("1000")).toBe(true)
    expect(rows[5]).toContain("put leases/ledger=2fk took")
    expect(rows[7]).toContain("failed: use")
    expect(rows).toHaveLength(9)
  })

  it("shows the last lines up to a place, and of a key what is about it", () => {
    expect(traceTable({ lines }, { to: 2, rows: 2 }).split("\n").slice(2)).toHaveLength(2)
    expect(traceTable({ lines }, { key: "ledger/k" })).not.toContain("Lost")
    expect(traceTable({ lines }, { key: "ledger/other" })).not.toContain("Acquired")
  })

  it("passes over lines of later releases, and is there for an empty trace", () => {
    expect(traceTable({ lines: [{ kind: "later" }, ...lines] }).split("\n")).toHaveLength(9)
    expect(traceTable({ lines: [] })).toContain("store and world")
  })
})
