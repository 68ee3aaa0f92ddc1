/**
 * The command behind its gate: a process that is there, with a process group of its own, and begins only when it is let in.
 * Owns the process; when it may begin, and when it must end, others decide.
 */
import { type ChildProcess, spawn, type SpawnOptions } from "node:child_process"
import { constants } from "node:os"
import type { Duplex } from "node:stream"
import { StartError } from "../start-error.ts"
import { type Environment, passageOf } from "./passage.ts"
import { FOREGROUND, GATE } from "./scripts.ts"

/** How a command ended. */
export type Exit = { readonly code: number } | { readonly signal: NodeJS.Signals }

/** A command that waits for its lease, or runs under it. */
export class GatedCommand {
  /** Settles with the process group once the gate stands; rejects with StartError. */
  readonly group: Promise<number>
  /** Settles when the command has ended, let in or not; never rejects. */
  readonly ended: Promise<Exit>
  /** Where nothing could be started some runtimes have none. */
  readonly #gate: Duplex | undefined

  /**
   * Throws StartError. `foreground`: in front of the terminal, else in a session of its own. `env`: beside what the gate is
   * told.
   */
  constructor(command: readonly string[], env: Environment, foreground: boolean) {
    const { shell, line } = passageOf(env)
    const gate = `${line}\n${GATE}`
    const script = foreground ? [FOREGROUND, "leasehold run", gate] : [gate, "leasehold run"]
    const child = started(["-c", ...script, ...command], {
      env: { ...shell },
      stdio: ["inherit", "inherit", "inherit", "pipe"],
      detached: !foreground,
    })
    this.#gate = child.stdio[3] as Duplex | undefined
    this.ended = endOf(child, foreground)
    this.group = foreground ? said(child, this.#gate) : groupOf(child)
    this.group.catch(() => {}) // whoever runs the command asks
    this.#gate?.on("error", () => {}) // that it ended tells more
    this.#gate?.resume()
  }

  /** Lets it in. `deadline` in Unix seconds. */
  open(deadline: number, tokens: readonly number[]): void {
    this.#gate?.end(`until ${deadline}\n${tokens.join("\n")}\ngo\n`)
  }

  /** It will not be let in, if it wasn't yet. */
  abandon(): void {
    this.#gate?.destroy()
  }
}

/** Some runtimes throw what others tell later. */
function started(words: readonly string[], options: SpawnOptions): ChildProcess {
  try {
    return spawn("/bin/sh", words, options)
  } catch (error) {
    throw new StartError("The command", error as Error)
  }
}

/** A group that is its own session's is named after its first process. */
function groupOf(child: ChildProcess): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  if (child.pid !== undefined) resolve(child.pid)
  child.once("error", (error) => reject(new StartError("The command", error)))
  return promise
}

/** Under job control the shell in between has another. */
function said(child: ChildProcess, gate: Duplex | undefined): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  gate?.once("data", (text: Buffer) => resolve(Number(text.toString())))
  gate?.once("end", () => reject(new StartError("The command")))
  child.once("error", (error) => reject(new StartError("The command", error)))
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

/** What these do to a command is no end. */
const STOPPING: ReadonlySet<string> = new Set(["SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU"])

function signalOf(code: number): NodeJS.Signals | undefined {
  const all = Object.entries(constants.signals) as [NodeJS.Signals, number][]
  return all.find(([name, number]) => number === code - 128 && !STOPPING.has(name))?.[0]
}
