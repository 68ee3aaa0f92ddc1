// The entry `leasehold/file`: the store and the lock on a shared directory.
import "../../../runtime/least-node.ts"

export { fileStore, type FileStoreOptions } from "./file-store.ts"
export { FileLock, type FileLockOptions } from "./file-lock.ts"
