/** The command in this process, from its arguments to its end. */
import { constants, homedir } from "node:os"
import process from "node:process"
import { liveClock } from "../runtime/clock.ts"
import { processIo } from "./io.ts"
import { main } from "./main.ts"

/** Doesn't come back: the process ends by an exit code, or by the signal that ended what was run. */
export async function begin(): Promise<void> {
  const ending = await main(process.argv.slice(2), processIo(homedir))
  if (typeof ending === "number") process.exit(ending)
  // Where somebody keeps the signal from ending it, the exit code says the same.
  liveClock.after(500, () => process.exit(128 + constants.signals[ending]))
  process.kill(process.pid, ending)
}
