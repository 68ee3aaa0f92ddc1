/** The command as it is published: packed, installed elsewhere, and run by both runtimes as docs/command.md says. */
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { expect, it, onTestFinished } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))
const tools = join(root, "node_modules", ".bin")

/** What npm needn't ask, do or say when it installs. */
const quietly = "prefer-offline=true\naudit=false\nfund=false\nignore-scripts=true\n"

/** What docs/command.md says to type first. */
function firstLines(): string[] {
  const page = readFileSync(join(root, "docs", "command.md"), "utf8")
  const [, block = ""] = /```console\n([^]*?)```/.exec(page) ?? []
  return Array.from(block.matchAll(/^\$ (.*?)$/gm), ([, line]) => line!)
}

function call(cwd: string, command: string, ...args: readonly string[]): string {
  const path = `${tools}:${process.env["PATH"]}`
  const env = { ...process.env, PATH: path, LEASEHOLD_STORE: "file:store", NO_COLOR: "1" }
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: "utf8" })
  expect({ command: [command, ...args], status, ...(status !== 0 && { stdout, stderr }) }).toMatchObject({ status: 0 })
  return stdout
}

// Tests command: What a page tells to type runs as it stands there.
it("works from the packed tarball, by npx and by Deno", { timeout: 300_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "leasehold-package-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [clone, app] = [join(folder, "leasehold"), join(folder, "app")]
  for (const each of [clone, app]) mkdirSync(each)
  call(root, "npm", "pack", "--pack-destination", clone)
  call(app, "npm", "init", "--yes")
  writeFileSync(join(app, "deploy.sh"), '#!/bin/sh\necho "$LEASEHOLD_KEY"\n', { mode: 0o755 })
  writeFileSync(join(app, ".npmrc"), quietly)
  const [install = "", ...runs] = firstLines()
  call(app, "sh", "-c", install)
  expect(runs.map((line) => call(app, "sh", "-c", line))).toEqual(["deploy\n", "deploy\n"])

  expect(call(app, "npx", "leasehold", "--help")).toContain("leasehold <command> [options]")
  const program = join("node_modules", "leasehold", "dist", "bin", "leasehold.js")
  expect(call(app, "deno", "run", "-A", program, "run", "k", "--", "echo", "on Deno")).toBe("on Deno\n")
  expect(JSON.parse(call(app, "deno", "run", "-A", program, "status", "--json", "k"))).toMatchObject({
    state: "released",
  })
  // What only some need is loaded on its own, and the rest has no way to it but by name.
  const bin = join(app, "node_modules", "leasehold", "dist", "bin")
  const files = readdirSync(bin).filter((name) => name.endsWith(".js"))
  const using = files.filter((name) => readFileSync(join(bin, name), "utf8").includes("google-auth-library"))
  expect(using.map((name) => name.split("-")[0])).not.toContain("core")
  expect(using.length).toBeGreaterThan(0)
  expect(readFileSync(join(bin, "LICENSES.txt"), "utf8")).toContain("effect")
})
