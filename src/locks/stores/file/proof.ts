/**
 * The result of a probe of a directory, remembered in it, so that later starts write nothing:
 *
 *     proofs/<version>-<boot>-<device>-<inode>-<deletes or writes>
 *
 * It is an empty file, of which only the name counts. It is about this folder `leases`, as this boot of this machine
 * reaches it: a copy of the directory has another inode, and the number of a device means nothing on another machine or
 * after a boot. Where the boot isn't known, nothing is remembered.
 *
 * Not promised: that a start notices what has changed on this boot. A mount may have taken the place and the device's
 * number of another, and show the same folder by the same inode. `doctor` probes in any case.
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

/** A directory, and the boot by which it is reached. */
export interface ReachedDirectory {
  readonly files: Files
  readonly root: string
  readonly boot: string | undefined
}

/** The result that is remembered. Undefined where there is none, or it can't be looked for. */
export function* recall(place: ReachedDirectory): Steps<ProbeResult | undefined> {
  const { files } = place
  try {
    const paths = yield* pathsOf(place)
    if (paths === undefined) return undefined
    // Two processes may have found different results: then the one that promises less counts.
    if (yield* step(files.exists(paths.writes))) return { deletes: false }
    return (yield* step(files.exists(paths.deletes))) ? { deletes: true } : undefined
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
    return undefined
  }
}

/** Remembers a result. Where that fails, the next start probes again. */
export function* remember(place: ReachedDirectory, { deletes }: ProbeResult): Steps<void> {
  const { files, root } = place
  const paths = yield* pathsOf(place)
  if (paths === undefined) return
  const path = deletes ? paths.deletes : paths.writes
  yield* isNew(() => step(files.makeDirectory(join(root, "proofs"))))
  yield* isNew(() => step(files.create(path, new Uint8Array())))
}

/** Deletes what is remembered, as far as this process may: later starts probe again. */
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
