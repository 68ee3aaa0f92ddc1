/** What is under the pointer. Pure. */
import type { Lane, RequestSign } from "../../live/model/lanes.ts"
import { type LaneRow, ROW_HEIGHTS } from "./lane-rows.ts"

/** Something, in words. */
export interface LaneHit {
  readonly words: string
  readonly lane?: Lane
  /** It is the lane's name that is pointed at: left of all time. */
  readonly isLabel?: boolean
}

/** What is at this time and height, as near as `tolerance` milliseconds. `time` before the first: at the names. */
export function hitAt(rows: readonly LaneRow[], time: number, y: number, tolerance: number): LaneHit | undefined {
  const row = rows.findLast((each) => y >= each.y && y < each.y + ROW_HEIGHTS[each.kind])
  if (row === undefined) return undefined
  if (row.kind === "lane") return laneHit(row.lane, time)
  const fault = row.of.faults.find(({ at, to }) => time >= at - tolerance && time <= (to ?? at) + tolerance)
  if (fault !== undefined) return { words: `${row.worker}: ${fault.text}` }
  return row.kind === "requests" ? requestHit(row.of.requests, time, tolerance) : { words: row.worker }
}

function laneHit(lane: Lane, time: number): LaneHit {
  if (Number.isNaN(time)) return { words: `${lane.key} at ${lane.worker}`, lane, isLabel: true }
  const bar = lane.bars.findLast(({ from, to }) => time >= from && time <= (to ?? Infinity))
  const token = bar?.token == null ? "" : `, token ${bar.token}`
  return {
    words: bar === undefined ? `${lane.key} at ${lane.worker}` : `${lane.key} at ${lane.worker}: ${bar.text}${token}`,
    lane,
  }
}

function requestHit(requests: readonly RequestSign[], time: number, tolerance: number): LaneHit | undefined {
  const near = requests.filter(({ at, answeredAt }) => time >= at - tolerance && time <= (answeredAt ?? at) + tolerance)
  const [first] = near
  if (first === undefined) return undefined
  return { words: near.length === 1 ? first.text : `${first.text} (and ${near.length - 1} more)` }
}
