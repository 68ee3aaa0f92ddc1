// The store that `--store` names.
import { type CheckpointStore, type LeaseStore } from "leasehold"
import { fileStore } from "leasehold/file"
import { gcsStore } from "leasehold/gcs"

/** How a store is passed on to a worker. */
export interface StoreChoice {
  /** A directory, or `gs://bucket/prefix`. */
  readonly store: string
  readonly endpoint?: string | undefined
}

/** Throws InvalidConfigError where the name can't be one. Nothing is opened yet. */
export function openStore({ store, endpoint }: StoreChoice): LeaseStore & CheckpointStore {
  if (!store.startsWith("gs://")) return fileStore({ directory: store })
  const [bucket = "", ...path] = store.slice("gs://".length).split("/")
  const prefix = path.join("/").replace(/\/$/, "")
  return gcsStore({
    bucket,
    ...(prefix === "" ? {} : { prefix }),
    ...(endpoint === undefined ? {} : { endpoint }),
  })
}
