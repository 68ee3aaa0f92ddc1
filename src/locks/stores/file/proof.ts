/**
 * What a probe has shown of a directory, remembered in it, so that later starts write nothing:
 *
 *     proofs/<version>-<device>-<inode>-<deletes or writes>
 *
 * An empty file, of which only the name counts. It is of this folder `leases` on this file system, reached by this mount: a copy of
 * the directory has another inode, and another mount another device.
 *
 * Not promised: that a start finds out again what has changed since on the same mount. `doctor` probes whatever is remembered.
 */
import { join } from "node:path"
import { isNew } from "./create.ts"
import { errnoOf, unlessMissing } from "./failures.ts"
import type { Files } from "./files.ts"
import { type Steps, step } from "./steps.ts"

/** To be raised whenever the probe asks for more. */
const PROBE_VERSION = 1

/** What was proved, beside that writes honour their preconditions: whether deletes do. */
export interface Proof {
  readonly deletes: boolean
}

/** Undefined where nothing counts, or it can't be looked for. */
export function* recall(files: Files, root: string): Steps<Proof | undefined> {
  try {
    const paths = yield* pathsOf(files, root)
    if (paths === undefined) return undefined
    // Two processes may have found two things: then the one that promises less.
    if (yield* step(files.exists(paths.writes))) return { deletes: false }
    return (yield* step(files.exists(paths.deletes))) ? { deletes: true } : undefined
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
    return undefined
  }
}

/** Where it fails the next start probes too, and no more. */
export function* remember(files: Files, root: string, { deletes }: Proof): Steps<void> {
  const paths = yield* pathsOf(files, root)
  if (paths === undefined) return
  const path = deletes ? paths.deletes : paths.writes
  yield* isNew(() => step(files.makeDirectory(join(root, "proofs"))))
  yield* isNew(() => step(files.create(path, new Uint8Array())))
}

/** Nothing that is remembered now counts for a process that starts later. */
export function* forget(files: Files, root: string): Steps<void> {
  const paths = yield* pathsOf(files, root)
  if (paths === undefined) return
  for (const path of [paths.writes, paths.deletes]) yield* unlessMissing(() => step(files.unlink(path)))
}

function* pathsOf(
  files: Files,
  root: string,
): Steps<{ readonly writes: string; readonly deletes: string } | undefined> {
  const leases = yield* step(files.status(join(root, "leases")))
  if (leases === undefined) return undefined
  const path = join(root, "proofs", `${PROBE_VERSION}-${leases.dev}-${leases.ino}`)
  return { writes: `${path}-writes`, deletes: `${path}-deletes` }
}
