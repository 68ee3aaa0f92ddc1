// Pins that a chaos run finds what it looks for: workers with a careless change, in a copy of the sources, act on one key at
// once, and the oracle says so. That the workers as they are don't is `npm run chaos`.
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import { commandFor, ownRuntime } from "../../examples/sqlite-workers/runtimes.ts"

it("of workers to whom every lease is over, the oracle tells overlaps", () => {
  const script = fileURLToPath(new URL("../../scripts/chaos.ts", import.meta.url))
  const [command, ...args] = commandFor(ownRuntime, script)
  const own = ["--minutes", "0.2", "--runtime", ownRuntime, "--mutant", "every lease is over"]
  const { status, stdout } = spawnSync(command, [...args, ...own], {
    ...{ encoding: "utf8", timeout: 110_000, stdio: ["ignore", "pipe", "inherit"] },
  })
  const last = stdout.trim().split("\n").at(-1)
  expect(last).toMatch(/^chaos: handoffs \d+, takeovers \d+, overlaps [1-9]\d*, lost rows \d+$/)
  expect(status).toBe(1)
}, 120_000)
