/**
 * The completions: of bash as bash completes, of zsh and fish line by line, and as those read them where they are
 * installed.
 */
import { spawnSync } from "node:child_process"
import process from "node:process"
import { describe, expect, it } from "vitest"
import { COMMANDS } from "../../../src/cli/commands.ts"
import { optionsOf } from "../../../src/cli/frame/arguments.ts"
import { CommandLine } from "../command-line.ts"

const scriptFor = async (shell: string): Promise<string> => (await new CommandLine().run("completions", shell)).out

/**
 * What a shell prints for a script that it reads. In the one locale that every system has: of another it may complain.
 */
function said(shell: string, ...args: readonly string[]): string {
  const { stdout, stderr, status } = spawnSync(shell, args, { encoding: "utf8", env: { ...process.env, LC_ALL: "C" } })
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" })
  return stdout
}

const isMissing = (shell: string): boolean => spawnSync(shell, ["--version"]).error !== undefined

async function completed(...words: readonly string[]): Promise<string[]> {
  const quoted = words.map((word) => `'${word}'`).join(" ")
  const script = `${await scriptFor("bash")}\nCOMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _leasehold; printf '%s\\n' "\${COMPREPLY[@]}"`
  return said("bash", "-c", script)
    .split("\n")
    .filter((line) => line !== "")
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
    expect(await completed("leasehold", "status", "--", "printenv")).toEqual([])
  })
})

describe("completions of zsh", () => {
  it("are those of bash, by its own means", async () => {
    const [first, , means, ...rest] = (await scriptFor("zsh")).split("\n")
    expect([first, means]).toEqual(["#compdef leasehold", "autoload -Uz bashcompinit && bashcompinit"])
    expect(rest.join("\n")).toBe(await scriptFor("bash"))
  })

  it.skipIf(isMissing("zsh"))("are a script that it understands", async () => {
    expect(said("zsh", "-n", "-c", await scriptFor("zsh"))).toBe("")
  })
})

describe("completions of fish", () => {
  it("have a line for each command, and for each option of each, and no other", async () => {
    const lines = (await scriptFor("fish")).trimEnd().split("\n").slice(2)
    const known = lines.map((line) => {
      const [, command] = /^complete -c leasehold -n __fish_use_subcommand -a (\w+) -d '[^']+/.exec(line) ?? []
      const option = /^complete -c leasehold -n '__fish_seen_subcommand_from (\w+)' -l ([\w-]+) .*-d '[^']+/.exec(line)
      return command ?? (option === null ? line : `${option[1]} --${option[2]}`)
    })
    const all = COMMANDS.flatMap((spec) => [
      spec.name,
      ...Object.keys(optionsOf(spec)).map((option) => `${spec.name} --${option}`),
    ])
    const shells = "complete -c leasehold -n '__fish_seen_subcommand_from completions' -a 'bash zsh fish'"
    expect(known).toEqual([...all, shells])
  })

  it.skipIf(isMissing("fish"))("are a script by which it completes", async () => {
    const script = await scriptFor("fish")
    const completes = (line: string): string[] =>
      said("fish", "--no-config", "-c", `${script}\ncomplete -C ${JSON.stringify(line)}`)
        .trimEnd()
        .split("\n")
        .map((each) => each.split("\t")[0]!)
    expect(completes("leasehold ").toSorted()).toEqual(COMMANDS.map(({ name }) => name).toSorted())
    expect(completes("leasehold unlock --g")).toEqual(["--generation"])
    expect(completes("leasehold run --on-request t")).toEqual(["term"])
    expect(completes("leasehold completions f")).toEqual(["fish"])
  })
})

it("completions as JSON hold the same script", async () => {
  const { code, out } = await new CommandLine().run("completions", "--json", "fish")
  const { shell, script } = JSON.parse(out) as { shell: string; script: string }
  expect({ code, shell, script: `${script}\n` }).toEqual({ code: 0, shell: "fish", script: await scriptFor("fish") })
})
