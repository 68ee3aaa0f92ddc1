// Pins that every published entry point is the source file during development, never a stale `dist`, and that the two
// manifests (npm's and JSR's) say the same.
import { execFileSync } from "node:child_process"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import jsr from "../../deno.json" with { type: "json" }
import npm from "../../package.json" with { type: "json" }

const root = fileURLToPath(new URL("../..", import.meta.url))
const { "./package.json": _, ...npmExports } = npm.exports
const entries = Object.entries(npmExports).map(([name, targets]) => ({
  specifier: `leasehold${name.slice(1)}`,
  source: targets["leasehold-source"],
}))

/** Runs the code in a process of the runtime that runs this test, started as the examples start theirs. */
function evaluate(code: string): string {
  const args =
    process.versions["deno"] === undefined ? ["--conditions=leasehold-source", "--input-type=module", "-e"] : ["eval"]
  return execFileSync(process.execPath, [...args, code], { cwd: root, encoding: "utf8" }).trim()
}

describe("the published entry points", () => {
  it("are those that the design names", () => {
    expect(entries.map(({ specifier }) => specifier)).toEqual([
      "leasehold",
      "leasehold/gcs",
      "leasehold/file",
      "leasehold/draw",
      "leasehold/inspector",
      "leasehold/http",
      "leasehold/client",
      "leasehold/testing",
    ])
  })

  it("have the same sources and the same version on npm and on JSR", () => {
    const sources = Object.entries(npmExports).map(([name, targets]) => [name, targets["leasehold-source"]])
    expect(Object.fromEntries(sources)).toEqual(jsr.exports)
    expect(npm.version).toBe(jsr.version)
  })

  it.each(entries)("$specifier is $source in a test", async ({ specifier, source }) => {
    expect(await import(specifier)).toBe(await import(/* @vite-ignore */ `${root}${source}`))
  })

  it("are the sources in a process of this runtime", () => {
    const resolved = evaluate(
      `console.log(JSON.stringify(${JSON.stringify(entries.map((entry) => entry.specifier))}.map((name) => import.meta.resolve(name))))`,
    )
    expect(JSON.parse(resolved)).toEqual(entries.map(({ source }) => new URL(`../../${source}`, import.meta.url).href))
  })
})
