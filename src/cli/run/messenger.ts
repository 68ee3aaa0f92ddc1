/**
 * Writes standard error through a process of its own. The reader of standard error may stand still, as a pager does. A
 * write by this process would then block it, and the lease would not be renewed.
 *
 * - Whether a write would block can't be asked.
 * - Writes that don't block are no way out: the setting would be the command's too, which shares the open file.
 *
 * Text that isn't read yet is kept, up to a bound. It is written once it is read, also after the end of this process.
 */
import { type ChildProcess, spawn } from "node:child_process"
import type { Clock } from "../../runtime/time/clock.ts"
import type { Carrier } from "../process/io.ts"
import { ALOOF, helperShell } from "./process/helper-shell.ts"
import { standardEnvironment } from "./process/standard-environment.ts"

/** The most text that waits here, in characters: as much again as a pipe of Linux keeps. Further text is lost. */
const MOST_KEPT = 65_536
/** How long the end of this process waits for a reader, in ms. */
const PATIENCE = 1000

/** Starts its process with the first text. */
export class Messenger implements Carrier {
  readonly #clock: Clock
  #child: ChildProcess | undefined
  readonly #gone = Promise.withResolvers<void>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Never throws and never waits. */
  write(text: string): void {
    const input = (this.#child ??= this.#begun())?.stdin
    if (input && input.writableLength + text.length <= MOST_KEPT) input.write(text)
  }

  /** Settles once all text is written, or after PATIENCE. */
  async told(): Promise<void> {
    if (this.#child === undefined) return
    this.#child.stdin?.end()
    const late = this.#clock.after(PATIENCE, () => this.#gone.resolve())
    await this.#gone.promise
    late.cancel()
  }

  /**
   * Starts it in a session of its own, where it ignores the signals that end a run, such as Ctrl-C. If the system has
   * no room for a process the text is lost.
   */
  #begun(): ChildProcess | undefined {
    const gone = (): void => this.#gone.resolve()
    try {
      const [shell, ...words] = helperShell()
      const child = spawn(shell, [...words, "-c", `trap '' HUP INT QUIT TERM TSTP\n${ALOOF}\nexec cat >&2`], {
        env: standardEnvironment(),
        stdio: ["pipe", "ignore", "inherit"],
        detached: true,
      })
      child.once("exit", gone).once("error", gone)
      child.stdin?.on("error", () => {}) // its `exit` follows
      return child
    } catch {
      return undefined
    }
  }
}
