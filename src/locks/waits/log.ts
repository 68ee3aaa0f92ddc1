/** An observer that writes how calls wait as log lines: one JSON object each, without its line end. */
import process from "node:process"
import type { Duration } from "../../runtime/input/duration.ts"
import { aDuration, type OptionChecks, refusal, refuseUnknown, shown } from "../../runtime/input/options.ts"
import { LockError } from "../api/errors.ts"
import type { LockWaitEvent, LockWaitObserver } from "../api/wait-observer.ts"

/** How waits are logged. */
export interface LogWaitsOptions {
  /** How often a call that goes on waiting writes a line. Without one: 10 s. */
  readonly progressEvery?: Duration
}

const OPTIONS: OptionChecks<LogWaitsOptions> = { progressEvery: aDuration }

/**
 * Writes a line where a call begins to wait, every 10 s while it waits, and at its ending. A call that got the key
 * without waiting writes none. Looks are counted (`retries`), not written.
 *
 * Each line is the event, with its `type` as `event` and an error as its `tag`, `code` and `message`. Without a limit
 * `remainingMs` and `limitMs` are null. Without a `write` the lines go to standard error. Throws InvalidConfigError.
 */
export function logWaits(write: (line: string) => void = toStderr, options: LogWaitsOptions = {}): LockWaitObserver {
  refuseUnknown("logWaits", options, OPTIONS)
  if (typeof write !== "function") {
    throw refusal(
      `What logWaits is to write with is ${shown(write)}, which is no function`,
      "Give a function that takes a line, such as console.error, or leave it out for standard error",
    )
  }
  const log = (event: LockWaitEvent): void => write(lineOf(event))
  return {
    progressEvery: options.progressEvery ?? "10 s",
    waitStarted: log,
    progress: log,
    acquired: (event) => {
      if (event.waited) log(event)
    },
    timedOut: log,
    cancelled: log,
    failed: log,
  }
}

const toStderr = (line: string): void => void process.stderr.write(`${line}\n`)

function lineOf({ at, type, ...rest }: LockWaitEvent): string {
  return JSON.stringify({ at, event: type, ...rest, ...("error" in rest && { error: errorOf(rest.error) }) })
}

function errorOf(error: unknown): { readonly tag?: string; readonly code?: string; readonly message: string } {
  if (error instanceof LockError) return { tag: error._tag, code: error.code, message: error.message }
  return { message: String(error) }
}
