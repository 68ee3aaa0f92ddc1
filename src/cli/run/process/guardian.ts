/** The guardian of a process group, as the run that starts it sees it: the run tells it each renewal, and the end. */
import { type ChildProcess, spawn } from "node:child_process"
import process from "node:process"
import type { Clock } from "../../../runtime/time/clock.ts"
import { helperShell } from "./helper-shell.ts"
import { GUARDIAN } from "./scripts.ts"
import { standardEnvironment } from "./standard-environment.ts"

/** Kills the process group when this process has ended, or a deadline has passed that wasn't renewed. */
export class Guardian {
  /** Settles when the guardian has ended without being dismissed. */
  readonly gone: Promise<void>
  /**
   * Settles once the guardian can tell the group from a later one of the same number, or has ended. The command waits
   * for it.
   */
  readonly ready: Promise<void>
  readonly #child: ChildProcess
  readonly #clock: Clock
  /** Whether deadlines are told in the boot clock's time, else in the wall clock's. */
  readonly #boots: boolean
  #dismissed = false

  /** Starts it, before it knows the group. It removes `folder` if this process ends without dismissing it. */
  constructor(group: Promise<number>, folder: string, clock: Clock) {
    this.#clock = clock
    this.#boots = clock.bootId !== undefined
    const arguments_ = [this.#boots ? "boot" : "wall", folder]
    const [shell, ...words] = helperShell()
    this.#child = spawn(shell, [...words, "-c", GUARDIAN, "leasehold guardian", ...arguments_], {
      env: standardEnvironment(),
      stdio: ["pipe", "pipe", "ignore"],
      detached: true,
    })
    const { promise, resolve } = Promise.withResolvers<void>()
    const ended = (): void => {
      if (!this.#dismissed) resolve()
    }
    this.#child.once("exit", ended).once("error", ended)
    this.#child.stdin?.on("error", ended)
    this.gone = promise
    const { promise: ready, resolve: seen } = Promise.withResolvers<void>()
    this.#child.stdout?.once("data", () => seen())
    this.ready = Promise.race([ready, promise])
    group.then(
      (known) => this.#tell(String(known)),
      () => this.dismiss(),
    )
  }

  /**
   * Lets the group work until then, in Unix milliseconds of this process's clock. Continues a guardian that was
   * stopped, which would guard nothing.
   */
  allow(until: number): void {
    this.#continue()
    const { wall, boot } = this.#clock.read()
    const due = this.#boots ? until - wall + boot : until
    this.#tell(String(Math.floor(due / 10)))
  }

  /** Ends it: there is nothing left to guard. */
  dismiss(): void {
    if (this.#dismissed) return
    this.#dismissed = true
    this.#tell("done")
    this.#child.stdin?.end()
    this.#child.unref()
  }

  /** Its number can't be another process's before its `exit` was emitted here. */
  #continue(): void {
    const { pid, exitCode, signalCode } = this.#child
    if (pid === undefined || exitCode !== null || signalCode !== null) return
    try {
      process.kill(pid, "SIGCONT")
    } catch {} // it has ended, and its `exit` follows
  }

  #tell(line: string): void {
    this.#child.stdin?.write(`${line}\n`)
  }
}
