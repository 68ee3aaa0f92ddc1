/** The lock on a directory between real processes: handoff, kill, stop and end. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe } from "vitest"
import { describeLocks } from "./support/lock-scenarios.ts"

describe("a lock on a directory", () => {
  describeLocks(async ({ onTestFinished }) => {
    const directory = await mkdtemp(join(tmpdir(), "leasehold-locks-"))
    onTestFinished(() => rm(directory, { recursive: true }))
    return { place: { directory }, short: 5000 }
  })
})
