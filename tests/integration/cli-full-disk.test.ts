/**
 * The command on a file system that is really full: what is wrong is said at once, and who only reads needs no room.
 */
import { describe, expect, it } from "vitest"
import { says, Shell } from "./support/command.ts"
import { canMount, SmallDisk } from "./support/small-disk.ts"
import type { Runtime } from "./support/spawn.ts"

/** A guard against hangs, no measure of speed. In milliseconds. */

describe.runIf(canMount()).each<Runtime>(["node", "deno"])("on a full disk (%s)", (runtime) => {
  // Tests command: On a full store a start fails at once, reads work, and runs last as long as their leases.
  it("says so at once instead of waiting, and reads all the same", async () => {
    const disk = new SmallDisk()
    const shell = new Shell(runtime, { LEASEHOLD_STORE: `file:${disk.directory}` })
    const holder = shell.start("run", "--ttl", "2min", "k", "--", "sh", "-c", "echo at work; read line")
    await says(holder, "at work")
    const { generation } = JSON.parse((await shell.call("status", "--json", "k")).stdout) as { generation: string }
    disk.fill()
    for (const words of [
      ["run", "free", "--", "true"],
      ["run", "k", "--", "true"],
      ["request", "k"],
      ["unlock", "k", "--generation", generation],
    ]) {
      const { code, stderr } = await shell.call(...words)
      const full = expect.stringMatching(/failed with ENOSPC while writing.*Make room on that file system/)
      expect({ words, code, stderr }).toEqual({ words, code: 69, stderr: full })
      expect(stderr).not.toContain("did not get ready")
    }
    expect(await shell.call("doctor")).toMatchObject({ stdout: expect.stringContaining("ENOSPC") })
    expect(await shell.call("status", "k")).toMatchObject({ code: 0, stderr: "" })
    expect(await shell.call("ls")).toMatchObject({ code: 0, stdout: expect.stringContaining("k"), stderr: "" })
    disk.empty()
    holder.child.stdin?.end("\n")
    expect(await holder.ended).toMatchObject({ code: 0, stderr: "" })
    expect(await shell.call("run", "k", "--", "true")).toMatchObject({ code: 0, stderr: "" })
  })

  it("lets what runs go on as long as its lease lasts, with a word", async () => {
    const disk = new SmallDisk()
    const shell = new Shell(runtime, { LEASEHOLD_STORE: `file:${disk.directory}` })
    const run = shell.start("run", "--ttl", "30s", "k", "--", "sh", "-c", "echo at work; read line")
    await says(run, "at work")
    disk.fill()
    await says(run, "the command may go on until")
    disk.empty()
    run.child.stdin?.end("\n")
    expect(await run.ended).toMatchObject({ code: 0, stderr: expect.stringMatching(/can't be renewed.*ENOSPC/) })
  })
})
