/**
 * `leasehold run` on a terminal, where its command may ask its user something, may be stopped, and may not be alone.
 */
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { says, Shell } from "./support/command.ts"

describe("on a terminal", () => {
  // Tests command: On a terminal the command is in front and gets Ctrl-C; in a pipe the others keep the terminal.
  it("the command can ask its user something, as it would without", async () => {
    const script = "echo name?; read name </dev/tty; echo hello $name; exit 4"
    const { stdout } = await new Shell().onTerminal("name?", "Ada\\n", "run", "k", "--", "sh", "-c", script)
    expect(stdout).toContain("hello Ada\n")
    expect(stdout).toMatch(/code 4\n$/)
  })

  it("Ctrl-C is for the command, and ends the wrapper as it ended that", async () => {
    // No shell waits for it: dash loses a Ctrl-C that comes while it starts a program or begins to read.
    const script = "import signal; signal.signal(2, signal.SIG_DFL); print('at work', flush=True); signal.pause()"
    const { stdout } = await new Shell().onTerminal("at work", "\\x03", "run", "k", "--", "python3", "-c", script)
    expect(stdout).toMatch(/signal 2\n$/)
  })

  it("Ctrl-Z stops nothing", async () => {
    // One that was stopped would hear that it is continued. The line after it comes from the same hand, and later.
    const script = "trap 'echo continued' CONT; echo at work; read line; echo done"
    const { stdout } = await new Shell().onTerminal("at work", "\\x1a\\n", "run", "k", "--", "sh", "-c", script)
    expect(stdout).toMatch(/^at work\n\^Z\ndone\ncode 0\n$/)
  })

  it("a wait shows who has the key, and how much of the budget is left", async () => {
    const shell = new Shell()
    const holder = shell.start("run", "k", "--", "sh", "-c", "echo at work; sleep 1000")
    await says(holder, "at work")
    const shown = `pid ${holder.child.pid}`
    const { stdout } = await shell.onTerminal(shown, "\\x03", "run", "--lock-timeout", "50", "k", "--", "true")
    expect(stdout).toContain(shown)
    expect(stdout).toMatch(/Waiting \d+ s more for "k"/)
    expect(stdout).toMatch(/code 77\n$/)
    holder.signal("SIGTERM")
    await holder.ended
  })

  it("a command that is stopped is continued, and ends as it ends", async () => {
    const script = "kill -s STOP $$; echo again; kill -s TTIN $$; echo and again; exit 4"
    const { stdout } = await new Shell().onTerminal("", "", "run", "k", "--", "sh", "-c", script)
    expect(stdout).toMatch(/^again\nand again\ncode 4\n$/)
  })

  // Tests command: An exit code is no signal and a signal no exit code; an unknown end is a failure.
  it.each([129, 130, 137, 143, 147, 152, 168])("exit code %i is no signal, and passed on", async (code) => {
    const { stdout } = await new Shell().onTerminal("", "", "run", "k", "--", "sh", "-c", `exit ${code}`)
    expect(stdout).toBe(`code ${code}\n`)
  })

  it.each([1, 2, 9, 15, 24])("signal %i is no exit code, and passed on", async (signal) => {
    const { stdout } = await new Shell().onTerminal("", "", "run", "k", "--", "sh", "-c", `kill -${signal} $$`)
    expect(stdout).toBe(`signal ${signal}\n`)
  })

  it("a signal without a name is passed on as 128 and its number", async () => {
    const { stdout } = await new Shell().onTerminal("", "", "run", "k", "--", "sh", "-c", "kill -40 $$")
    expect(stdout).toBe("code 168\n")
  })

  it("a terminal that hangs up leaves the end that the command chose", async () => {
    const work = "trap 'exit 5' HUP; echo at work; while :; do sleep 0.1; done"
    const { stdout } = await new Shell().hungUp('exec "$@"', "at work", "run", "k", "--", "sh", "-c", work)
    expect(stdout).toBe("code 5\n")
  })

  it("a command in a pipe has no terminal to ask at", async () => {
    const script = "{ cat </dev/tty; } 2>/dev/null || echo refused"
    const { stdout } = await new Shell().inPipe('"$@" | cat', "", "", "run", "k", "--", "sh", "-c", script)
    expect(stdout).toBe("refused\ncode 0\n")
  })

  it("a run in a pipe leaves the terminal to who reads there", async () => {
    const shell = new Shell()
    const done = join(shell.directory, "done")
    const work = `mkfifo ${done}; echo name?; read end <${done}`
    const reader = `"$@" | { read text; echo $text; read name </dev/tty; echo hello $name; echo >${done}; }`
    const { stdout } = await shell.inPipe(reader, "name?", "Ada\\n", "run", "k", "--", "sh", "-c", work)
    expect(stdout).toContain("hello Ada\n")
  })
})
