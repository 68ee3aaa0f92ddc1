// Pins what the example of docs/testing.md makes of traces.
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "vitest"
import { formatTrace } from "../../../src/trace/trace-text.ts"
import { TRACE_VERSION, type TraceHeader, type TraceLine } from "../../../src/trace/trace.ts"
import { judge } from "./judge.ts"
import { acquired } from "./told.ts"

const header: TraceHeader = { kind: "trace", version: TRACE_VERSION, source: "simulated", seed: 1, commit: null }
const text = (...lines: readonly TraceLine[]): string => formatTrace({ header, lines })

it("tells what is wrong with a trace, with a table and a page, and nothing of one that is right", async () => {
  const folder = mkdtempSync(join(tmpdir(), "leasehold-judge-"))
  try {
    const page = join(folder, "trace.html")
    expect(await judge(text(acquired(0, "a", 1)), page)).toBeUndefined()
    const table = await judge(text(acquired(0, "a", 1), acquired(10_000, "b", 2)), page)
    expect(table).toContain("b has ledger/k (Acquired) while a holds it for 17000 ms more")
    expect(readFileSync(page, "utf8")).toContain("<html")
  } finally {
    rmSync(folder, { recursive: true })
  }
})
