/** What a drain that can't end leaves behind when it ends its process: no key released under work that still runs. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { FileLock } from "../../src/locks/stores/file/mod.ts"
import { says } from "./support/command.ts"
import { Pipe, PIPE_HOLDS } from "./support/pipe.ts"
import { spawnScript } from "./support/spawn.ts"

describe.each(["node", "deno"] as const)("a process on %s that drains on signals", (runtime) => {
  // Tests stores: A drain with stuck work, and a second signal, end the process; nothing of that work is released.
  it("ends with its grace though a thread of stuck work still writes, and its key is free once it is gone", async () => {
    const directory = await mkdtemp(join(tmpdir(), "leasehold-drain-"))
    onTestFinished(() => rm(directory, { recursive: true }))
    using pipe = new Pipe(join(directory, "pipe"))
    const script = new URL("drain-worker.ts", import.meta.url)
    const owner = spawnScript({ runtime, script, args: [directory, pipe.path, String(20 * PIPE_HOLDS)] })
    onTestFinished(() => void owner.signal("SIGKILL"))
    const drained = says(owner, 'drained {"stuck":["writer/k"]}')
    await Promise.race([pipe.begun, drained]) // fails should it end before
    owner.signal("SIGTERM")
    await drained
    const { code, signal } = await owner.ended // nobody has read: a mere exit would wait for the write
    expect([code, signal]).toEqual([null, "SIGTERM"])
    await using lease = await new FileLock("writer/k", { directory }).acquire({ timeout: 0 })
    expect(lease.how).toBe("takeover")
    expect(await pipe.drain()).toBeLessThanOrEqual(PIPE_HOLDS)
  })
})
