/** The completions, as each shell reads them. */
import { spawnSync } from "node:child_process"
import { describe, expect, it } from "vitest"
import { COMMANDS } from "../../src/cli/commands.ts"
import { CommandLine } from "./command-line.ts"

async function completed(...words: readonly string[]): Promise<string[]> {
  const { out } = await new CommandLine().run("completions", "bash")
  const quoted = words.map((word) => `'${word}'`).join(" ")
  const script = `${out}\nCOMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _leasehold; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, status } = spawnSync("bash", ["-c", script], { encoding: "utf8" })
  expect(status).toBe(0)
  return stdout.split("\n").filter((line) => line !== "")
}

describe("completions of bash", () => {
  it("know the commands, and the options of each", async () => {
    expect(await completed("leasehold", "")).toEqual([...COMMANDS.map(({ name }) => name), "--help", "--version"])
    expect(await completed("leasehold", "unlock", "--g")).toEqual(["--generation"])
    expect(await completed("leasehold", "completions", "f")).toEqual(["fish"])
  })

  it("know the values of an option, and complete a command after --", async () => {
    expect(await completed("leasehold", "run", "--on-request", "t")).toEqual(["term"])
    expect(await completed("leasehold", "run", "key", "--", "printenv")).toContain("printenv")
  })
})

describe("completions of the other shells", () => {
  it.each(["zsh", "fish"])("of %s name every command and option", async (shell) => {
    const { code, out } = await new CommandLine().run("completions", shell)
    expect(code).toBe(0)
    for (const { name, options } of COMMANDS) {
      expect(out).toContain(name)
      for (const option of Object.keys(options)) expect(out).toContain(option)
    }
  })
})
