// The example of docs/testing.md, "Judging a trace", word for word.

// --- example: a judge
import { writeFile } from "node:fs/promises"
import { allInvariants, checkTrace, parseTrace, timelineHtml, traceTable } from "leasehold/testing"

/** What is wrong with a trace, as a table with a column for each worker; undefined where nothing is. */
export async function judge(text: string, page: string): Promise<string | undefined> {
  const trace = parseTrace(text)
  const [violation] = checkTrace(trace, allInvariants) // or [invariants.oneOwner, …]
  if (violation === undefined) return undefined
  await writeFile(page, timelineHtml(trace, { violation })) // a page that needs nothing else
  return `${violation.message}\n${traceTable(trace, { to: violation.line })}`
}
// --- end
