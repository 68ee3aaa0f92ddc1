/**
 * The `leasehold` command, bundled as it is published, beside flock(1) and a bare script with a lock file: what a start
 * costs, how soon a waiting `run` has its child at work after a release, what waiting takes of a core, and 200 that
 * want one key.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { contenders } from "./command/contenders.ts"
import { handoffs } from "./command/handoffs.ts"
import { starts } from "./command/starts.ts"
import { waiting } from "./command/waiting.ts"

const bundler = fileURLToPath(new URL("../scripts/bundle.ts", import.meta.url))

/** Prints the figures. */
export async function benchCommand(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "leasehold-bench-"))
  try {
    const { status } = spawnSync(process.execPath, [bundler, join(directory, "bin")], { stdio: "ignore" })
    if (status !== 0) throw new Error(`the bundle was not made: ${status}`)
    const command = [process.execPath, join(directory, "bin", "leasehold.js")] as const
    for (const measure of [starts, handoffs, waiting, contenders]) await measure(directory, command)
  } finally {
    rmSync(directory, { recursive: true })
  }
}
