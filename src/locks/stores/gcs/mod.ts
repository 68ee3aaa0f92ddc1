/**
 * The entry `leasehold/gcs`: the store on Google Cloud Storage. Loading it loads neither google-auth-library nor
 * undici; a store does when it starts.
 *
 * @module
 */
import "../../../runtime/least-node.ts"
import { refuseUnknown } from "../../../runtime/input/options.ts"
import type { CheckpointStore, LeaseStore } from "../port.ts"
import { GCS_STORE_OPTIONS, type GcsStoreOptions } from "./connection/options.ts"
import { GcsStore } from "./gcs-store.ts"

export type { StorageClient, TokenSource } from "./connection/storage-client.ts"
export { GcsLock, type GcsLockOptions } from "./gcs-lock.ts"
export type { GcsStoreOptions } from "./connection/options.ts"

/**
 * Leases and checkpoints in a bucket of Google Cloud Storage, or of an emulator (`endpoint`, or STORAGE_EMULATOR_HOST).
 * Throws InvalidConfigError for an option that can't work; nothing is opened before the store's `start`, which rejects
 * with StoreMisconfiguredError (no bucket, no permission, preconditions ignored) or StoreUnavailableError. The account
 * needs `roles/storage.objectUser` on the bucket. The store leaves two objects behind that say that its server was
 * probed (docs/gcs.md), and where it may not delete the probe's own.
 */
export function gcsStore(options: GcsStoreOptions): LeaseStore & CheckpointStore {
  refuseUnknown("gcsStore", options, GCS_STORE_OPTIONS)
  return new GcsStore(options)
}
