/** Tells when standard output has no reader any more, for commands that write until then. */
import process from "node:process"

/** Settles when a write has failed because the reader has closed its end. */
export function readerGone(): Promise<void> {
  return new Promise((resolve) => {
    process.stdout.on("error", () => resolve())
  })
}
