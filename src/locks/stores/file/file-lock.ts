/** The lock on a directory: joins `StoreLock` and the file store. */
import { resolve } from "node:path"
import { type OptionChecks, refuseUnknown } from "../../../runtime/input/options.ts"
import { liveClock } from "../../../runtime/time/clock.ts"
import { LOCK_OPTIONS, type LockOptions } from "../../engine/options.ts"
import { StoreLock } from "../../lock/store-lock.ts"
import type { CheckpointStore, LeaseStore } from "../port.ts"
import { SharedStores } from "../shared.ts"
import { aDirectory, fileStore } from "./file-store.ts"

/** How a file lock is made. */
export interface FileLockOptions extends LockOptions {
  /** Made where it is missing. All processes that contend name the same one, by the same path. */
  readonly directory: string
}

const OPTIONS: OptionChecks<FileLockOptions> = { ...LOCK_OPTIONS, directory: aDirectory }

const stores = new SharedStores<LeaseStore & CheckpointStore>()

/**
 * A lock on a key in a directory that several processes share. Locks of one process on one directory share one store,
 * so that they take turns at a key. Leaves the record of the key behind, some 100 bytes, unless `onRelease` is
 * `delete`.
 */
export class FileLock extends StoreLock {
  /** Throws InvalidKeyError or InvalidConfigError. Nothing is opened before the first call. */
  constructor(key: string, options: FileLockOptions) {
    refuseUnknown("FileLock", options, OPTIONS, ["directory"])
    const { directory: _directory, ...lockOptions } = options
    super(key, { ...lockOptions, store: storeOf(options) })
  }
}

function storeOf({ directory, clock = liveClock }: FileLockOptions): LeaseStore {
  return stores.get([resolve(directory), clock], () => fileStore({ directory, clock }))
}
