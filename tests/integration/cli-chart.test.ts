/**
 * `leasehold chart` as it is published, on both runtimes: what docs/seeing-it.md tells to type, TypeScript sources, and
 * a machine without elkjs. What only it needs is loaded by it alone.
 */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it, onTestFinished } from "vitest"
import { EXIT } from "../../src/cli/errors/exit-codes.ts"
import { toAscii, toMermaid, toSvg } from "../../src/draw/mod.ts"
import checkout from "../draw/machines/checkout.ts"
import { leasehold } from "./support/command.ts"
import { drawsModule, seeingIt } from "./support/pages.ts"
import { type Ended, type Runtime, spawnProgram } from "./support/spawn.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const source = readFileSync(join(root, "tests/draw/machines/checkout.ts"), "utf8")

/** A project of a user's, in which these packages are installed. */
function project(...packages: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "leasehold-chart-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, "node_modules"))
  for (const name of packages) symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name))
  // The command is in the project, as it is where leasehold is installed.
  cpSync(dirname(leasehold), join(folder, "bin"), { recursive: true })
  mkdirSync(join(folder, "src"))
  mkdirSync(join(folder, "docs"))
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }')
  writeFileSync(join(folder, "src", "checkout.ts"), `${source}\nexport { machine }\n`)
  return folder
}

/** As a user calls it: nothing of this repository's settings is near. */
function call(runtime: Runtime, cwd: string, ...args: readonly string[]): Promise<Ended> {
  const words = [...(runtime === "deno" ? ["run", "-A", "--no-prompt"] : []), join("bin", "leasehold.js"), ...args]
  const program = join(root, "node_modules", ".bin", runtime)
  return spawnProgram(program, words, { cwd, env: { NO_COLOR: "1" } }).ended
}

describe.each(["node", "deno"] as const)("leasehold chart on %s", (runtime) => {
  it("does what docs/seeing-it.md tells to type", async () => {
    const folder = project("xstate", "elkjs")
    const lines = seeingIt().flatMap((line) => (drawsModule(line) ? line.replace("npx leasehold ", "") : []))
    expect(lines).toEqual([
      "chart src/checkout.ts",
      "chart src/checkout.ts -o docs/checkout.svg",
      "chart src/checkout.ts#machine --mermaid",
    ])
    const out: string[] = []
    for (const line of lines) {
      const { code, stdout, stderr } = await call(runtime, folder, ...line.split(" "))
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
      out.push(stdout)
    }
    expect(out).toEqual([toAscii(checkout), "", toMermaid(checkout)])
    expect(readFileSync(join(folder, "docs", "checkout.svg"), "utf8")).toBe(await toSvg(checkout))
  })

  // Tests drawings: `leasehold chart` runs the module at the given path, and no other.
  it("says how elkjs is installed where it isn't, and draws what needs none", async () => {
    const folder = project("xstate")
    const { code, stderr, stdout } = await call(runtime, folder, "chart", "src/checkout.ts", "--svg")
    expect({ code, stdout }).toEqual({ code: EXIT.configuration, stdout: "" })
    expect(stderr).toContain("npm install elkjs")
    expect((await call(runtime, folder, "chart", "src/checkout.ts")).stdout).toBe(toAscii(checkout))
    const own = await call(runtime, folder, "chart", "--svg")
    expect(own.stdout).toBe(readFileSync(join(root, "docs/sandbox-chart.svg"), "utf8"))
  })

  it("has nothing on standard output but the drawing, whatever the module prints", async () => {
    const folder = project("xstate")
    const prints = `import process from "node:process"\nconsole.log("one")\nconsole.info("two")\nprocess.stdout.write("three\\n")`
    writeFileSync(join(folder, "loud.mjs"), `${prints}\nexport { machine } from "./src/checkout.ts"\n`)
    const { code, stdout, stderr } = await call(runtime, folder, "chart", "loud.mjs")
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: toAscii(checkout), stderr: "one\ntwo\nthree\n" })
  })

  it("takes a path for a path, whatever is in it", async () => {
    const folder = project("xstate")
    writeFileSync(join(folder, "a#b %20.mjs"), `export { machine } from "./src/checkout.ts"\n`)
    const { stdout } = await call(runtime, folder, "chart", "a#b %20.mjs#machine")
    expect(stdout).toBe(toAscii(checkout))
  })
})

// Tests drawings.
it("is loaded by nobody else: the rest of the command has no way to it but by name", () => {
  const bin = dirname(leasehold)
  const files = readdirSync(bin).filter((name) => name.endsWith(".js"))
  const partsWith = (text: RegExp): readonly string[] => {
    const using = files.filter((name) => text.test(readFileSync(join(bin, name), "utf8")))
    return Array.from(new Set(using.map((name) => name.replace(/-[0-9a-f]{8}\.js$/, "")))).toSorted()
  }
  expect(partsWith(/import\("elkjs"\)|stateDiagram/)).toEqual(["chart"])
  // The page has the drawing of our own chart in it.
  expect(partsWith(/leasehold-chart/)).toEqual(["chart", "open", "sandbox-chart-svg"])
})
