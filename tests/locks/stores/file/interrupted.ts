// File operations that a test stops between any two of them, as a scheduler or a signal stops a process: the real
// operations on a real directory, with something else done before a chosen one.
import type { Files } from "../../../../src/locks/stores/file/disk/files.ts"

export interface Interrupted extends Files {
  /** The operations so far, in order. */
  readonly done: readonly string[]
}

/**
 * Does `meanwhile` before operation number `at`, counted from 0; the operation then goes on, if `meanwhile` settles.
 */
export function interrupted(files: Files, at: number, meanwhile: () => Promise<void>): Interrupted {
  const done: string[] = []
  const step = async <A>(name: string, operation: () => A | Promise<A>): Promise<A> => {
    if (done.push(name) - 1 === at) await meanwhile()
    return operation()
  }
  return {
    done,
    names: (directory) => step("names", () => files.names(directory)),
    create: (path, body) => step("create", () => files.create(path, body)),
    read: (path, limit) => step("read", () => files.read(path, limit)),
    link: (path, second) => step("link", () => files.link(path, second)),
    rename: (path, other) => step("rename", () => files.rename(path, other)),
    exists: (path) => step("exists", () => files.exists(path)),
    unlink: (path) => step("unlink", () => files.unlink(path)),
    makeDirectory: (path) => step("makeDirectory", () => files.makeDirectory(path)),
    removeDirectory: (path) => step("removeDirectory", () => files.removeDirectory(path)),
    status: (path) => step("status", () => files.status(path)),
    persist: (directory) => step("persist", () => files.persist(directory)),
  }
}

/** Runs `round` with an interruption before its first operation, then before its second, until it has no more. */
export async function atEachStep(round: (at: number) => Promise<Interrupted>): Promise<number> {
  for (let at = 0; ; at++) if ((await round(at)).done.length <= at) return at
}
