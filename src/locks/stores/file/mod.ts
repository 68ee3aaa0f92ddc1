// The entry `leasehold/file`: the store and the lock on a shared directory.
export { fileStore, type FileStoreOptions } from "./store.ts"
export { FileLock, type FileLockOptions } from "./file-lock.ts"
