/**
 * An observer that shows a person at a terminal who has the key, for how long, and how much of the budget is left. It
 * is one line, which is written over again, and gone when the wait is over. Where the stream is no terminal it shows
 * nothing.
 */
import process from "node:process"
import { durationText } from "../../runtime/input/duration.ts"
import { anObject, type OptionChecks, refuseUnknown } from "../../runtime/input/options.ts"
import type { LockWaitEvent, LockWaitObserver } from "../api/wait-observer.ts"
import { printable } from "../printable.ts"
import { named } from "../record.ts"

/** A stream to show waits on, such as `process.stderr`. */
export interface TerminalStream {
  /** Whether it is a terminal. */
  readonly isTTY?: boolean
  /** Its width. */
  readonly columns?: number
  /** Writes text as it is. */
  write(text: string): unknown
}

/** Where waits are shown. */
export interface TerminalWaitsOptions {
  /** Without one: standard error. */
  readonly stream?: TerminalStream
}

const OPTIONS: OptionChecks<TerminalWaitsOptions> = {
  stream: anObject("Give a stream such as process.stderr", "write"),
}

/** Moves to the start of the line, and erases it. */
const CLEAR = "\r\u001B[K"

/** Shows how calls wait. Of several on one stream it shows the one with the last event, and how many more there are. */
export function terminalWaits(options: TerminalWaitsOptions = {}): LockWaitObserver {
  refuseUnknown("terminalWaits", options, OPTIONS)
  const { stream = process.stderr } = options
  if (stream.isTTY !== true) return {}
  const waits = new Map<string, string>()
  const show = (): void => {
    const last = [...waits.values()].at(-1)
    if (last === undefined) return void stream.write(CLEAR)
    const more = waits.size === 1 ? "" : ` (and ${waits.size - 1} more)`
    stream.write(CLEAR + fitted(last + more, (stream.columns ?? 80) - 1))
  }
  const waiting = (event: WaitingEvent): void => {
    waits.delete(event.wait)
    waits.set(event.wait, lineOf(event))
    show()
  }
  const ended = ({ wait }: LockWaitEvent): void => {
    if (waits.delete(wait)) show()
  }
  return {
    ...{ waitStarted: waiting, retry: waiting, progress: waiting },
    ...{ acquired: ended, timedOut: ended, cancelled: ended, failed: ended },
  }
}

type WaitingEvent = Extract<LockWaitEvent, { waitingFor: unknown }>

function lineOf(event: WaitingEvent): string {
  // The end is cut off where a line is too narrow, and names can be long.
  const left = event.remainingMs === Infinity ? "" : ` ${durationText(event.remainingMs)} more`
  return printable(`Waiting${left} for ${JSON.stringify(event.key)}: ${whomFor(event)}`)
}

function whomFor({ waitingFor, holder, heldMs = 0 }: WaitingEvent): string {
  if (waitingFor === "store") return "no answer from the store yet"
  const here = waitingFor === "process" ? "an earlier call of this process is to have it first, " : ""
  if (holder === undefined)
    return waitingFor === "process" ? "an earlier call of this process has it" : "another waits for it"
  return `${here}held by ${named(holder)} for ${durationText(heldMs)}`
}

/**
 * The text, cut to one line: a line that wraps couldn't be written over. A character outside of ASCII counts as two
 * columns.
 */
function fitted(text: string, columns: number): string {
  let width = 0
  let fits = ""
  for (const character of text) {
    width += character < "\u007F" ? 1 : 2
    if (width > columns) return fits
    fits += character
  }
  return fits
}
