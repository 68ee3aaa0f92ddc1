/** `--on-request=exec:…`: what the user wants to be done when another asks for the key. It ends with the run. */
import { type ChildProcess, spawn } from "node:child_process"
import { ProcessGroup } from "./group.ts"
import { AS_GIVEN, CLOSE_OTHERS, givenTo, helperShell } from "./helper-shell.ts"
import { passageOf } from "./passage.ts"

/** What the shell has to say that closes descriptors, such as of a locale that isn't there, is not for the user. */
const QUIET = 'exec 3>&2 2>/dev/null && exec "$@"'
const CLOSED = `${CLOSE_OTHERS}${AS_GIVEN}\nexec 2>&3 3>&- 4>&-\nset -- /bin/sh -c "$1"`

/** Starts it in a process group of its own, which disposing ends. `failed` is told where it can't be started. */
export function startHook(
  line: string,
  env: Readonly<Record<string, string | undefined>>,
  failed: (error: unknown) => void,
): Disposable {
  try {
    const passage = passageOf(env)
    const script = [CLOSED, passage.line, 'exec "$@"'].join("\n")
    const given = givenTo(passage.shell)
    const child = spawn("/bin/sh", ["-c", QUIET, "sh", ...helperShell(), "-c", script, "sh", ...given, line], {
      env: { ...passage.shell },
      stdio: ["ignore", "inherit", "inherit"],
      detached: true,
    }).on("error", failed)
    return { [Symbol.dispose]: () => end(child) }
  } catch (error) {
    failed(error)
    return { [Symbol.dispose]: () => {} }
  }
}

/** The number of one that has ended may be another's by now. */
function end({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null && signalCode === null) new ProcessGroup(pid).signal("SIGTERM")
}
