/**
 * How a file comes to be whole and under a name that only one process can take: written under a temporary name, then
 * linked. Nobody ever sees half of it while the machine runs.
 */
import { errnoOf, unlessMissing } from "./failures.ts"
import type { Files } from "./files.ts"
import { temporaryPath } from "./layout.ts"

/** Tells the temporary files of this process apart; the pid and `id` tell them from those of others. */
let created = 0

/** A new temporary name in a directory, for the store object `id`. */
export const newTemporary = (directory: string, id: string): string => temporaryPath(directory, `${id}-${++created}`)

/**
 * Whether `path` is now this body. False where the name was taken; the file that has it stays as it is. What was made takes
 * the name `shown` too, where one is given, in place of whatever had it.
 */
export async function createWhole(
  files: Files,
  id: string,
  directory: string,
  path: string,
  body: Uint8Array,
  shown?: string,
): Promise<boolean> {
  const temporary = newTemporary(directory, id)
  let made = false
  try {
    await files.create(temporary, body)
    made = (await isNew(() => files.link(temporary, path))) || (await isSameFile(files, temporary, path))
    return made
  } finally {
    if (!made || shown === undefined || !(await takesName(files, temporary, shown))) await discard(files, temporary)
  }
}

/**
 * Whether the temporary file has that name instead. Where it can't be had, nobody but a reader misses it. The name is missing
 * for a moment in between: a file that takes the place of another by `rename` alone is written to the disk by ext4, and then
 * whoever removes it waits for the disk (6 ms for an acquire and release, against 0.6 ms).
 */
export async function takesName(files: Files, temporary: string, shown: string): Promise<boolean> {
  try {
    await unlessMissing(() => files.unlink(shown))
    await files.rename(temporary, shown)
    return true
  } catch {
    return false
  }
}

/** Whether `operation` made the name that it makes; false where it was taken. */
export async function isNew(operation: () => void | Promise<void>): Promise<boolean> {
  try {
    await operation()
    return true
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return false
    throw error
  }
}

/** A network file system may apply a link, lose the answer, and find the name taken when it asks again. */
async function isSameFile(files: Files, one: string, other: string): Promise<boolean> {
  const [a, b] = [await files.status(one), await files.status(other)]
  return a !== undefined && a.ino === b?.ino && a.dev === b.dev
}

/** Forgets a temporary file. */
export async function discard(files: Files, temporary: string): Promise<void> {
  try {
    await files.unlink(temporary)
  } catch {
    // It was never made, or it stays for a later writer to clear away; the link has happened or not all the same.
  }
}
