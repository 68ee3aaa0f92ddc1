/** The command in this process, from its arguments to its end. */
import { constants, homedir } from "node:os"
import process from "node:process"
import { liveClock } from "../runtime/time/clock.ts"
import { EXIT, exitCodeOf } from "./errors/exit-codes.ts"
import { UnwrittenError } from "./errors/unwritten-error.ts"
import type { CommandEnding } from "./frame/syntax.ts"
import { main, outputFor } from "./main.ts"
import { type ProcessIo, processIo } from "./process/io.ts"

/** Runs the command and ends the process: by its exit code, or by the signal that ended the command that it ran. */
export async function begin(): Promise<void> {
  const io = processIo(homedir)
  const words = process.argv.slice(2)
  const ending = await heard(words, io, await main(words, io))
  await io.stderr.carried()
  if (typeof ending === "number") process.exit(ending)
  io.untilEnd.dispose() // the listeners of the signal
  // If the signal is ignored the exit code says the same.
  liveClock.after(500, () => process.exit(128 + constants.signals[ending]))
  process.kill(process.pid, ending)
}

/**
 * The ending, once the result is written. If it couldn't be, the command fails: a script must not take a part for the
 * whole.
 */
async function heard(words: readonly string[], io: ProcessIo, ending: CommandEnding): Promise<CommandEnding> {
  const trouble = await io.stdout.told()
  if (trouble === undefined || ending !== EXIT.ok) return ending
  const error = new UnwrittenError(trouble)
  const code = exitCodeOf(error)
  outputFor(words, io).failure(error, code)
  return code
}
