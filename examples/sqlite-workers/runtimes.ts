// How a program of this repository is started on either runtime.
import { createRequire } from "node:module"
import process from "node:process"
import { fileURLToPath } from "node:url"

export type Runtime = "node" | "deno"

/** The one that runs this. */
export const ownRuntime: Runtime = "Deno" in globalThis ? "deno" : "node"

/** The command that runs a program of this folder. */
export function commandFor(runtime: Runtime, program: string): readonly [string, ...string[]] {
  const file = fileURLToPath(new URL(program, import.meta.url))
  if (runtime === "node")
    return [ownRuntime === "node" ? process.execPath : "node", "--conditions=leasehold-source", file]
  const config = fileURLToPath(new URL("../../deno.json", import.meta.url))
  return [denoBinary(), "run", "-A", "--no-prompt", "--quiet", "--config", config, file]
}

/** Not the one in node_modules/.bin: that is a script of Node's, and killing it would leave the real Deno behind. */
function denoBinary(): string {
  if (ownRuntime === "deno") return process.execPath
  const { runInstall } = createRequire(import.meta.url)("deno/install_api.cjs") as { runInstall: () => string }
  return runInstall()
}
