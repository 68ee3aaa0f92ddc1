/**
 * docs/testing.md: every program on it stands in a test, or is one, to the letter; its command lines are of this
 * package.
 */
import { execFile } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, it } from "vitest"
import npm from "../../package.json" with { type: "json" }

const root = fileURLToPath(new URL("../..", import.meta.url))
const page = readFileSync(join(root, "docs/testing.md"), "utf8")
const folder = join(root, "tests/testing")
const sources = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"))

const shown = (language: string): string[] =>
  Array.from(page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm")), ([, code]) => code!)

/** What stands between the marks, indented as little as its marks are. */
const examples = sources.flatMap((path) =>
  Array.from(
    readFileSync(join(folder, path), "utf8").matchAll(/^( *)\/\/ --- example: .*\n([\s\S]*?)^ *\/\/ --- end$/gm),
    ([, indent, code]) => code!.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
  ),
)

it("shows no program that isn't in a test, and all that are marked there as its examples", () => {
  const programs = shown("ts")
  expect(programs.filter((code) => !examples.includes(code))).toEqual([])
  expect(examples.filter((code) => !programs.includes(code))).toEqual([])
  expect(programs.length).toBeGreaterThan(10)
})

it("names only scripts of package.json on its command lines, and mutants that are there", () => {
  const lines = [
    ...shown("sh").join("").split("\n"),
    ...Array.from(page.matchAll(/`(npm run [^`]+)`/g), ([, line]) => line!),
  ]
  const scripts = lines.flatMap((line) => /npm run ([\w:]+)/.exec(line)?.[1] ?? [])
  expect(scripts.filter((script) => !(script in npm.scripts))).toEqual([])
  expect(scripts).toContain("chaos")
  const mutants = lines.flatMap((line) => /--mutant "([^"]+)"/.exec(line)?.[1] ?? [])
  const chaos = readFileSync(join(root, "scripts/chaos.ts"), "utf8")
  expect(mutants.filter((name) => !chaos.includes(`name: "${name}"`))).toEqual([])
  expect(mutants.length).toBeGreaterThan(0)
})

it.each([
  ["node:test", ["node", "--conditions=leasehold-source", "--test"], "programs/node-test.ts"],
  [
    "Deno.test",
    ["deno", "test", "-A", "--no-check", "--quiet", "--config", join(root, "deno.json")],
    "programs/deno-test.ts",
  ],
])("has a conformance suite that passes under %s", async (_, [runner = "", ...args], program) => {
  const own = runner === "deno" ? "Deno" in globalThis : !("Deno" in globalThis)
  const path = own ? process.execPath : join(root, "node_modules", ".bin", runner)
  const { stdout } = await promisify(execFile)(path, [...args, join(folder, "conformance", program)], { cwd: root })
  expect(stdout).toMatch(/(pass [1-9]\d|[1-9]\d passed)/)
})
