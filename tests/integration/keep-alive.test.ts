/** How long a process lives whose only work is the `run` of a sandbox. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { type Ended, type Runtime, spawnScript } from "./support/spawn.ts"

async function ended(runtime: Runtime, ...args: readonly string[]): Promise<Ended> {
  const directory = await mkdtemp(join(tmpdir(), "leasehold-alive-"))
  onTestFinished(() => rm(directory, { recursive: true }))
  const script = new URL("keep-alive-worker.ts", import.meta.url)
  const worker = spawnScript({ runtime, script, args: [directory, ...args] })
  onTestFinished(() => void worker.signal("SIGKILL"))
  return worker.ended
}

describe.each(["node", "deno"] as const)("a process on %s whose only work is the run of a sandbox", (runtime) => {
  // Tests processes: A process lives as long as the run of a sandbox goes on, unless keepAlive is false.
  it("lives until that has ended, and no longer", async () => {
    expect(await ended(runtime)).toMatchObject({ code: 0, stdout: "runs\nover\n", stderr: "" })
    expect(await ended(runtime, "true")).toMatchObject({ code: 0, stdout: "runs\nover\n", stderr: "" })
  })

  it("with keepAlive: false ends before it, as it has nothing else to do", async () => {
    expect(await ended(runtime, "false")).toMatchObject({ code: 0, stdout: "runs\n", stderr: "" })
  })
})
