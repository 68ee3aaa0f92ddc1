/**
 * The `leasehold` command of a test run, bundled from the sources as it is published: what users start, and started in
 * a third of the time.
 */
import { spawnSync } from "node:child_process"
import { rmSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"
import type { TestProject } from "vitest/node"

declare module "vitest" {
  interface ProvidedContext {
    /** The path of the bundled command. */
    command: string
  }
}

const root = fileURLToPath(new URL("../../..", import.meta.url))

export default function setup(project: TestProject): () => void {
  const folder = join(root, ".cache", `command-${process.pid}-${project.name}`)
  const node = join(root, "node_modules", ".bin", "node")
  const { status, stderr } = spawnSync(node, ["scripts/bundle.ts", folder], { cwd: root, encoding: "utf8" })
  if (status !== 0) throw new Error(`the command can't be bundled: ${stderr}`)
  project.provide("command", join(folder, "leasehold.js"))
  return () => rmSync(folder, { recursive: true, force: true })
}
