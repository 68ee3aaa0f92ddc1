/**
 * The soft limit of open files that a run was called with. Runtimes raise their own to the hard limit as they start.
 * The command would inherit that, but programs that use select(2), or close all possible descriptors, rely on a low
 * limit.
 *
 * A process can't ask for its limit before that. The caller's limit is read instead, if both have the same hard limit.
 *
 * Not known: the limit of a process that changed it and then became this one by exec, and any limit without /proc.
 */
import { readFileSync } from "node:fs"
import process from "node:process"

/** As ulimit takes it: a number or `unlimited`. Undefined if it is this process's own, or not known. */
export function callersOpenFiles(proc = "/proc", caller: number = process.ppid): string | undefined {
  const [own, theirs] = [limits(`${proc}/self/limits`), limits(`${proc}/${caller}/limits`)]
  return own === undefined || theirs?.hard !== own.hard || theirs.soft === own.soft ? undefined : theirs.soft
}

function limits(path: string): { readonly soft: string; readonly hard: string } | undefined {
  try {
    const [, soft, hard] = /^Max open files +(\S+) +(\S+)/m.exec(readFileSync(path, "utf8")) ?? []
    return soft === undefined || hard === undefined ? undefined : { soft, hard }
  } catch {
    return undefined // it has ended, or there is no /proc
  }
}
