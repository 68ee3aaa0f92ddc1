/** When nobody reads standard output any more: what tells of a fleet has nobody to tell then. */
import process from "node:process"

/** Settles when a write has failed as its reader has left. */
export function readerGone(): Promise<void> {
  return new Promise((resolve) => {
    process.stdout.on("error", () => resolve())
  })
}
