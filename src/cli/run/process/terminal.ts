/**
 * Whether this process has a terminal's foreground for itself, where a command may want to ask its user something.
 * Beside others of a pipe it hasn't: the terminal would be taken from them.
 */
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import process from "node:process"
import { isatty } from "node:tty"

/** Looks at standard input and output, and at who is in front. */
export function isInForeground(platform: string): boolean {
  if (![0, 1].every((descriptor) => isatty(descriptor))) return false
  const [group, front] = platform === "linux" ? bySystem() : byPs()
  return group !== undefined && group === front
}

/** The process group, and the one that its terminal has in front; -1 without a terminal. */
type Groups = readonly [group: string | undefined, front: string | undefined]

/** As Linux shows them. */
export function bySystem(): Groups {
  const stat = readFileSync("/proc/self/stat", "utf8")
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return [fields[2], fields[5]]
}

/** Never by PATH, which is the caller's. */
export function byPs(): Groups {
  const { stdout } = spawnSync("/bin/ps", ["-o", "pgid=,tpgid=", "-p", String(process.pid)], { encoding: "utf8" })
  const [group, front] = stdout.trim().split(/\s+/)
  return [group, front]
}
