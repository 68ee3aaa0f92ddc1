// Starts a script of this repository as a process of its own, on either runtime, from the sources. What is started is
// the real program, not a shim of it, so that a signal reaches what it is meant for.
import { type ChildProcess, spawn } from "node:child_process"
import { createRequire } from "node:module"
import { join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"

export type Runtime = "node" | "deno"

export interface Script {
  readonly runtime: Runtime
  /** A path or file URL. */
  readonly script: string | URL
  readonly args?: readonly string[]
  /** Added to this process's own. */
  readonly env?: Readonly<Record<string, string>>
  /** What Deno permits; all, where none are named. Node permits all. */
  readonly permissions?: readonly string[]
  /** A program with its arguments that is given the script's command line, and runs it. */
  readonly under?: readonly string[]
  /** A line of sh that is run first, such as `ulimit -f 16`. */
  readonly first?: string
}

export interface Ended {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}

export interface Spawned {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  /** Of the running process; false once it is gone. (Deno's own `child.kill` refuses a second signal.) */
  signal(name: NodeJS.Signals): boolean
}

const root = fileURLToPath(new URL("../../..", import.meta.url))
const ownRuntime: Runtime = "Deno" in globalThis ? "deno" : "node"

/** The process keeps its stdin open, so that a script can tell when its parent is gone. */
export function spawnScript({
  runtime,
  script,
  args = [],
  env = {},
  permissions = ["-A"],
  under = [],
  first,
}: Script): Spawned {
  const file = script instanceof URL ? fileURLToPath(script) : script
  const words = [...under, ...commandFor(runtime, permissions), file, ...args] as unknown as [string, ...string[]]
  const [command, ...rest] = first === undefined ? words : ["sh", "-c", `${first}; exec "$@"`, "sh", ...words]
  return spawnProgram(command, rest, { env })
}

/** The same of any program. `env` is added to this process's own. */
export function spawnProgram(
  command: string,
  args: readonly string[],
  { env = {}, cwd }: { readonly env?: Readonly<Record<string, string>>; readonly cwd?: string } = {},
): Spawned {
  const child = spawn(command, args, {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, ...env },
    ...(cwd !== undefined && { cwd }),
  })
  let [stdout, stderr] = ["", ""]
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text))
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on("error", reject)
    child.on("close", (code, by) => resolve({ code, signal: by, stdout, stderr }))
  })
  return { child, ended, signal: (name) => send(child, name) }
}

function commandFor(runtime: Runtime, permissions: readonly string[]): readonly [string, ...string[]] {
  const same = runtime === ownRuntime
  if (runtime === "node")
    return [same ? process.execPath : join(root, "node_modules", ".bin", "node"), "--conditions=leasehold-source"]
  return [
    same ? process.execPath : denoBinary(),
    "run",
    ...permissions,
    "--no-prompt",
    "--quiet",
    "--config",
    join(root, "deno.json"),
  ]
}

/** Not the one in node_modules/.bin: killing that script of Node's would leave the real Deno behind. */
function denoBinary(): string {
  const { runInstall } = createRequire(import.meta.url)("deno/install_api.cjs") as { runInstall: () => string }
  return runInstall()
}

function send(child: ChildProcess, name: NodeJS.Signals): boolean {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return false
  try {
    return process.kill(child.pid, name)
  } catch {
    return false
  }
}
