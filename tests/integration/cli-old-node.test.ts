/**
 * The command as it is published, on a Node that can't read it: one that says so of itself, and real ones where there
 * are any.
 */
import { spawnSync, type SpawnSyncReturns } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { beforeAll, describe, expect, it } from "vitest"
import npm from "../../package.json" with { type: "json" }
import { EXIT } from "../../src/cli/errors/exit-codes.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const tools = join(root, "node_modules", ".bin")
const node = join(tools, "node")
const [, least = ""] = /^>=(\d+)$/.exec(npm.engines.node) ?? []

const call = (program: string, ...args: readonly string[]): SpawnSyncReturns<string> =>
  spawnSync(program, args, { cwd: root, encoding: "utf8" })

const versionOf = (program: string): string => call(program, "-p", "process.versions.node").stdout.trim()

/** On the PATH, the project's own aside. */
const old = (process.env["PATH"] ?? "")
  .split(delimiter)
  .map((folder) => join(folder, "node"))
  .filter((program) => existsSync(program) && Number.parseInt(versionOf(program), 10) < Number(least))

describe("a Node that is too old", () => {
  const folder = mkdtempSync(join(tmpdir(), "leasehold-bin-"))
  const program = join(folder, "leasehold.js")

  beforeAll(() => {
    call(node, "scripts/bundle.ts", folder)
    return () => rmSync(folder, { recursive: true })
  })

  const refusal = (version: string): object => ({
    status: EXIT.configuration,
    stdout: "",
    stderr: `leasehold needs Node ${least} or Deno 2.9, and this is Node ${version}.\n`,
  })

  // Tests command: A Node too old says which one is needed when any entry point is imported.
  it("is told in a sentence which one is needed, and nothing more is loaded", () => {
    const pretence = `data:text/javascript,Object.defineProperty(process, "versions", { value: { node: "23.9.1" } })`
    expect(call(node, "--import", pretence, program, "--version")).toMatchObject(refusal("23.9.1"))
    expect(readFileSync(program, "utf8")).not.toMatch(/\bfrom *["'`]|\bimport *["'`]/)
    expect(call(node, program, "--version")).toMatchObject({ status: 0, stdout: `${npm.version}\n`, stderr: "" })
  })

  it.skipIf(old.length === 0)("understands that much", () => {
    for (const each of old) expect(call(each, program, "--version")).toMatchObject(refusal(versionOf(each)))
  })
})
