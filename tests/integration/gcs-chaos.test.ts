// Pins that a chaos run finds what it looks for: workers with a careless change, in a copy of the sources, act on one
// key at once or lose what they acknowledged; the oracle says so, and the invariants of their trace. That the workers
// as they are don't is `npm run chaos`.
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import { commandFor, ownRuntime } from "../../examples/sqlite-workers/runtimes.ts"

/** So many runs find what the careless change does, or it isn't found. */
const TRIES = 4

it.each([
  [
    "every lease is over",
    /^chaos: handoffs \d+, takeovers \d+, overlaps [1-9]\d*, lost rows \d+$/,
    /^violation: one owner: /m,
  ],
  [
    "states are acknowledged unwritten",
    /^chaos: handoffs \d+, takeovers \d+, overlaps 0, lost rows [1-9]\d*$/,
    /^violation: acknowledged is stored: /m,
  ],
  // Tests processes: The oracle of chaos runs sees overlaps, lost rows and lower tokens, where a change makes some.
])(
  "the oracle tells what comes of workers with a careless change: %s",
  (mutant, line, violation) => {
    const script = fileURLToPath(new URL("../../scripts/chaos.ts", import.meta.url))
    const [command, ...args] = commandFor(ownRuntime, script)
    const own = ["--minutes", "0.3", "--runtime", ownRuntime, "--mutant", mutant]
    const chaos = () =>
      spawnSync(command, [...args, ...own], {
        ...{ encoding: "utf8", timeout: 110_000, stdio: ["ignore", "pipe", "inherit"] },
      })
    const lastOf = (stdout: string): string => stdout.trim().split("\n").at(-1)!
    // Two workers at work on one key need not write at once in a third of a minute of a busy machine.
    let run = chaos()
    for (let tries = 1; tries < TRIES && !line.test(lastOf(run.stdout)); tries++) run = chaos()
    expect(lastOf(run.stdout)).toMatch(line)
    expect(run.stdout).toMatch(violation)
    expect(run.status).toBe(1)
  },
  TRIES * 120_000,
)
