/** The lock on a bucket. All of it is the shell's and the store's; this joins them. */
import { liveClock } from "../../../runtime/clock.ts"
import { LOCK_OPTIONS, type LockOptions, refuseUnknown } from "../../options.ts"
import { StoreLock } from "../../store-lock.ts"
import type { LeaseStore } from "../../store.ts"
import { SharedStores } from "../shared.ts"
import type { GcsStoreOptions } from "./options.ts"
import { GcsStore } from "./store.ts"

/** How a GCS lock is made. */
export interface GcsLockOptions extends LockOptions, Omit<GcsStoreOptions, "clock"> {}

const OPTIONS: Readonly<Record<keyof GcsLockOptions, true>> = {
  ...LOCK_OPTIONS,
  bucket: true,
  prefix: true,
  storage: true,
  endpoint: true,
  requestTimeout: true,
}

const stores = new SharedStores<GcsStore>()

/**
 * A lock on a key in a bucket of Google Cloud Storage. Locks of one process with the same bucket, prefix, client and
 * endpoint share one store, so that they take turns at a key, and its connections, which don't keep the process alive.
 * Leaves the record of the key behind, some 300 bytes, unless `onRelease` is `delete` and the bucket's server honours it.
 */
export class GcsLock extends StoreLock {
  /** Throws InvalidKeyError or InvalidConfigError. Nothing is opened before the first call. */
  constructor(key: string, options: GcsLockOptions) {
    refuseUnknown("GcsLock", options, OPTIONS)
    const { bucket: _b, prefix: _p, storage: _s, endpoint: _e, requestTimeout: _r, ...lockOptions } = options
    super(key, { ...lockOptions, store: storeOf(options) })
  }
}

function storeOf(options: GcsLockOptions): LeaseStore {
  const { bucket, prefix = "", storage, endpoint, requestTimeout, clock = liveClock } = options
  const parts = [bucket, prefix, storage, endpoint, requestTimeout, clock]
  return stores.get(parts, () => new GcsStore({ ...options, clock }))
}
