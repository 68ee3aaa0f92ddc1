/**
 * The library as it is published, imported by a Node that is too old: by one that says so of itself, and by real ones
 * where there are any.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import process from "node:process"
import { fileURLToPath, pathToFileURL } from "node:url"
import { beforeAll, describe, expect, it } from "vitest"
import npm from "../../package.json" with { type: "json" }

const root = fileURLToPath(new URL("../..", import.meta.url))
const tools = join(root, "node_modules", ".bin")
const node = join(tools, "node")
const [, least = ""] = /^>=(\d+)$/.exec(npm.engines.node) ?? []

const call = (program: string, ...args: readonly string[]) =>
  spawnSync(program, args, { cwd: root, encoding: "utf8", env: { ...process.env, NODE_OPTIONS: "" } })

const versionOf = (program: string): string => call(program, "-p", "process.versions.node").stdout.trim()

/** On the PATH, the project's own aside. */
const old = (process.env["PATH"] ?? "")
  .split(delimiter)
  .map((folder) => join(folder, "node"))
  .filter((program) => existsSync(program) && Number.parseInt(versionOf(program), 10) < Number(least))

/** The client runs in browsers too, and asks nothing of Node. */
const { "./package.json": _, "./client": anywhere, ...entries } = npm.exports

describe("a Node that is too old for the library", () => {
  const folder = mkdtempSync(join(tmpdir(), "leasehold-dist-"))

  beforeAll(() => {
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
    const built = call(node, join(tools, "tsc"), "-p", "tsconfig.build.json", "--outDir", join(folder, "dist"))
    if (built.status !== 0) throw new Error(`the build failed: ${built.stdout}`)
    return () => rmSync(folder, { recursive: true })
  })

  /** What becomes of an import of an entry point, whose files are loaded as Node finds them. */
  const imported = (program: string, entry: string, ...before: readonly string[]) => {
    const url = pathToFileURL(join(folder, entry)).href
    const code = `import(${JSON.stringify(url)}).then(() => console.log("imported"), ({ message }) => console.log(message))`
    return call(program, ...before, "--input-type=module", "-e", code).stdout.trim()
  }
  const refusal = (version: string): string => `leasehold needs Node ${least} or Deno 2.9, and this is Node ${version}.`

  it("is no matter to the client", () => {
    for (const each of [node, ...old]) expect(imported(each, anywhere.default)).toBe("imported")
  })

  // Tests command: A Node too old says which one is needed when any entry point is imported.
  it.each(Object.values(entries).map((entry) => entry.default))("is told in a sentence by %s", (entry) => {
    const pretence = `data:text/javascript,Object.defineProperty(process, "versions", { value: { ...process.versions, node: "23.9.1" } })`
    expect(imported(node, entry, "--import", pretence)).toBe(refusal("23.9.1"))
    expect(imported(node, entry)).toBe("imported")
    for (const each of old) expect(imported(each, entry)).toBe(refusal(versionOf(each)))
  })
})
