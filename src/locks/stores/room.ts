/** Errors that say that a store has no room. Nothing was written then, and nothing can be until a person makes room. */
import type { LockError } from "../api/errors.ts"

/** No room on a file system, no quota, or a limit on file sizes. */
const ROOM: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EFBIG"])

/** Whether a person has to make room first. No start and no acquire waits for that: they fail at once. */
export const lacksRoom = (error: LockError): boolean => "status" in error && ROOM.has(error.status)
