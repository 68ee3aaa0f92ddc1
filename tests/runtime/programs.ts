// Runs a program of ./programs as a process of its own, on the runtime that runs the tests unless it says otherwise.
import { type ChildProcess, spawn } from "node:child_process"
import { createRequire } from "node:module"
import process from "node:process"
import { fileURLToPath } from "node:url"

const onDeno: boolean = "Deno" in globalThis

export interface Ended {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}

export interface Program {
  readonly child: ChildProcess
  /** Settles when this text was printed. */
  printed(text: string): Promise<void>
  readonly ended: Promise<Ended>
}

export interface ProgramOptions {
  readonly args?: readonly string[]
  /** Runs it on Deno with these permissions, whatever runs the tests. (Deno's spawn gives all where none are named.) */
  readonly denoPermissions?: readonly string[]
}

const denoBinary = (): string =>
  onDeno
    ? process.execPath
    : (createRequire(import.meta.url)("deno/install_api.cjs") as { runInstall(): string }).runInstall()

export const start = (name: string, options: ProgramOptions = {}): Program => {
  const { args = [], denoPermissions } = options
  const file = fileURLToPath(new URL(`./programs/${name}.ts`, import.meta.url))
  const deno = onDeno || denoPermissions !== undefined
  const flags = deno ? ["run", "--no-prompt", ...(denoPermissions ?? ["-A"])] : []
  const command = deno ? denoBinary() : process.execPath
  const child = spawn(command, [...flags, file, ...args], { stdio: ["ignore", "pipe", "pipe"] })
  let [stdout, stderr] = ["", ""]
  const waiting = new Set<() => void>()
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text
    for (const look of waiting) look()
  })
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on("error", reject)
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr }))
  })
  const printed = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (!stdout.includes(text)) return
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
      void ended.then(() => reject(new Error(`ended without printing ${text}: ${stdout}${stderr}`)))
      look()
    })
  return { child, printed, ended }
}

/** Runs it to its end. */
export const run = (name: string, options: ProgramOptions = {}): Promise<Ended> => start(name, options).ended
