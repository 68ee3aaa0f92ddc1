/**
 * A named pipe whose reader reads when it is told to: a process that writes more than it holds stands in that write,
 * whatever else it does. The reader is a process of its own, since on neither runtime a test could read it without a
 * thread that hangs.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import process from "node:process"

/**
 * So many bytes may be in a pipe that nobody reads: the default of Linux, which is its most too unless somebody asks
 * for more.
 */
export const PIPE_HOLDS = 65_536

/** Reads one byte, says so, waits for a line and then reads the rest, whose length it says. */
const READER = 'exec 3<"$0"; dd bs=1 count=1 <&3 >/dev/null 2>&1; echo begun; read -r _; cat <&3 | wc -c'

/** Its reader is there until the pipe is drained or disposed of. */
export class Pipe implements Disposable {
  readonly path: string
  /** Settles when something was written. */
  readonly begun: Promise<void>
  readonly #reader: ChildProcess
  readonly #drained: Promise<number>

  constructor(path: string) {
    this.path = path
    execFileSync("mkfifo", [path])
    this.#reader = spawn("/bin/sh", ["-c", READER, path], { stdio: ["pipe", "pipe", "inherit"], detached: true })
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    const { promise: drained, resolve: drain } = Promise.withResolvers<number>()
    let said = ""
    this.#reader.stdout!.setEncoding("utf8").on("data", (text: string) => {
      said += text
      if (said.startsWith("begun\n")) begin()
    })
    this.#reader.once("close", () => drain(1 + Number(said.split("\n")[1])))
    this.begun = begun
    this.#drained = drained
  }

  /** Reads until all its writers are gone, and tells how many bytes were written in all. */
  drain(): Promise<number> {
    this.#reader.stdin!.end("\n")
    return this.#drained
  }

  [Symbol.dispose](): void {
    if (this.#reader.exitCode === null) process.kill(-this.#reader.pid!, "SIGKILL")
  }
}
