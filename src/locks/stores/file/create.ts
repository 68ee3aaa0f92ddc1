/**
 * How a file comes to be whole and under a name that only one process can take: written under a temporary name, then
 * linked. Nobody ever sees half of it while the machine runs.
 */
import { errnoOf } from "./failures.ts"
import type { Files } from "./files.ts"
import { temporaryPath } from "./layout.ts"

/** Tells the temporary files of this process apart; the pid and `id` tell them from those of others. */
let created = 0

/** Whether `path` is now this body. False where the name was taken; the file that has it stays as it is. */
export async function createWhole(
  files: Files,
  id: string,
  directory: string,
  path: string,
  body: Uint8Array,
): Promise<boolean> {
  const temporary = temporaryPath(directory, `${id}-${++created}`)
  try {
    await files.create(temporary, body)
    return (await isNew(() => files.link(temporary, path))) || (await isSameFile(files, temporary, path))
  } finally {
    await discard(files, temporary)
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

async function discard(files: Files, temporary: string): Promise<void> {
  try {
    await files.unlink(temporary)
  } catch {
    // It was never made, or it stays for a later writer to clear away; the link has happened or not all the same.
  }
}
