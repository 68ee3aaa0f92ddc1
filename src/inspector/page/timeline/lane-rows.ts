/** Where each row of the timeline stands: of a worker its name, its requests, then its lanes. Pure. */
import type { Lane, LanesView, WorkerLanes } from "../../live/model/lanes.ts"

/** One row, `y` below the top of all of them. */
export type LaneRow =
  | {
      readonly kind: "worker"
      readonly y: number
      readonly worker: string
      readonly of: WorkerLanes
      readonly height: number
    }
  | { readonly kind: "requests"; readonly y: number; readonly worker: string; readonly of: WorkerLanes }
  | { readonly kind: "lane"; readonly y: number; readonly worker: string; readonly lane: Lane }

/** In CSS pixels. */
export const ROW_HEIGHTS: Readonly<Record<LaneRow["kind"], number>> = { worker: 24, requests: 18, lane: 22 }

/** Between workers, in CSS pixels. */
const GAP = 8

/** All rows, from top to bottom. */
export function laneRows({ workers }: LanesView): readonly LaneRow[] {
  const rows: LaneRow[] = []
  let y = 0
  for (const of of workers) {
    const { worker } = of
    const height = ROW_HEIGHTS.worker + ROW_HEIGHTS.requests + of.lanes.length * ROW_HEIGHTS.lane
    rows.push({ kind: "worker", y, worker, of, height })
    rows.push({ kind: "requests", y: y + ROW_HEIGHTS.worker, worker, of })
    of.lanes.forEach((lane, index) =>
      rows.push({
        kind: "lane",
        y: y + ROW_HEIGHTS.worker + ROW_HEIGHTS.requests + index * ROW_HEIGHTS.lane,
        worker,
        lane,
      }),
    )
    y += height + GAP
  }
  return rows
}
