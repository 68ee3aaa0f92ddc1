/** Where this process is: its working directory, whether a path names that, and its user's home directory. */
import { statSync } from "node:fs"
import { isAbsolute, normalize } from "node:path"
import process from "node:process"
import { InvalidConfigError } from "../../locks/api/errors.ts"
import { LOST } from "./bytes.ts"

/**
 * The path of the working directory. Throws InvalidConfigError if it has none. It may have been removed, or its bytes
 * are no UTF-8, so that no runtime can name it.
 */
export function workingDirectory(): string {
  const path = asTold()
  if (path instanceof Error) throw unnamed("it was removed, or its path is no UTF-8", path)
  if (path.includes(LOST) && !isHere(path)) throw unnamed("its path has bytes that are no UTF-8")
  return path
}

/** Whether a path leads to the working directory without detours. */
export function isHere(path: string): boolean {
  if (!isAbsolute(path) || normalize(path) !== path) return false
  const [there, here] = [path, "."].map((each) => statSync(each, { throwIfNoEntry: false }))
  return there !== undefined && there.ino === here?.ino && there.dev === here.dev
}

/** The user's home directory, asked by `home`; undefined if the system knows none. Some runtimes throw then. */
export function homeFolder(home: () => string): string | undefined {
  try {
    return home() || undefined
  } catch {
    return undefined
  }
}

function asTold(): string | Error {
  try {
    return process.cwd()
  } catch (error) {
    return error as Error
  }
}

function unnamed(why: string, cause?: Error): InvalidConfigError {
  return new InvalidConfigError({
    message: `The working directory can't be named: ${why}`,
    next: "Call leasehold from another directory, such as: env -C / leasehold …",
    cause,
  })
}
