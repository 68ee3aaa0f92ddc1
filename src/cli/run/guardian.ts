/** The guardian of a process group, from the side of whoever it watches: it must hear of each renewal, and of the end. */
import { type ChildProcess, spawn } from "node:child_process"
import type { Clock } from "../../runtime/clock.ts"
import { GUARDIAN } from "./scripts.ts"
import { standardEnvironment } from "./standard-environment.ts"

/** Kills the group when this process is gone, or is silent for too long. */
export class Guardian {
  /** Settles when it is gone although it is wanted yet. */
  readonly gone: Promise<void>
  readonly #child: ChildProcess
  readonly #clock: Clock
  /** Whose time it is told: the boot clock's, or the wall clock's. */
  readonly #boots: boolean
  #dismissed = false

  /** It is there before it knows the group. `folder` is removed when it has to act. */
  constructor(group: Promise<number>, folder: string, clock: Clock) {
    this.#clock = clock
    this.#boots = clock.bootId !== undefined
    const arguments_ = [this.#boots ? "boot" : "wall", folder]
    this.#child = spawn("/bin/sh", ["-c", GUARDIAN, "leasehold guardian", ...arguments_], {
      env: standardEnvironment(),
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
    })
    const { promise, resolve } = Promise.withResolvers<void>()
    const ended = (): void => {
      if (!this.#dismissed) resolve()
    }
    this.#child.once("exit", ended).once("error", ended)
    this.#child.stdin?.on("error", ended)
    this.gone = promise
    group.then(
      (known) => this.#tell(String(known)),
      () => this.dismiss(),
    )
  }

  /** From now on the group may work until then, in Unix milliseconds of this process's clock. */
  allow(until: number): void {
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

  #tell(line: string): void {
    this.#child.stdin?.write(`${line}\n`)
  }
}
