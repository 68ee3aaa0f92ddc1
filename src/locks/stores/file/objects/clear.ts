/**
 * Clears away what is over: versions below the one before the current, temporary files that were left behind, and the
 * directories of deleted objects whose names never come again. Its failures are nobody's: what stays is cleared later.
 *
 * A temporary file is left behind when it wasn't touched for ten minutes of the file system's own time. Should its
 * writer wake up after all, its put fails and has changed nothing.
 */
import { join } from "node:path"
import { errnoOf } from "../disk/failures.ts"
import type { Files } from "../disk/files.ts"
import { type Steps, step } from "../disk/steps.ts"
import { versionPath } from "./layout.ts"
import { scan, type Versions } from "./versions.ts"

const LEFT_BEHIND_NS = 600_000_000_000n

/**
 * Keeps the current version and the one before it, which stops late writers of that number. Ascending, without gaps.
 */
export function* clearOld(files: Files, directory: string, versions: Versions): Steps<void> {
  yield* trying(function* () {
    for (const number of versions.numbers)
      if (number < versions.highest - 1) yield* clear(files, versionPath(directory, number))
    if (versions.temporaries.length === 0) return
    const current = yield* step(files.status(versionPath(directory, versions.highest)))
    if (current !== undefined) yield* clearTemporaries(files, directory, versions.temporaries, current.mtimeNs)
  })
}

/** Forgets a deleted object altogether, its tombstone last. A version above the tombstone stays, and all with it. */
export function* drop(files: Files, directory: string, tombstone: number): Steps<void> {
  yield* trying(function* () {
    const { numbers, temporaries } = yield* scan(files, directory)
    for (const name of temporaries) yield* clear(files, join(directory, name))
    for (const number of numbers) if (number <= tombstone) yield* clear(files, versionPath(directory, number))
    yield* step(files.removeDirectory(directory))
  })
}

/** Clears a directory in which no version was ever finished: its writer was killed. `now` in nanoseconds. */
export function* clearUnfinished(files: Files, directory: string, versions: Versions, now: bigint): Steps<void> {
  yield* trying(function* () {
    yield* clearTemporaries(files, directory, versions.temporaries, now)
    yield* step(files.removeDirectory(directory))
  })
}

function* clearTemporaries(files: Files, directory: string, temporaries: readonly string[], now: bigint): Steps<void> {
  for (const name of temporaries) {
    const path = join(directory, name)
    const status = yield* step(files.status(path))
    if (status !== undefined && now - status.mtimeNs > LEFT_BEHIND_NS) yield* clear(files, path)
  }
}

/** Removes a file or a tombstone (EISDIR on Linux, EPERM by POSIX); another process may have been faster. */
function* clear(files: Files, path: string): Steps<void> {
  try {
    yield* step(files.unlink(path))
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === "EISDIR" || errno === "EPERM") yield* step(files.removeDirectory(path))
    else if (errno !== "ENOENT") throw error
  }
}

function* trying(work: () => Steps<void>): Steps<void> {
  try {
    yield* work()
  } catch {
    // Whatever is still there is in nobody's way.
  }
}
