/** What a guardian needs of the system to do its work, and what it does without. */
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import { Guardian } from "../../src/cli/run/guardian.ts"
import { GUARDIAN } from "../../src/cli/run/scripts.ts"
import { liveClock } from "../../src/runtime/clock.ts"

/** A process group that ends by itself in a minute. */
function group(): { readonly id: number; readonly ended: Promise<NodeJS.Signals | null> } {
  const child = spawn("/bin/sleep", ["60"], { detached: true, stdio: "ignore" })
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals | null>()
  child.once("exit", (_, signal) => resolve(signal))
  onTestFinished(() => void child.kill("SIGKILL"))
  return { id: child.pid!, ended: promise }
}

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "leasehold-guardian-"))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

describe.skipIf(process.platform === "win32")("a guardian", () => {
  it("uses the system's programs, whatever its caller's PATH has under their names", async () => {
    const [theirs, log] = [folder(), join(folder(), "log")]
    for (const name of ["sleep", "date", "rm"]) {
      writeFileSync(join(theirs, name), `#!/bin/sh\necho ${name} >>${log}\nexec /bin/${name} "$@"\n`, { mode: 0o755 })
    }
    vi.stubEnv("PATH", `${theirs}:${process.env["PATH"]}`)
    onTestFinished(() => void vi.unstubAllEnvs())
    const { id, ended } = group()
    const own = folder()
    const guardian = new Guardian(Promise.resolve(id), own, liveClock)
    await Promise.resolve() // it has been told the group
    guardian.allow(liveClock.read().wall + 500)
    expect(await ended).toBe("SIGKILL")
    await guardian.gone
    expect({ its: existsSync(own), log: existsSync(log) }).toEqual({ its: false, log: false })
  })

  it.each([
    ["it can't sleep, rather than look at the time without a pause", {}],
    ["its shell gives up a watch, as it does where it can't make one more process", { date: "echo 09", sleep: ":" }],
  ])("ends where %s", async (_, has) => {
    const { id } = group()
    const programs = folder()
    for (const [name, line] of Object.entries({ date: 'exec /bin/date "$@"', ...has }))
      writeFileSync(join(programs, name), `#!/bin/sh\n${line}\n`, { mode: 0o755 })
    const child = spawn("/bin/sh", ["-c", GUARDIAN, "guardian", "wall", folder()], {
      env: { PATH: programs },
      stdio: ["pipe", "ignore", "ignore"],
    })
    child.stdin.on("error", () => {}) // it is gone
    onTestFinished(() => void child.stdin.end("done\n"))
    const gone = new Promise((resolve) => child.once("exit", (__, signal) => resolve(signal)))
    child.stdin.write(`${id}\n${Math.floor(liveClock.read().wall / 10) + 6000}\n`)
    expect(await gone).toBe("SIGKILL")
    expect(() => process.kill(id, 0)).not.toThrow() // what it guarded is its wrapper's to end
  })
})
