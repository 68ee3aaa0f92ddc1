/** `leasehold` on a host that others use too: by real processes, and where it takes two users as root, by processes of theirs. */
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { leasehold } from "./support/command.ts"
import { type Ended, spawnScript } from "./support/spawn.ts"

const LONG = 60_000

/** A directory of this user alone, or with other rights. */
function folder(mode = 0o700): string {
  const made = mkdtempSync(join(tmpdir(), "leasehold-host-"))
  chmodSync(made, mode)
  onTestFinished(() => rmSync(made, { recursive: true }))
  return made
}

describe("compiled code", () => {
  const unset = ["NODE_COMPILE_CACHE", "NODE_DISABLE_COMPILE_CACHE", "XDG_CACHE_HOME"].flatMap((name) => ["-u", name])
  const call = (env: Record<string, string>): Promise<Ended> =>
    spawnScript({ runtime: "node", script: leasehold, args: ["--version"], env, under: ["env", ...unset] }).ended

  it("is kept where its user alone may write, never among the temporary files of all", { timeout: LONG }, async () => {
    const [home, temporary] = [folder(), folder(0o1777)]
    expect(await call({ HOME: home, TMPDIR: temporary })).toMatchObject({ code: 0, stderr: "" })
    expect(readdirSync(temporary)).toEqual([])
    const kept = join(home, ".cache", "leasehold", "compiled")
    expect(lstatSync(kept).mode & 0o777).toBe(0o700)
    expect(readdirSync(kept)).toHaveLength(1)
  })

  it("is not kept where others may write, or read", { timeout: LONG }, async () => {
    const [open, temporary] = [folder(0o777), folder(0o1777)]
    expect(await call({ HOME: open, TMPDIR: temporary })).toMatchObject({ code: 0, stderr: "" })
    expect([...readdirSync(open), ...readdirSync(temporary)]).toEqual([])
    const [home] = [folder()]
    const read = join(home, ".cache", "leasehold", "compiled")
    mkdirSync(read, { recursive: true, mode: 0o755 })
    expect(await call({ HOME: home, TMPDIR: temporary })).toMatchObject({ code: 0, stderr: "" })
    expect([...readdirSync(read), ...readdirSync(temporary)]).toEqual([])
  })
})
