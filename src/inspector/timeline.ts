/**
 * A recorded trace as one page of HTML that needs nothing else: the live page, with the trace in it. It opens from a
 * disk by a double click, at the violation where there is one.
 *
 * Not promised: that a trace of a million lines is quick to look at. Give the part that matters.
 */
import { aNumber, aText, type OptionChecks, refuseUnknown } from "../runtime/input/options.ts"
import { aTrace, isTraceLine } from "../trace/trace-text.ts"
import type { Trace } from "../trace/trace.ts"
import { type Recording, RECORDING_ID, RECORDING_PLACE } from "./live/recording.ts"
import { pageHtml } from "./live/server/page-html.ts"

/** What is marked on the page. */
export interface TimelineMark {
  /** When, in Unix milliseconds of the trace. */
  readonly at: number
  /** What it is. */
  readonly message: string
}

/** How the page is made. */
export interface TimelineOptions {
  /** Its heading. Default: the trace's seed. */
  readonly title?: string
  /** What went wrong, and when. */
  readonly violation?: TimelineMark
}

/** A violation is one, with more that it knows. */
const aMark = (name: string, value: unknown): void => {
  const { at, message } = Object(value) as Partial<TimelineMark>
  aNumber(`${name}.at`, at)
  aText(`${name}.message`, message)
}
const OPTIONS: OptionChecks<TimelineOptions> = {
  title: aText,
  violation: aMark,
}

/** The page. Throws InvalidConfigError. */
export function timelineHtml(trace: Trace, options: TimelineOptions = {}): string {
  aTrace("the trace", trace)
  refuseUnknown("timelineHtml", options, OPTIONS)
  const { header } = trace
  const { violation, title = header.seed === null ? "a recorded trace" : `seed ${header.seed}` } = options
  const recording: Recording = {
    title: header.commit === null ? title : `${title}, commit ${header.commit}`,
    header,
    lines: trace.lines.filter(isTraceLine),
    violation: violation === undefined ? null : { at: violation.at, message: violation.message },
  }
  return pageHtml.replace(RECORDING_PLACE, () => recordingElement(recording))
}

/** Data, which no browser runs. Without a `<` in it, it can't end before its end, whatever keys and messages say. */
const recordingElement = (recording: Recording): string =>
  `<script type="application/json" id="${RECORDING_ID}">${JSON.stringify(recording).replaceAll("<", String.raw`\u003c`)}</script>`
