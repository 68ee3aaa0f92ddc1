/** The command on a file system that is really full: what is wrong is said at once, and who only reads needs no room. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { says, Shell } from "./support/command.ts"
import type { Runtime } from "./support/spawn.ts"

/** A guard against hangs, no measure of speed. In milliseconds. */
const LONG = 120_000
/** Only root may mount one. */
const mounts = spawnSync("mount", ["--fake", "-t", "tmpfs", "tmpfs", "/mnt"]).status === 0

/** A small file system of its own, which can be filled. */
class SmallDisk {
  readonly directory = mkdtempSync(join(tmpdir(), "leasehold-full-"))

  constructor() {
    spawnSync("mount", ["-t", "tmpfs", "-o", "size=512k", "tmpfs", this.directory])
    onTestFinished(() => {
      spawnSync("umount", [this.directory])
      rmSync(this.directory, { recursive: true })
    })
  }

  fill(): void {
    const { bavail, bsize } = statfsSync(this.directory)
    writeFileSync(join(this.directory, "filling"), new Uint8Array(bavail * bsize))
  }

  empty(): void {
    rmSync(join(this.directory, "filling"))
  }
}

describe.runIf(mounts).each<Runtime>(["node", "deno"])("on a full disk (%s)", (runtime) => {
  it("says so at once instead of waiting, and reads all the same", { timeout: LONG }, async () => {
    const disk = new SmallDisk()
    const shell = new Shell(runtime, { LEASEHOLD_STORE: `file:${disk.directory}` })
    expect(await shell.call("run", "k", "--", "true")).toMatchObject({ code: 0 })
    disk.fill()
    for (const words of [
      ["run", "k", "--", "true"],
      ["request", "k"],
      ["unlock", "k", "--generation", "9"],
    ]) {
      const { code, stderr } = await shell.call(...words)
      const full = expect.stringMatching(/failed with ENOSPC while (writing|starting).*Make room on that file system/)
      expect({ words, code, stderr }).toEqual({ words, code: 69, stderr: full })
      expect(stderr).not.toContain("did not get ready")
    }
    expect(await shell.call("doctor")).toMatchObject({ stdout: expect.stringContaining("ENOSPC") })
    expect(await shell.call("status", "k")).toMatchObject({ code: 0, stderr: "" })
    expect(await shell.call("ls")).toMatchObject({ code: 0, stdout: expect.stringContaining("k"), stderr: "" })
    disk.empty()
    expect(await shell.call("run", "k", "--", "true")).toMatchObject({ code: 0, stderr: "" })
  })

  it("lets what runs go on as long as its lease lasts, with a word", { timeout: LONG }, async () => {
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
