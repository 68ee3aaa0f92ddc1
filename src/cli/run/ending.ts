/**
 * How a run ends, from how its command did: the command's own exit code or signal, else an error and its exit code.
 * Tells the user of the error; ends no process.
 */
import { constants } from "node:os"
import { EXIT } from "../errors/exit-codes.ts"
import { UnknownEndError } from "../errors/unknown-end-error.ts"
import type { Call, CommandEnding } from "../frame/syntax.ts"
import type { Exit } from "./process/gate.ts"
import type { RunOutcome } from "./supervise.ts"
import type { UnfitCommandError } from "./unfit-command.ts"

/**
 * Signals that this process can't end by as the command did: their default leaves a core too, or runtimes ignore them
 * (SIGPIPE). The exit code says them instead.
 */
const NOT_PASSED: ReadonlySet<string> = new Set([
  "SIGPIPE",
  "SIGQUIT",
  "SIGILL",
  "SIGTRAP",
  "SIGABRT",
  "SIGBUS",
  "SIGFPE",
  "SIGSEGV",
  "SIGSYS",
])

/** Of a command that ran: a lost lease counts before how the command ended. */
export function endingOf({ output }: Call, { exit, lost }: RunOutcome): CommandEnding {
  if (lost === undefined && !("unknown" in exit)) return passedOn(exit)
  const [error, code] = lost === undefined ? [new UnknownEndError(), EXIT.unknownEnd] : [lost, EXIT.leaseLost]
  output.failure(error, code)
  return code
}

/** Of a command that can't be run. */
export function unfitEnding({ output }: Call, error: UnfitCommandError): CommandEnding {
  output.failure(error, error.exitCode)
  return error.exitCode
}

function passedOn(exit: Exclude<Exit, { unknown: true }>): CommandEnding {
  if ("code" in exit) return exit.code
  return NOT_PASSED.has(exit.signal) ? 128 + constants.signals[exit.signal] : exit.signal
}
