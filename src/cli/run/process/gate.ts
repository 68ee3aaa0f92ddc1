/**
 * The command behind its gate: a process that is there, with a process group of its own, and begins only when it is let
 * in. Owns the process, and knows how it ended; when it may begin, and when it must end, others decide.
 */
import { type ChildProcess, spawn, type SpawnOptions } from "node:child_process"
import { constants } from "node:os"
import type { Duplex } from "node:stream"
import { StartError } from "../../errors/start-error.ts"
import type { Environment } from "../../process/bytes.ts"
import { CLOSE_OTHERS, givenTo, helperShell } from "./helper-shell.ts"
import { passageOf } from "./passage.ts"
import { APART, GATE, KEEPER, REPORTED } from "./scripts.ts"

/** How a command ended; `unknown` where the shell that waited for it was ended. */
export type Exit = { readonly code: number } | { readonly signal: NodeJS.Signals } | { readonly unknown: true }

/** A command that waits for its lease, or runs under it. */
export class GatedCommand {
  /** Settles with the process group once the gate stands; rejects with StartError. */
  readonly group: Promise<number>
  /** Settles when the command has ended, let in or not; never rejects. */
  readonly ended: Promise<Exit>
  /** Where nothing could be started some runtimes have none. */
  readonly #gate: Duplex | undefined

  /**
   * Throws StartError. `foreground`: in front of the terminal, else in a session without one. `env`: beside what the
   * gate is told. `files`: the soft limit of open files that it is to have; undefined for this process's own (ulimit's
   * words).
   */
  constructor(command: readonly string[], env: Environment, foreground: boolean, files?: string) {
    const { shell, line } = passageOf(env)
    const gate = `${foreground ? "trap '' TSTP\n" : ""}${line}\n${GATE}`
    const settings = [...givenTo(shell), files ?? "", foreground ? "front" : "apart", gate]
    const child = started(["-c", APART, "sh", ...keeperOf(foreground), ...settings, ...command], {
      env: { ...shell },
      stdio: ["inherit", "inherit", "inherit", "pipe"],
      detached: !foreground,
    })
    this.#gate = child.stdio[3] as Duplex | undefined
    const report = new Report(child, this.#gate)
    this.group = report.group
    this.ended = report.ended
    this.group.catch(() => {}) // whoever runs the command asks
    this.#gate?.on("error", () => {}) // that it ended tells more
  }

  /** Lets it in. `deadline` in Unix seconds. */
  open(deadline: number, tokens: readonly number[]): void {
    this.#gate?.end(`until ${deadline}\n${tokens.join("\n")}\ngo\n`)
  }

  /** It will not be let in, if it wasn't yet. */
  abandon(): void {
    this.#gate?.end()
  }
}

/**
 * Bash has job control without a terminal. On one it can't be told apart from the command, since it says on the
 * terminal what it has to say: there it is the system's shell that keeps the command.
 */
function keeperOf(foreground: boolean): readonly string[] {
  const name = "leasehold run"
  if (!foreground) return [...helperShell(), "-c", `${CLOSE_OTHERS}${KEEPER}`, name]
  return [...helperShell(), "-c", `${CLOSE_OTHERS}\nexec "$@"`, name, "/bin/sh", "-c", KEEPER, name]
}

/** Some runtimes throw what others tell later. */
function started(words: readonly string[], options: SpawnOptions): ChildProcess {
  try {
    return spawn("/bin/sh", words, options)
  } catch (error) {
    throw new StartError("The command", error as Error)
  }
}

/** What the keeper tells of the command, in lines between which shells say things of their own. */
class Report {
  readonly group: Promise<number>
  readonly ended: Promise<Exit>

  constructor(child: ChildProcess, lines: Duplex | undefined) {
    const group = Promise.withResolvers<number>()
    const ended = Promise.withResolvers<Exit>()
    this.group = group.promise
    this.ended = ended.promise
    let text = ""
    lines?.setEncoding("utf8").on("data", (more: string) => {
      text += more
      const [, id] = /^group (\d+)\n/m.exec(text) ?? []
      if (id !== undefined) group.resolve(Number(id))
    })
    // Both say that there will be nothing more: the end of the keeper, and that of what can still write.
    const settle = (): void => {
      group.reject(new StartError("The command", new Error(text.trim() || "the shell that starts it was ended")))
      ended.resolve(exitOf(text))
    }
    lines?.once("end", settle)
    child.once("exit", (code) => void (code === REPORTED || settle()))
    child.once("error", (error) => {
      group.reject(new StartError("The command", error))
      ended.resolve({ unknown: true })
    })
  }
}

/** A signal is said by the keeper (SIGINT), or by its shell, in any words, after the command was last continued. */
export function exitOf(report: string): Exit {
  const [, said = "", code, by] =
    /(?:^|\n)(?:group \d+|continued)\n((?:(?!continued\n).*\n)*)ended (\d+) *(INT)? *\n/.exec(report) ?? []
  if (code === undefined) return { unknown: true }
  const signal = nameOf(Number(code) - 128)
  const isSignal = by === undefined ? said.trim() !== "" : code === "130"
  return isSignal && signal !== undefined ? { signal } : { code: Number(code) }
}

/** Undefined for those that runtimes have no name for. */
function nameOf(number: number): NodeJS.Signals | undefined {
  const all = Object.entries(constants.signals) as [NodeJS.Signals, number][]
  return all.find(([, each]) => each === number)?.[0]
}
