/** What a run is asked to do: whose word on the budget counts, and what is refused. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { COMMANDS } from "../../src/cli/commands.ts"
import { UsageError } from "../../src/cli/errors/usage-error.ts"
import { readArguments } from "../../src/cli/frame/arguments.ts"
import { Output } from "../../src/cli/frame/output.ts"
import { type RunSettings, runSettings } from "../../src/cli/run/settings.ts"
import { findConfig, PROJECT_FILE } from "../../src/cli/stores/config.ts"
import { InvalidConfigError } from "../../src/locks/api/errors.ts"
import { CommandLine } from "./command-line.ts"

const spec = COMMANDS.find(({ name }) => name === "run")!

interface Setting {
  readonly flags?: readonly string[]
  readonly variable?: string
  readonly config?: object
}

/** The settings of `leasehold run <flags> k -- true`. */
function wished({ flags = [], variable, config }: Setting): RunSettings {
  const user = new CommandLine()
  if (variable !== undefined) user.env = { LEASEHOLD_LOCK_TIMEOUT: variable }
  if (config !== undefined) writeFileSync(join(user.cwd, PROJECT_FILE), JSON.stringify(config))
  const io = user.io({ out: "", err: "" })
  const given = readArguments(spec, [...flags, "k", "--", "true"])
  return runSettings({ ...given, io, output: new Output(io, { json: false, color: false }) }, findConfig(io, undefined))
}

/** What it throws. */
function refusal(setting: Setting): Error {
  try {
    wished(setting)
  } catch (error) {
    return error as Error
  }
  throw new Error("it was not refused")
}

const flag = ["--lock-timeout", "1"]
const variable = "2"
const config = { locking: { timeout: 3 }, scopes: { deploy: "4 s" } }
const scope = ["--scope", "deploy"]

describe("the budget of a run", () => {
  // Tests command: The budget of a run is the flag's, else the variable's, the configuration's, the scope's, 600 s.
  it.each<[string, Setting, number | "infinite", string]>([
    ["the flag's", { flags: [...flag, ...scope], variable, config }, 1000, "--lock-timeout 1"],
    ["else the variable's", { flags: scope, variable, config }, 2000, "LEASEHOLD_LOCK_TIMEOUT=2"],
    ["else the configuration's", { flags: scope, config }, 3000, `${PROJECT_FILE}`],
    ["else the configured scope's", { flags: scope, config: { scopes: config.scopes } }, 4000, "scope deploy"],
    ["else the shipped scope's", { flags: ["--scope", "cache"] }, 10_000, "the default of scope cache"],
    ["else 600 s", { config: { scopes: config.scopes } }, 600_000, "the default of 600 s"],
    ["no limit, where that is said", { flags: ["--lock-timeout", "infinite"] }, "infinite", "--lock-timeout infinite"],
    ["none, where that is said", { variable: "0" }, 0, "LEASEHOLD_LOCK_TIMEOUT=0"],
    ["not an empty variable's", { variable: "", config }, 3000, "locking.timeout in "],
    ["not a malformed one's below the flag", { flags: flag, variable: "soon" }, 1000, "--lock-timeout 1"],
  ])("is %s", (_whose, setting, timeout, source) => {
    const { budget } = wished(setting)
    expect(budget.timeout).toBe(timeout)
    expect(budget.timeoutSource.name).toContain(source)
  })

  it("names the configuration file, to say where it is changed", () => {
    const { name, change } = wished({ config }).budget.timeoutSource
    expect(name).toMatch(/^locking\.timeout in \/.*leasehold\.config\.json$/)
    expect(change).toContain("pass --lock-timeout")
  })

  it("is refused where its source is no budget, or the scope isn't known, with those that are", () => {
    expect(refusal({ flags: ["--lock-timeout", "soon"] })).toBeInstanceOf(UsageError)
    const malformed = refusal({ variable: "soon" })
    expect(malformed).toBeInstanceOf(InvalidConfigError)
    expect(malformed.message).toContain('LEASEHOLD_LOCK_TIMEOUT is "soon"')
    const unknown = refusal({ flags: ["--scope", "deploi"], config })
    expect(unknown).toBeInstanceOf(UsageError)
    expect((unknown as UsageError).next).toContain("install, cache, uninstall, deploy")
  })
})

describe("a run", () => {
  it("lasts, ends and asks as it is told, and has defaults", () => {
    const plain = { ttl: 30_000, grace: 10_000, onRequest: { do: "term" }, asks: false, queues: true }
    expect(wished({})).toMatchObject(plain)
    const flags = ["--ttl", "1min", "--grace", "2.5", "--on-request", "exec:echo x", "--ask", "--no-queue"]
    const onRequest = { do: "exec", line: "echo x" }
    expect(wished({ flags })).toMatchObject({ ttl: 60_000, grace: 2500, onRequest, asks: true, queues: false })
  })

  it("refuses times that are none, an empty command, and a flag that means nothing alone", () => {
    expect(refusal({ flags: ["--ttl", "long"] })).toBeInstanceOf(UsageError)
    expect(refusal({ flags: ["--on-request", "exec: "] })).toBeInstanceOf(UsageError)
    expect(refusal({ flags: ["--no-queue"] })).toBeInstanceOf(UsageError)
  })
})
