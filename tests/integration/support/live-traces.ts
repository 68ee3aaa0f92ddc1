/**
 * The traces of live processes as the invariants can judge them where nobody watched the store. Two things are only
 * known of it by what its clients tell, in whole milliseconds:
 *
 * - An owner has left a key once it has sent the write that gives it up. It tells so when the answer is there, by when
 *   the next one may own the key. So the line is moved to where the write was sent: none of its work may follow that.
 * - Within a millisecond the lines of two processes have no order. A process that acquires in it tells later than one
 *   that leaves in it.
 */
import { encodeName } from "../../../src/locks/api/keys.ts"
import { mergeTraces } from "../../../src/trace/merge.ts"
import { isTraceLine } from "../../../src/trace/trace-text.ts"
import type { LockLine, Trace, TraceLine } from "../../../src/trace/trace.ts"

/** The traces of processes of one machine as one. */
export const fleetTrace = (traces: readonly Trace[]): Trace =>
  mergeTraces(
    traces.map(({ header, lines }) => ({ header, lines: acquiredLast(leftWhenSent(lines.filter(isTraceLine))) })),
  )

const leaves = (line: TraceLine): line is LockLine =>
  line.kind === "lock" && (line.type === "Granted" || line.type === "Released") && line.result !== "alreadyLost"

function leftWhenSent(lines: readonly TraceLine[]): readonly TraceLine[] {
  const moved: TraceLine[] = []
  for (const line of lines) {
    const sent = leaves(line) ? moved.findLastIndex((other) => isWriteOf(other, line.key)) : -1
    if (sent < 0) moved.push(line)
    else moved.splice(sent + 1, 0, { ...line, at: moved[sent]!.at })
  }
  return moved
}

const isWriteOf = (line: TraceLine, key: string): boolean =>
  line.kind === "request" && line.op !== "read" && line.area === "leases" && line.name === encodeName(key)

function acquiredLast(lines: readonly TraceLine[]): readonly TraceLine[] {
  const acquired = lines.filter((line) => line.kind === "lock" && line.type === "Acquired")
  const times = new Set(acquired.map(({ at }) => at))
  return lines.map((line) => (times.has(line.at) ? { ...line, at: line.at + 0.5 } : line))
}
