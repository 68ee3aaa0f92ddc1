// What the file store says when a write doesn't fit: on a file system that is really full where this user may mount
// one, else under a limit of the process's own file sizes. Either way the error is the kernel's.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { mountSmall } from "./support/small-disk.ts"
import { type Runtime, spawnScript } from "./support/spawn.ts"

describe("the file store on a full disk", () => {
  // Tests input: Disks may be full, missing or read-only.
  it.each<Runtime>(["node", "deno"])(
    "says so, keeps what was there, and goes on once there is room (%s)",
    async (runtime) => {
      const directory = await mkdtemp(join(tmpdir(), "leasehold-full-"))
      onTestFinished(() => rm(directory, { recursive: true }))
      const small = mountSmall(directory, "128k")
      const { stdout, stderr } = await spawnScript({
        runtime,
        script: new URL("./full-disk-worker.ts", import.meta.url),
        args: [directory],
        ...(small ? {} : { first: "trap '' XFSZ; ulimit -f 16" }),
      }).ended
      expect(stderr).toBe("")
      const full = {
        kind: "unknown",
        _tag: "StoreUnavailableError",
        retryable: true,
        status: small ? "ENOSPC" : "EFBIG",
        message: expect.stringMatching(small ? /Make room on that file system/ : /ulimit -f/),
      }
      const told: unknown = JSON.parse(stdout)
      expect(told).toMatchObject({ durable: full, quick: full, read: "before", temporaries: [], again: "applied" })
      expect(told).toHaveProperty("durable.message", expect.stringContaining(directory))
    },
  )
})
