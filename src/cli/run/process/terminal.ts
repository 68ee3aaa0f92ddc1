/**
 * Whether this process has the foreground of a terminal for itself, so that its command may ask the user something. In
 * a pipe it hasn't: the other processes of the pipe would lose the terminal.
 */
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import process from "node:process"
import { isatty } from "node:tty"

/** Looks at standard input and output, and at the terminal's foreground group. */
export function isInForeground(platform: string): boolean {
  if (![0, 1].every((descriptor) => isatty(descriptor))) return false
  const [group, front] = platform === "linux" ? bySystem() : byPs()
  return group !== undefined && group === front
}

/** The process group, and the foreground group of its terminal; -1 without a terminal. */
type Groups = readonly [group: string | undefined, front: string | undefined]

/** The groups as /proc shows them. */
export function bySystem(): Groups {
  const stat = readFileSync("/proc/self/stat", "utf8")
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return [fields[2], fields[5]]
}

/** The groups as ps(1) shows them: the system's, since PATH is the caller's. */
export function byPs(): Groups {
  const { stdout } = spawnSync("/bin/ps", ["-o", "pgid=,tpgid=", "-p", String(process.pid)], { encoding: "utf8" })
  const [group, front] = stdout.trim().split(/\s+/)
  return [group, front]
}
