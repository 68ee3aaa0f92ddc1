/** Errors that say that there is no room: nothing was written, and somebody has to make some before anything can be. */
import type { LockError } from "../api/errors.ts"

/** No room on a file system, no quota, or a limit on file sizes. */
const ROOM: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EFBIG"])

/** Whether somebody has to make room first: no start and no acquire waits for that, it says so at once. */
export const lacksRoom = (error: LockError): boolean => "status" in error && ROOM.has(error.status)
