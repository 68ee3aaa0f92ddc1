/** The lock on a bucket: joins `StoreLock` and the GCS store. */
import type { OptionChecks } from "../../../runtime/input/options.ts"
import { refuseUnknown } from "../../../runtime/input/options.ts"
import { liveClock } from "../../../runtime/time/clock.ts"
import { LOCK_OPTIONS, type LockOptions } from "../../engine/options.ts"
import { StoreLock } from "../../lock/store-lock.ts"
import type { LeaseStore } from "../port.ts"
import { SharedStores } from "../shared.ts"
import type { GcsStoreOptions } from "./connection/options.ts"
import { GcsStore } from "./gcs-store.ts"

/** How a GCS lock is made. */
export interface GcsLockOptions extends LockOptions, Omit<GcsStoreOptions, "clock" | "objectNames"> {
  /**
   * The whole name of the key's record in the bucket, `prefix` or not, where others' code uses that object too. Without
   * one: `<prefix>/leases/<encoded key>`.
   */
  readonly objectName?: string
}

const OPTIONS: OptionChecks<GcsLockOptions> = {
  ...LOCK_OPTIONS,
  bucket: true,
  prefix: true,
  objectName: true,
  storage: true,
  endpoint: true,
  userProject: true,
  requestTimeout: true,
}

const stores = new SharedStores<GcsStore>()

/**
 * A lock on a key in a bucket of Google Cloud Storage. Locks of one process with the same bucket, prefix, client and
 * endpoint share one store, so that they take turns at a key, and its connections, which don't keep the process alive.
 * Leaves the record of the key behind, some 300 bytes, unless `onRelease` is `delete` and the bucket's server honours
 * it.
 */
export class GcsLock extends StoreLock {
  /** Throws InvalidKeyError or InvalidConfigError. Nothing is opened before the first call. */
  constructor(key: string, options: GcsLockOptions) {
    refuseUnknown("GcsLock", options, OPTIONS)
    const { bucket: _b, prefix: _p, objectName: _o, storage: _s, ...others } = options
    const { endpoint: _e, userProject: _u, requestTimeout: _r, ...lockOptions } = others
    super(key, { ...lockOptions, store: storeOf(key, options) })
  }
}

/** A lock with an `objectName` has a store of its own: there its key names another object. */
function storeOf(key: string, { objectName, ...options }: GcsLockOptions): LeaseStore {
  const { bucket, prefix = "", storage, endpoint, userProject, requestTimeout, clock = liveClock } = options
  const named = objectName === undefined ? {} : { objectNames: { [key]: objectName } }
  const parts = [bucket, prefix, storage, endpoint, userProject, requestTimeout, clock, objectName, objectName && key]
  return stores.get(parts, () => new GcsStore({ ...options, ...named, clock }))
}
