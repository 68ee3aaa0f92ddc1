/** What the command understands, and how it says that it doesn't. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import npm from "../../package.json" with { type: "json" }
import { COMMANDS } from "../../src/cli/commands.ts"
import { EXIT } from "../../src/cli/errors/exit-codes.ts"
import { optionsOf } from "../../src/cli/frame/arguments.ts"
import { FileLock } from "../../src/locks/stores/file/mod.ts"
import { type Answer, CommandLine } from "./command-line.ts"

describe("the command", () => {
  it("shows every command in its help, and every option and example in a command's", async () => {
    const user = new CommandLine()
    const overview = await user.run("--help")
    expect(overview).toMatchObject({ code: 0, err: "" })
    for (const spec of COMMANDS) {
      expect(overview.out).toContain(`  ${spec.name}`)
      const { code, out } = await user.run(spec.name, "--help")
      expect(code).toBe(0)
      for (const name of Object.keys(optionsOf(spec))) expect(out).toContain(`--${name}`)
      for (const [line] of spec.examples) expect(out).toContain(line)
      expect(spec.examples.length).toBeGreaterThan(0)
    }
  })

  it("takes options beside a request for help for no command", async () => {
    const user = new CommandLine()
    const { help } = JSON.parse((await user.run("--help", "--json")).out) as { help: string }
    expect(help).toBe((await user.run("--help", "--no-color")).out.trimEnd())
    expect((await user.run("help", "--no-color", "ls")).out).toContain("leasehold ls [options]")
  })

  it("says its version, which is the package's", async () => {
    expect(await new CommandLine().run("--version")).toEqual({ code: 0, out: `${npm.version}\n`, err: "" })
  })

  // Tests command: A bad value is usage from a flag, and configuration from the environment or a file.
  it.each([
    ["no command", [], "There is no command"],
    ["an unknown command", ["locked"], '"locked" is no command of leasehold'],
    ["an unknown option", ["status", "a", "--stor", "x"], "Unknown option '--stor'"],
    ["an option without its value", ["status", "a", "--store"], "argument missing"],
    ["a missing operand", ["status"], "status needs key"],
    ["an operand too many", ["status", "a", "b"], '"b" is one argument too many'],
    ["no command to run", ["run", "a"], "There is no command to run"],
    ["a command where none is run", ["status", "a", "--", "b"], '"b" is one argument too many'],
    ["no key before a command with a -- of its own", ["run", "--", "git", "checkout", "--", "f"], "run needs key"],
    ["no command after keys between two --", ["run", "--", "-x", "--"], "There is no command to run"],
    ["keys after a -- without a command", ["run", "--", "-x"], "There is no command to run"],
    ["a value that isn't one of few", ["run", "--on-request", "stop", "a", "--", "b"], '--on-request is "stop"'],
    ["an exit code over 255", ["run", "--exit-code", "256", "a", "--", "b"], '--exit-code is "256"'],
    ["an exit code below 0", ["run", "--exit-code=-1", "a", "--", "b"], '--exit-code is "-1"'],
    ["an exit code that is no number", ["run", "-E", "x", "a", "--", "b"], '--exit-code is "x"'],
    ["a shell that has no completions", ["completions", "csh"], '"csh" is no shell with completions'],
    [
      "--no-queue for one who doesn't ask",
      ["run", "--store", "memory:", "--no-queue", "a", "--", "b"],
      "--no-queue means",
    ],
    ["a key that is none", ["status", "--store", "memory:", "a/../b"], "is not a key"],
    ["a store that is none", ["status", "--store", "nope", "a"], '--store is "nope"'],
    ["a bucket's name that is none", ["ls", "--store", "gs://B!"], '"B!" is not the name of a bucket'],
    ["another user's home as a store", ["doctor", "--store", "file:~bob"], '--store is "file:~bob"'],
    ["--for of no time", ["request", "--store", "memory:", "--for", "0", "a"], '--for is "0"'],
  ])("refuses %s", async (_, words, said) => {
    const { code, out, err } = await new CommandLine().run(...words)
    expect({ code, out }).toEqual({ code: EXIT.usage, out: "" })
    expect(err).toContain(said)
    expect(err).toMatch(/^leasehold: .*\. .*\.\n$/)
  })

  it.each([
    ["--ttl", "abc"],
    ["--ttl", "infinite"],
    ["--ttl", "1ms"],
    ["--ttl", "25h"],
    ["--grace", "infinite"],
    ["--lock-timeout", "abc"],
    ["--scope", "nope"],
  ])("refuses %s %s, which can't be", async (name, value) => {
    const user = new CommandLine()
    const { code, out, err } = await user.run("run", "--store", user.store, name, value, "a", "--", "true")
    expect({ code, out }).toEqual({ code: EXIT.usage, out: "" })
    expect(err).toMatch(/^leasehold: .*(ttl|--grace|--lock-timeout|scope).*\. .*\.\n$/)
  })

  it.each<[string, Record<string, string>, object]>([
    ["a store that is none", { LEASEHOLD_STORE: "nope" }, {}],
    ["a bucket's name that is none", { LEASEHOLD_STORE: "gs://B!" }, {}],
    ["another user's home as a store", { LEASEHOLD_STORE: "file:~bob" }, {}],
    ["a budget that is none", { LEASEHOLD_STORE: "memory:", LEASEHOLD_LOCK_TIMEOUT: "abc" }, {}],
    ["a store that is none in the file", {}, { store: "nope" }],
    ["a budget that is none in the file", {}, { store: "memory:", locking: { timeout: "abc" } }],
  ])("says of %s, which no flag gave, that the configuration is wrong", async (_, env, config) => {
    const user = new CommandLine()
    user.env = env
    writeFileSync(join(user.cwd, "leasehold.config.json"), JSON.stringify(config))
    const { code, err } = await user.run("run", "a", "--", "true")
    expect({ code, err }).toEqual({ code: EXIT.configuration, err: expect.stringMatching(/^leasehold: .*\. .*\.\n$/) })
  })

  it("says failures as JSON where it is told to, with code, remedy and exit code", async () => {
    const user = new CommandLine()
    user.env = { LEASEHOLD_STORE: "ftp://x" }
    const { err } = await user.run("status", "--json", "a")
    expect(JSON.parse(err)).toEqual({
      error: "InvalidConfigError",
      code: "LEASEHOLD_CONFIG",
      message: expect.stringContaining("LEASEHOLD_STORE is"),
      next: "Use file:DIR, gs://BUCKET, gs://BUCKET/PREFIX or memory:",
      retryable: false,
      exitCode: EXIT.configuration,
    })
  })

  // Tests command: Every key can be reached, also with a leading `-`, and a printed command line reaches it.
  it("takes keys that begin with - after --, for run between two", async () => {
    const user = new CommandLine()
    const call = (command: string, ...words: string[]): Promise<Answer> =>
      user.run(command, "--store", user.store, "--json", ...words)
    expect(await call("run", "--", "-x", "--help", "a", "--", "true", "--", "b")).toEqual({ code: 0, out: "", err: "" })
    const { out } = await call("ls")
    expect((JSON.parse(out) as { keys: { key: string }[] }).keys.map(({ key }) => key)).toEqual(["--help", "-x", "a"])
    for (const command of ["status", "request", "unlock", "ls"]) {
      const answer = await call(command, "--", "-x")
      expect({ command, ...answer }).toEqual({ command, code: 0, out: expect.stringContaining('"-x"'), err: "" })
    }
    expect(await call("status", "a", "--")).toMatchObject({ code: 0 })
  })

  // Tests command: An unexpected error is the command's own fault: exit code 70, with its stack.
  it("calls what it doesn't expect a fault of its own", async () => {
    const user = new CommandLine()
    const status = COMMANDS.find(({ name }) => name === "status")!
    const action = vi.spyOn(status, "action").mockRejectedValue(new RangeError("out of luck"))
    onTestFinished(() => action.mockRestore())
    const text = await user.run("status", "a")
    const err = expect.stringMatching(/^leasehold: RangeError: out of luck\n +at /)
    expect(text).toEqual({ code: 70, out: "", err })
    const json = await user.run("status", "--json", "a")
    expect({ ...json, err: JSON.parse(json.err) as unknown }).toEqual({
      ...{ code: 70, out: "" },
      err: { error: "Error", message: "out of luck", exitCode: 70 },
    })
  })

  it("colours on a terminal only, and neither with --no-color nor with NO_COLOR", async () => {
    const user = new CommandLine()
    const colored = async (...words: string[]): Promise<boolean> => {
      const { code, out } = await user.run("--help", ...words)
      expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining("leasehold <command> [options]") })
      return out.includes("\u001b[")
    }
    expect(await colored()).toBe(false)
    user.isTTY = true
    expect(await colored()).toBe(true)
    expect(await colored("--no-color")).toBe(false)
    user.env = { NO_COLOR: "1" }
    expect(await colored()).toBe(false)
  })

  // Tests command: A command that can't be begun holds nothing, and nobody waits for it.
  it("says at once that a command can't even be begun, and holds nothing", async () => {
    const user = new CommandLine()
    const never = "x".repeat(200_000) // longer than a system lets an argument be
    const run = (key: string): Promise<object> => user.run("run", "--store", user.store, key, "--", "echo", never)
    await using _ = await new FileLock("b", { directory: join(user.cwd, "store") }).acquire()
    expect(await run("a")).toMatchObject({ code: 126, out: "", err: expect.stringContaining("can't be started") })
    expect((await user.json("status", "a")).value).toMatchObject({ owner: null })
    expect(await run("b")).toMatchObject({ code: 126 })
  })

  it("says that there is no room for the lease file", async () => {
    const user = new CommandLine()
    vi.stubEnv("TMPDIR", "/dev/null")
    onTestFinished(() => void vi.unstubAllEnvs())
    const run = await user.run("run", "--store", "memory:", "a", "--", "true")
    expect(run).toMatchObject({ code: 78, err: expect.stringContaining("TMPDIR") })
  })

  it("refuses to run commands on Windows, and directories as stores there", async () => {
    const user = new CommandLine()
    user.platform = "win32"
    const run = await user.run("run", "--store", "memory:", "a", "--", "b")
    expect(run).toMatchObject({ code: EXIT.storeMisconfigured, err: expect.stringContaining("no process groups") })
    const status = await user.run("status", "a")
    expect(status).toMatchObject({ code: EXIT.storeMisconfigured, err: expect.stringContaining("Name a bucket") })
  })
})
