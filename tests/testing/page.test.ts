/**
 * docs/testing.md: every program on it stands in a test, or is one, to the letter; its command lines are of this
 * package.
 */
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { promisify } from "node:util"
import { expect, it } from "vitest"
import npm from "../../package.json" with { type: "json" }
import { comparePrograms, root, shown } from "../support/page-examples.ts"

const page = readFileSync(join(root, "docs/testing.md"), "utf8")
const folder = join(root, "tests/testing")

it("shows no program that isn't in a test, and all that are marked there as its examples", () => {
  const { onlyShown, onlyMarked, count } = comparePrograms("docs/testing.md", "tests/testing")
  expect([onlyShown, onlyMarked]).toEqual([[], []])
  expect(count).toBeGreaterThan(10)
})

it("names only scripts of package.json on its command lines, and mutants that are there", () => {
  const lines = [
    ...shown("docs/testing.md", "sh").join("").split("\n"),
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
