/** Programs that a script runs, and what they say. */
import { spawnSync } from "node:child_process"
import process from "node:process"

/** What a step came to. */
export interface Outcome {
  readonly ok: boolean
  readonly output: string
}

/** Runs a program to its end, whatever that is. */
export function run(command: string, ...args: string[]): Outcome {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1" },
    maxBuffer: 2 ** 26,
  })
  return { ok: status === 0, output: error === undefined ? `${stdout}${stderr}` : error.message }
}
