/**
 * The guardian of a process group, from the side of whoever it watches: it must hear of each renewal, and of the end.
 */
import { type ChildProcess, spawn } from "node:child_process"
import process from "node:process"
import type { Clock } from "../../../runtime/time/clock.ts"
import { helperShell } from "./helper-shell.ts"
import { GUARDIAN } from "./scripts.ts"
import { standardEnvironment } from "./standard-environment.ts"

/** Kills the group when this process is gone, or is silent for too long. */
export class Guardian {
  /** Settles when it is gone although it is wanted yet. */
  readonly gone: Promise<void>
  /** Settles once it knows the group by more than its number, or is gone. Before that no command may begin. */
  readonly ready: Promise<void>
  readonly #child: ChildProcess
  readonly #clock: Clock
  /** Whose time it is told: the boot clock's, or the wall clock's. */
  readonly #boots: boolean
  #dismissed = false

  /** It is there before it knows the group. It removes `folder` where this process ends without dismissing it. */
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
   * From now on the group may work until then, in Unix milliseconds of this process's clock. A guardian that was
   * stopped goes on: it would guard nothing.
   */
  allow(until: number): void {
    this.#continue()
    const { wall, boot } = this.#clock.read()
    const due = this.#boots ? until - wall + boot : until
    this.#tell(String(Math.floor(due / 10)))
  }

  /** There is nothing left to guard. */
  dismiss(): void {
    if (this.#dismissed) return
    this.#dismissed = true
    this.#tell("done")
    this.#child.stdin?.end()
    this.#child.unref()
  }

  /** Its number is its own until this process has heard of its end. */
  #continue(): void {
    const { pid, exitCode, signalCode } = this.#child
    if (pid === undefined || exitCode !== null || signalCode !== null) return
    try {
      process.kill(pid, "SIGCONT")
    } catch {} // it is gone, which is heard of soon
  }

  #tell(line: string): void {
    this.#child.stdin?.write(`${line}\n`)
  }
}
