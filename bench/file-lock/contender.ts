/** One process that takes and gives back a lock, and the moments that it tells of. */
import { type ChildProcess, spawn } from "node:child_process"
import { join } from "node:path"
import process from "node:process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

/**
 * Whose lock. `watch` is none, and the least that one on files takes in Node. `flock` waits in flock(2) itself, in a
 * small Python program, as Node has no such call.
 */
export type Kind = "leasehold" | "proper-lockfile" | "watch" | "flock"

const worker = fileURLToPath(new URL("./worker.ts", import.meta.url))
const helper = fileURLToPath(new URL("./flock.py", import.meta.url))

export class Contender {
  readonly #child: ChildProcess
  readonly #told = new Map<string, bigint>()
  readonly #waiting = new Map<string, (at: bigint) => void>()

  private constructor(command: string, args: readonly string[]) {
    this.#child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] })
    this.#child.once("error", (error) => console.error(`${command}: ${error.message}`))
    createInterface({ input: this.#child.stdout! }).on("line", (line) => this.#hear(line))
  }

  /** One that is ready. */
  static async start(kind: Kind, directory: string): Promise<Contender> {
    const node = [process.execPath, ...process.execArgv, worker] as const
    const contender =
      kind === "flock"
        ? new Contender("python3", [helper, join(directory, "flock")])
        : new Contender(node[0], [...node.slice(1), kind, directory])
    await contender.hears("ready")
    return contender
  }

  /** A process like those of the other kinds, in size and start, that holds a flock for as long as it lives. */
  static async holdingFlock(directory: string): Promise<Contender> {
    const program = [process.execPath, ...process.execArgv, worker, "idle"]
    const contender = new Contender("python3", [helper, join(directory, "flock"), ...program])
    await contender.hears("has")
    return contender
  }

  /** Sends a line, and settles with the moment that it tells next by that word. */
  async does(line: "acquire" | "release", word: "asks" | "has" | "gives"): Promise<bigint> {
    const told = this.hears(word)
    this.#child.stdin!.write(`${line}\n`)
    return told
  }

  /** The next moment told by that word, or the last one if nobody has asked for it yet. */
  async hears(word: string): Promise<bigint> {
    const known = this.#told.get(word)
    this.#told.delete(word)
    return known ?? new Promise((resolve) => this.#waiting.set(word, resolve))
  }

  /** Kills it without notice, and tells when. */
  kill(): bigint {
    const at = process.hrtime.bigint()
    this.#child.kill("SIGKILL")
    return at
  }

  #hear(line: string): void {
    const [word = "", at = ""] = line.split(" ")
    const waiting = this.#waiting.get(word)
    this.#waiting.delete(word)
    if (waiting === undefined) this.#told.set(word, BigInt(at))
    else waiting(BigInt(at))
  }
}
