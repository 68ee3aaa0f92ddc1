/**
 * Standard error through a process of its own: its reader may stand still, as a pager does or a log collector that is
 * stuck, and a write would stop this process then, with a command at work and its lease not renewed. Whether it would
 * can't be asked, and to write without waiting would be for the command too, which shares what is written to.
 *
 * What can't be said yet is kept, within bounds, also when this process is gone: it is said as soon as it is read.
 */
import { type ChildProcess, spawn } from "node:child_process"
import type { Clock } from "../../runtime/time/clock.ts"
import type { Carrier } from "../process/io.ts"
import { ALOOF, helperShell } from "./process/helper-shell.ts"
import { standardEnvironment } from "./process/standard-environment.ts"

/** The most that waits here beside what the system keeps of it, in characters. What comes then is lost. */
const MOST_KEPT = 65_536
/** How long the end of this process waits for a reader, in ms. */
const PATIENCE = 1000

/** Begins when there is something to say. */
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

  /** Settles once all is said, or a reader has had its time. */
  async told(): Promise<void> {
    if (this.#child === undefined) return
    this.#child.stdin?.end()
    const late = this.#clock.after(PATIENCE, () => this.#gone.resolve())
    await this.#gone.promise
    late.cancel()
  }

  /**
   * In a session of its own, and deaf: what ends a run, such as Ctrl-C or the stop of a service, is not for it. Where
   * there is no room for it, what it was to say is lost.
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
      child.stdin?.on("error", () => {}) // that it is gone tells enough
      return child
    } catch {
      return undefined
    }
  }
}
