/**
 * The command behind its gate: a process that is there, with a process group of its own, and begins only when it is let in.
 * Owns the process; when it may begin, and when it must end, others decide.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { constants } from "node:os"
import process from "node:process"
import type { Duplex } from "node:stream"
import { processes } from "../../runtime/processes.ts"
import { FOREGROUND, GATE } from "./scripts.ts"

/** How a command ended. */
export type Exit = { readonly code: number } | { readonly signal: NodeJS.Signals }

/** A command that waits for its lease, or runs under it. */
export class GatedCommand {
  /** Settles with the process group once the gate stands; rejects where it can't be started. */
  readonly group: Promise<number>
  /** Settles when the command has ended, let in or not; never rejects. */
  readonly ended: Promise<Exit>
  readonly #child: ChildProcess
  readonly #gate: Duplex

  /** `foreground`: in front of the terminal, else in a session of its own. `env`: beside what the gate is told. */
  constructor(command: readonly string[], env: Readonly<Record<string, string | undefined>>, foreground: boolean) {
    const script = foreground ? [FOREGROUND, "leasehold run", GATE] : [GATE, "leasehold run"]
    this.#child = spawn("/bin/sh", ["-c", ...script, ...command], {
      env: { ...env },
      stdio: ["inherit", "inherit", "inherit", "pipe"],
      detached: !foreground,
    })
    this.#gate = this.#child.stdio[3] as Duplex
    this.ended = endOf(this.#child, foreground)
    this.group = foreground ? said(this.#child, this.#gate) : started(this.#child)
    this.group.catch(() => {}) // whoever runs the command asks
    this.#gate.on("error", () => {}) // that it ended tells more
    this.#gate.resume()
  }

  /** Lets it in. `deadline` in Unix seconds. */
  open(deadline: number, tokens: readonly number[]): void {
    this.#gate.end(`until ${deadline}\n${tokens.join("\n")}\ngo\n`)
  }

  /** It will not be let in. */
  abandon(): void {
    this.#gate.destroy()
  }
}

/** A group that is its own session's is named after its first process. */
async function started(child: ChildProcess): Promise<number> {
  if (child.pid !== undefined) return child.pid
  return failed(child)
}

/** Under job control the shell in between has another. */
function said(child: ChildProcess, gate: Duplex): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  gate.once("data", (text: Buffer) => resolve(Number(text.toString())))
  gate.once("end", () => reject(new Error("the command's shell ended before it began")))
  child.once("error", reject)
  return promise
}

function failed(child: ChildProcess): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>()
  child.once("error", reject)
  return promise
}

/** A shell in between says 128 and the signal's number. */
function endOf(child: ChildProcess, foreground: boolean): Promise<Exit> {
  const { promise, resolve } = Promise.withResolvers<Exit>()
  child.once("exit", (code, signal) => {
    const by = signal ?? (foreground ? signalOf(code ?? 1) : undefined)
    resolve(by === undefined ? { code: code ?? 1 } : { signal: by })
  })
  child.once("error", () => resolve({ code: 126 }))
  return promise
}

function signalOf(code: number): NodeJS.Signals | undefined {
  const all = Object.entries(constants.signals) as [NodeJS.Signals, number][]
  return all.find(([, number]) => number === code - 128)?.[0]
}

/** Whether a process group has a member that lives: what only waits for its parent to look does nothing any more. */
export function groupIsThere(group: number): boolean {
  return signalGroup(group, 0) && processes.groupLives(group)
}

/** False where there is none any more. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal)
    return true
  } catch (error) {
    return (error as { code?: unknown }).code === "EPERM"
  }
}
