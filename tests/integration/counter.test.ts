import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { expect, it } from "vitest"
import { commandFor, ownRuntime } from "../../examples/sqlite-workers/runtimes.ts"

it("the first sandbox of the README goes on where the run before it stopped, and ends by itself", () => {
  const folder = mkdtempSync(join(tmpdir(), "leasehold-counter-"))
  const [command, ...args] = commandFor(ownRuntime, "../counter/main.ts")
  const run = (): unknown => {
    const env = { ...process.env, HOME: folder }
    const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8", env, timeout: 120_000 })
    return { status, stderr, count: /counted to (\d+)/.exec(stdout)?.[1] }
  }
  try {
    expect(run()).toEqual({ status: 0, stderr: "", count: "1" })
    expect(run()).toEqual({ status: 0, stderr: "", count: "2" })
  } finally {
    rmSync(folder, { recursive: true })
  }
})
