/**
 * `--on-request=exec:…`: the user's command for when another process asks for the key. No such command outlives the
 * run.
 */
import { type ChildProcess, spawn } from "node:child_process"
import type { Clock } from "../../runtime/time/clock.ts"
import type { Environment } from "../process/bytes.ts"
import { ProcessGroup } from "./process/group.ts"
import { AS_GIVEN, CLOSE_OTHERS, givenTo, helperShell } from "./process/helper-shell.ts"
import { passageOf } from "./process/passage.ts"

/** Hides what the first shell says, such as of a missing locale. The user's command gets standard error back. */
const QUIET = 'exec 3>&2 2>/dev/null && exec "$@"'
const CLOSED = `${CLOSE_OTHERS}${AS_GIVEN}\nexec 2>&3 3>&- 4>&-\nset -- /bin/sh -c "$1"`

/** From SIGTERM to SIGKILL, in ms. The end of the run waits for as long, so it is short. */
const GRACE_MS = 1000

/** The hooks of one run. */
export class Hooks {
  readonly #clock: Clock
  /** The process groups of the hooks that run. When a hook has ended its number may be given to another group. */
  readonly #running = new Map<number, Promise<void>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Starts a line in a process group of its own. Calls `failed` if it can't be started. */
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

  /** Ends the hooks that still run. Settles once they have ended; never rejects. */
  async end(): Promise<void> {
    await Promise.all(Array.from(this.#running, ([id, ended]) => this.#end(new ProcessGroup(id), ended)))
  }

  /** Ends one hook, and what it started in its group. */
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
