/** `leasehold run` on a terminal, where its command may be stopped, and may not be alone. */
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { Shell } from "./support/command.ts"

const LONG = 60_000

describe("on a terminal", () => {
  it("a command that is stopped is continued, and ends as it ends", { timeout: LONG }, async () => {
    const script = "kill -s STOP $$; echo again; kill -s TTIN $$; echo and again; exit 4"
    const { stdout } = await new Shell().onTerminal("", "", "run", "k", "--", "sh", "-c", script)
    expect(stdout).toMatch(/^again\nand again\ncode 4\n$/)
  })

  it.each([147, 148, 149, 150])("exit code %i is no stop, and passed on", { timeout: LONG }, async (code) => {
    const { stdout } = await new Shell().onTerminal("", "", "run", "k", "--", "sh", "-c", `exit ${code}`)
    expect(stdout).toBe(`code ${code}\n`)
  })

  it("a run in a pipe leaves the terminal to who reads there", { timeout: LONG }, async () => {
    const shell = new Shell()
    const done = join(shell.directory, "done")
    const work = `mkfifo ${done}; echo name?; read end <${done}`
    const reader = `"$@" | { read text; echo $text; read name </dev/tty; echo hello $name; echo >${done}; }`
    const { stdout } = await shell.inPipe(reader, "name?", "Ada\\n", "run", "k", "--", "sh", "-c", work)
    expect(stdout).toContain("hello Ada\n")
  })
})
