/** How a recorded trace stands in the page: as an element of data. `timelineHtml` writes it, the page reads it. */
import type { TraceHeader, TraceLine } from "../../trace/trace.ts"

/** A trace, and what its page is to show of it. */
export interface Recording {
  readonly title: string
  readonly header: TraceHeader
  readonly lines: readonly TraceLine[]
  readonly violation: Mark | null
}

/** A moment that matters: what went wrong. */
export interface Mark {
  readonly at: number
  readonly message: string
}

/** The id of the element. */
export const RECORDING_ID = "leasehold-recording"

/** Where it goes in the page. */
export const RECORDING_PLACE = "<!--recording-->"
