/** Who contends: one name for each process and store object, that is never used again. */
import { execFile } from "node:child_process"
import { join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { describe, expect, it } from "vitest"
import { anIncarnation, hostOf, thisProcess } from "../../../src/locks/engine/incarnation.ts"
import { memoryStore } from "../../../src/locks/stores/memory-store.ts"
import { processes } from "../../../src/runtime/machine/processes.ts"
import { liveClock } from "../../../src/runtime/time/clock.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url))
const deno = "Deno" in globalThis ? process.execPath : join(root, "node_modules", ".bin", "deno")

describe("the incarnation of this process", () => {
  it("is one for a store object, and another for each other one", () => {
    const [one, two] = [memoryStore(), memoryStore()]
    expect(thisProcess(one)).toBe(thisProcess(one))
    expect(thisProcess(two).id).not.toBe(thisProcess(one).id)
  })

  it("is a name that can be part of an object's name, with the process id in it", () => {
    const here = thisProcess(memoryStore())
    expect(() => anIncarnation("incarnation", here)).not.toThrow()
    const { id } = here
    expect(id.split(".")).toContain(String(process.pid))
  })

  it("tells which process it is to others of its machine's boot, and nothing where time is another machine's", () => {
    const bootId = liveClock.bootId!
    const { self } = processes
    expect(hostOf(bootId)).toMatchObject({ ...self, pid: process.pid, bootId, groups: [] })
    expect(hostOf("boot-1")).toEqual({ name: "", pid: 0, startedAt: null, bootId: "boot-1", pidNs: null, groups: [] })
  })

  it("needs no permission of Deno's", async () => {
    const program = fileURLToPath(new URL("../programs/without-permissions.ts", import.meta.url))
    // Deno's own spawn would give all permissions to a program that is started without a word about any.
    const args = ["run", "--allow-env", "--no-prompt", "--quiet", "--config", join(root, "deno.json"), program]
    const { stdout } = await promisify(execFile)(deno, args)
    expect(JSON.parse(stdout)).toEqual({
      held: true,
      owner: expect.stringMatching(/^host\.\d+\.[A-Za-z0-9_-]{16}$/),
      released: "released",
    })
  })
})
