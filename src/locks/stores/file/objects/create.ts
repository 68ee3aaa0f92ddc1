/**
 * How a file comes to be whole and under a name that only one process can take: written under a temporary name, then
 * linked. Nobody ever sees half of it while the machine runs.
 */
import { errnoOf, unlessMissing } from "../disk/failures.ts"
import type { Files } from "../disk/files.ts"
import { type Steps, step } from "../disk/steps.ts"
import { temporaryPath } from "./layout.ts"

/** Tells the temporary files of this process apart; the pid and `id` tell them from those of others. */
let created = 0

/** A new temporary name in a directory, for the store object `id`. */
export const newTemporary = (directory: string, id: string): string => temporaryPath(directory, `${id}-${++created}`)

/**
 * Whether `path` is now this body. False where the name was taken; the file that has it stays as it is. What was made
 * takes the name `shown` too, where one is given, in place of whatever had it.
 */
export function* createWhole(
  files: Files,
  id: string,
  directory: string,
  path: string,
  body: Uint8Array,
  shown?: string,
): Steps<boolean> {
  const temporary = newTemporary(directory, id)
  let made = false
  try {
    yield* step(files.create(temporary, body))
    made = (yield* isNew(() => step(files.link(temporary, path)))) || (yield* isSameFile(files, temporary, path))
    return made
  } finally {
    if (!made || shown === undefined || !(yield* takesName(files, temporary, shown))) yield* discard(files, temporary)
  }
}

/**
 * Whether the temporary file has that name instead. Where it can't be had, nobody but a reader misses it. The name is
 * missing for a moment in between: a file that takes the place of another by `rename` alone is written to the disk by
 * ext4, and then whoever removes it waits for the disk (`npm run bench -- file-put` shows for how long).
 */
export function* takesName(files: Files, temporary: string, shown: string): Steps<boolean> {
  try {
    yield* unlessMissing(() => step(files.unlink(shown)))
    yield* step(files.rename(temporary, shown))
    return true
  } catch {
    return false
  }
}

/** Whether `operation` made the name that it makes; false where it was taken. */
export function* isNew(operation: () => Steps<void>): Steps<boolean> {
  try {
    yield* operation()
    return true
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return false
    throw error
  }
}

/** A network file system may apply a link, lose the answer, and find the name taken when it asks again. */
function* isSameFile(files: Files, one: string, other: string): Steps<boolean> {
  const [a, b] = [yield* step(files.status(one)), yield* step(files.status(other))]
  return a !== undefined && a.ino === b?.ino && a.dev === b.dev
}

/** Forgets a temporary file. */
export function* discard(files: Files, temporary: string): Steps<void> {
  try {
    yield* step(files.unlink(temporary))
  } catch {
    // It was never made, or it stays for a later writer to clear away; the link has happened or not all the same.
  }
}
