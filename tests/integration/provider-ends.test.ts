/** What becomes of the keys of a lock provider on a directory when their process ends. */
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { FileLock } from "../../src/locks/stores/file/mod.ts"
import { says } from "./support/command.ts"
import { type Runtime, type Spawned, spawnScript } from "./support/spawn.ts"

interface Scene {
  readonly directory: string
  readonly holder: Spawned
  /** What `cat` shows of its key. */
  readonly shown: () => Promise<unknown>
}

async function scene(runtime: Runtime): Promise<Scene> {
  const directory = await mkdtemp(join(tmpdir(), "leasehold-provider-"))
  onTestFinished(() => rm(directory, { recursive: true }))
  const script = new URL("provider-worker.ts", import.meta.url)
  const holder = spawnScript({ runtime, script, args: [directory] })
  onTestFinished(() => void holder.signal("SIGKILL"))
  await says(holder, "holds")
  return { directory, holder, shown: async () => JSON.parse(await readFile(join(directory, "provided.lock"), "utf8")) }
}

describe.each(["node", "deno"] as const)("a key that a provider on %s holds", (runtime) => {
  // Tests providers: A provider's keys in a directory are free once their process is gone.
  it.each(["an exit", "a signal"] as const)("is left by %s, and taken over on the same machine", async (by) => {
    const { directory, holder, shown } = await scene(runtime)
    if (by === "an exit") holder.child.stdin?.end()
    else holder.signal("SIGTERM")
    expect(await holder.ended).toMatchObject(by === "an exit" ? { code: 0 } : { signal: "SIGTERM" })
    expect(await shown()).toMatchObject({ ownerId: expect.any(String) })
    await using lease = await new FileLock("provided", { directory }).acquire({ timeout: 0 })
    expect(lease.how).toBe("takeover")
  })
})
