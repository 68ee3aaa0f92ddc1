/** The lease record of a key as a recorded trace tells it: of the last write that took effect. Pure. */
import { escapedName } from "../../../locks/api/name-bytes.ts"
import type { AppliedLine, TraceLine, UnknownLine } from "../../../trace/trace.ts"
import type { StoreRecord } from "./comparison.ts"

/** The record at this time; undefined where the trace doesn't tell what takes effect, as a live one doesn't. */
export function recordedRecord(
  lines: readonly (TraceLine | UnknownLine)[],
  key: string,
  until: number,
): StoreRecord | null | undefined {
  const name = escapedName(key)
  const line = lines.findLast(
    (each) => isApplied(each) && each.at <= until && each.area === "leases" && each.name === name,
  )
  if (line === undefined || !isApplied(line)) return undefined
  const { lease, generation, at } = line
  if (lease === undefined) return null
  const { ownerId, token, expiresAt, waiterId } = lease
  return { ownerId, address: null, token, expiresAt, waiterId, line: lease.line ?? [], generation, at }
}

const isApplied = (line: TraceLine | UnknownLine): line is AppliedLine => line.kind === "applied"
