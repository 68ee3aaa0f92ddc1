/**
 * The command behind its gate: a process with a process group of its own, which becomes the command when it is let in.
 * Owns the process, and tells how it ended. When it may begin and when it must end is decided elsewhere (run.ts).
 */
import { type ChildProcess, spawn, type SpawnOptions } from "node:child_process"
import { constants } from "node:os"
import type { Duplex } from "node:stream"
import { StartError } from "../../errors/start-error.ts"
import type { Environment } from "../../process/bytes.ts"
import { CLOSE_OTHERS, givenTo, helperShell } from "./helper-shell.ts"
import { passageOf } from "./passage.ts"
import { APART, GATE, KEEPER, REPORTED } from "./scripts.ts"

/** How a command ended; `unknown` if the shell that waited for it was killed. */
export type Exit = { readonly code: number } | { readonly signal: NodeJS.Signals } | { readonly unknown: true }

/** A command that waits for its lease, or runs under it. */
export class GatedCommand {
  /** Settles with the process group once the gate stands; rejects with StartError. */
  readonly group: Promise<number>
  /** Settles when the command has ended, let in or not; never rejects. */
  readonly ended: Promise<Exit>
  /** The gate's descriptor 3. Some runtimes have none if the process couldn't be started. */
  readonly #gate: Duplex | undefined

  /**
   * Throws StartError.
   *
   * - `foreground`: whether it gets the terminal's foreground. Else it has a session without a terminal.
   * - `env`: the command's environment, without what the gate is told later.
   * - `files`: its soft limit of open files, as ulimit takes it; undefined for this process's own.
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
    this.group.catch(() => {}) // run.ts awaits it
    this.#gate?.on("error", () => {}) // the report's end tells more
  }

  /** Lets the command in. `deadline` in Unix seconds. */
  open(deadline: number, tokens: readonly number[]): void {
    this.#gate?.end(`until ${deadline}\n${tokens.join("\n")}\ngo\n`)
  }

  /** Ends the gate, if the command wasn't let in. */
  abandon(): void {
    this.#gate?.end()
  }
}

/**
 * The shell that keeps the command. Without a terminal it is bash, which has job control there. On a terminal bash
 * would write its own messages between those of the command, so it is /bin/sh.
 */
function keeperOf(foreground: boolean): readonly string[] {
  const name = "leasehold run"
  if (!foreground) return [...helperShell(), "-c", `${CLOSE_OTHERS}${KEEPER}`, name]
  return [...helperShell(), "-c", `${CLOSE_OTHERS}\nexec "$@"`, name, "/bin/sh", "-c", KEEPER, name]
}

/** Starts a process. Some runtimes throw the error that others emit later. */
function started(words: readonly string[], options: SpawnOptions): ChildProcess {
  try {
    return spawn("/bin/sh", words, options)
  } catch (error) {
    throw new StartError("The command", error as Error)
  }
}

/** The keeper's report of the command. Between its lines stand messages of shells. */
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
    // Nothing more comes after the keeper's end, or after the end of all that can still write.
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

/** A signal is reported by the keeper (SIGINT), or by its shell in words of its own, after the last `continued`. */
export function exitOf(report: string): Exit {
  const [, said = "", code, by] =
    /(?:^|\n)(?:group \d+|continued)\n((?:(?!continued\n).*\n)*)ended (\d+) *(INT)? *\n/.exec(report) ?? []
  if (code === undefined) return { unknown: true }
  const signal = nameOf(Number(code) - 128)
  const isSignal = by === undefined ? said.trim() !== "" : code === "130"
  return isSignal && signal !== undefined ? { signal } : { code: Number(code) }
}

/** The name of a signal; undefined for those that runtimes have no name for. */
function nameOf(number: number): NodeJS.Signals | undefined {
  const all = Object.entries(constants.signals) as [NodeJS.Signals, number][]
  return all.find(([, each]) => each === number)?.[0]
}
