/**
 * `--on-request=exec:…`: what the user wants to be done when another asks for the key. Nothing of it outlives the run.
 */
import { type ChildProcess, spawn } from "node:child_process"
import type { Clock } from "../../runtime/time/clock.ts"
import type { Environment } from "../process/bytes.ts"
import { ProcessGroup } from "./process/group.ts"
import { AS_GIVEN, CLOSE_OTHERS, givenTo, helperShell } from "./process/helper-shell.ts"
import { passageOf } from "./process/passage.ts"

/** What the shell has to say that closes descriptors, such as of a locale that isn't there, is not for the user. */
const QUIET = 'exec 3>&2 2>/dev/null && exec "$@"'
const CLOSED = `${CLOSE_OTHERS}${AS_GIVEN}\nexec 2>&3 3>&- 4>&-\nset -- /bin/sh -c "$1"`

/** How long it has from SIGTERM to SIGKILL, in ms. The end of the run waits for it. */
const GRACE_MS = 1000

/** All that were started for one run. */
export class Hooks {
  readonly #clock: Clock
  /** The groups of those that haven't ended: the number of one that has may be another's. */
  readonly #running = new Map<number, Promise<void>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Starts a line in a process group of its own. `failed` is told where it can't be started. */
  start(line: string, env: Environment, failed: (error: unknown) => void): void {
    try {
      const child = spawned(line, env).on("error", failed)
      const { pid } = child
      if (pid === undefined) return
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#running.set(pid, promise)
      child.once("exit", () => {
        this.#running.delete(pid)
        resolve()
      })
    } catch (error) {
      failed(error)
    }
  }

  /** Ends those that still run. Settles once they have ended; never rejects. */
  async end(): Promise<void> {
    await Promise.all(Array.from(this.#running, ([id, ended]) => this.#end(new ProcessGroup(id), ended)))
  }

  /** What it began in its group ends with it. */
  async #end(group: ProcessGroup, ended: Promise<void>): Promise<void> {
    group.signal("SIGTERM")
    const killing = this.#clock.after(GRACE_MS, () => group.signal("SIGKILL"))
    await ended
    killing.cancel()
    if (group.isThere()) group.signal("SIGKILL")
  }
}

function spawned(line: string, env: Environment): ChildProcess {
  const passage = passageOf(env)
  const script = [CLOSED, passage.line, 'exec "$@"'].join("\n")
  const given = givenTo(passage.shell)
  return spawn("/bin/sh", ["-c", QUIET, "sh", ...helperShell(), "-c", script, "sh", ...given, line], {
    env: { ...passage.shell },
    stdio: ["ignore", "inherit", "inherit"],
    detached: true,
  })
}
