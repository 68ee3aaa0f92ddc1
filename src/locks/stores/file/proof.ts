/**
 * What a probe has shown of a directory, remembered in it, so that later starts write nothing:
 *
 *     proofs/<version>-<boot>-<device>-<inode>-<deletes or writes>
 *
 * An empty file, of which only the name counts. It is of this folder `leases`, as this boot of this machine reaches it: a copy of
 * the directory has another inode, and a device's number means nothing to another machine, nor after a boot. Where the boot can't
 * be told nothing is remembered.
 *
 * Not promised: that a start finds out what has changed since on this boot: a mount that took the place and the device's number of
 * another, and shows the same folder by the same inode. `doctor` probes whatever is remembered.
 */
import { join } from "node:path"
import { encodeName } from "../../api/keys.ts"
import type { ProbeResult } from "../probe.ts"
import { errnoOf, unlessMissing } from "./disk/failures.ts"
import type { Files } from "./disk/files.ts"
import { type Steps, step } from "./disk/steps.ts"
import { isNew } from "./objects/create.ts"

/** To be raised whenever the probe asks for more. */
const PROBE_VERSION = 1

/** Of which directory it is, and by which boot it is reached. */
export interface ReachedDirectory {
  readonly files: Files
  readonly root: string
  readonly boot: string | undefined
}

/** Undefined where nothing counts, or it can't be looked for. */
export function* recall(place: ReachedDirectory): Steps<ProbeResult | undefined> {
  const { files } = place
  try {
    const paths = yield* pathsOf(place)
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
export function* remember(place: ReachedDirectory, { deletes }: ProbeResult): Steps<void> {
  const { files, root } = place
  const paths = yield* pathsOf(place)
  if (paths === undefined) return
  const path = deletes ? paths.deletes : paths.writes
  yield* isNew(() => step(files.makeDirectory(join(root, "proofs"))))
  yield* isNew(() => step(files.create(path, new Uint8Array())))
}

/** Nothing that is remembered now counts for a process that starts later, as far as this one may say so. */
export function* forget(place: ReachedDirectory): Steps<void> {
  const { files } = place
  try {
    const paths = yield* pathsOf(place)
    if (paths !== undefined)
      for (const path of [paths.writes, paths.deletes]) yield* unlessMissing(() => step(files.unlink(path)))
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
  }
}

function* pathsOf({
  files,
  root,
  boot,
}: ReachedDirectory): Steps<{ readonly writes: string; readonly deletes: string } | undefined> {
  if (boot === undefined) return undefined
  const leases = yield* step(files.status(join(root, "leases")))
  if (leases === undefined) return undefined
  const path = join(root, "proofs", `${PROBE_VERSION}-${encodeName(boot)}-${leases.dev}-${leases.ino}`)
  return { writes: `${path}-writes`, deletes: `${path}-deletes` }
}
