/**
 * Clears away what is over: versions below the one before the current, temporary files that were left behind, and the
 * directories of deleted objects whose names never come again. Its failures are nobody's: what stays is cleared later.
 *
 * A temporary file is left behind when it wasn't touched for ten minutes of the file system's own time. Should its
 * writer wake up after all, its put fails and has changed nothing.
 */
import { join } from "node:path"
import { errnoOf } from "./failures.ts"
import type { Files } from "./files.ts"
import { versionPath } from "./layout.ts"
import { scan, type Versions } from "./versions.ts"

const LEFT_BEHIND_NS = 600_000_000_000n

/** Keeps the current version and the one before it, which stops late writers of that number. Ascending, without gaps. */
export async function clearOld(files: Files, directory: string, versions: Versions): Promise<void> {
  await trying(async () => {
    for (const number of versions.numbers)
      if (number < versions.highest - 1) await clear(files, versionPath(directory, number))
    if (versions.temporaries.length === 0) return
    const current = await files.status(versionPath(directory, versions.highest))
    if (current !== undefined) await clearTemporaries(files, directory, versions.temporaries, current.mtimeNs)
  })
}

/** Forgets a deleted object altogether, its tombstone last. A version above the tombstone stays, and all with it. */
export async function drop(files: Files, directory: string, tombstone: number): Promise<void> {
  await trying(async () => {
    const { numbers, temporaries } = await scan(files, directory)
    for (const name of temporaries) await clear(files, join(directory, name))
    for (const number of numbers) if (number <= tombstone) await clear(files, versionPath(directory, number))
    await files.removeDirectory(directory)
  })
}

/** Clears a directory in which no version was ever finished: its writer was killed. `now` in nanoseconds. */
export async function clearUnfinished(files: Files, directory: string, versions: Versions, now: bigint): Promise<void> {
  await trying(async () => {
    await clearTemporaries(files, directory, versions.temporaries, now)
    await files.removeDirectory(directory)
  })
}

async function clearTemporaries(
  files: Files,
  directory: string,
  temporaries: readonly string[],
  now: bigint,
): Promise<void> {
  for (const name of temporaries) {
    const path = join(directory, name)
    const status = await files.status(path)
    if (status !== undefined && now - status.mtimeNs > LEFT_BEHIND_NS) await clear(files, path)
  }
}

/** Removes a file or a tombstone (EISDIR on Linux, EPERM by POSIX); another process may have been faster. */
async function clear(files: Files, path: string): Promise<void> {
  try {
    await files.unlink(path)
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === "EISDIR" || errno === "EPERM") await files.removeDirectory(path)
    else if (errno !== "ENOENT") throw error
  }
}

async function trying(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch {
    // Whatever is still there is in nobody's way.
  }
}
