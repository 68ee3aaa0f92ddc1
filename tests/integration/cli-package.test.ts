/** The command as it is published: packed, installed elsewhere, and run by both runtimes. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { expect, it, onTestFinished } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))
const tools = join(root, "node_modules", ".bin")

function call(cwd: string, command: string, ...args: readonly string[]): string {
  const env = { ...process.env, PATH: `${tools}:${process.env["PATH"]}`, LEASEHOLD_STORE: "file:store", NO_COLOR: "1" }
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: "utf8" })
  expect({ command: [command, ...args], status, ...(status !== 0 && { stdout, stderr }) }).toMatchObject({ status: 0 })
  return stdout
}

it("works from the packed tarball, by npx and by Deno", { timeout: 300_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "leasehold-package-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  call(root, "npm", "pack", "--pack-destination", folder)
  const [tarball = ""] = readdirSync(folder)
  call(folder, "npm", "init", "--yes")
  call(folder, "npm", "install", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts", `./${tarball}`)

  expect(call(folder, "npx", "leasehold", "--help")).toContain("leasehold <command> [options]")
  expect(call(folder, "npx", "leasehold", "run", "k", "--", "printenv", "LEASEHOLD_KEY")).toBe("k\n")
  const program = join("node_modules", "leasehold", "dist", "bin", "leasehold.js")
  expect(call(folder, "deno", "run", "-A", program, "run", "k", "--", "echo", "on Deno")).toBe("on Deno\n")
  expect(JSON.parse(call(folder, "deno", "run", "-A", program, "status", "--json", "k"))).toMatchObject({
    state: "released",
  })
  // What only some need is loaded on its own, and the rest has no way to it but by name.
  const bin = join(folder, "node_modules", "leasehold", "dist", "bin")
  const files = readdirSync(bin).filter((name) => name.endsWith(".js"))
  const using = files.filter((name) => readFileSync(join(bin, name), "utf8").includes("@google-cloud/storage"))
  expect(using.map((name) => name.split("-")[0])).not.toContain("core")
  expect(using.length).toBeGreaterThan(0)
  expect(readFileSync(join(bin, "LICENSES.txt"), "utf8")).toContain("effect")
})
