/** `--on-request=exec:…`: what the user wants to be done when another asks for the key. It ends with the run. */
import { spawn } from "node:child_process"
import { ProcessGroup } from "./group.ts"

/** Starts it in a process group of its own, which disposing ends. `failed` is told where it can't be started. */
export function startHook(
  line: string,
  env: Readonly<Record<string, string | undefined>>,
  failed: (error: unknown) => void,
): Disposable {
  try {
    const child = spawn("/bin/sh", ["-c", line], {
      env: { ...env },
      stdio: ["ignore", "inherit", "inherit"],
      detached: true,
    }).on("error", failed)
    const { pid } = child
    return { [Symbol.dispose]: () => void (pid !== undefined && new ProcessGroup(pid).signal("SIGTERM")) }
  } catch (error) {
    failed(error)
    return { [Symbol.dispose]: () => {} }
  }
}
