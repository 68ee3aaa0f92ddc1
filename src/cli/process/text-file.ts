/** The text of a file that the user names. */
import { readFileSync, statSync } from "node:fs"
import { resolve } from "node:path"
import { UsageError } from "../errors/usage-error.ts"
import type { Io } from "./io.ts"

/** The longest text, in bytes: near the longest string of Node. */
const LONGEST = 400 * 1024 * 1024

/** Reads it. Throws UsageError if it can't be read, or is too long; `next` says what to give. */
export function textFile(io: Io, file: string, next: string): string {
  try {
    const path = resolve(io.cwd, file)
    if (statSync(path).size > LONGEST) throw new Error(`it has more than ${LONGEST} bytes`)
    return readFileSync(path, "utf8")
  } catch (error) {
    throw new UsageError(`${JSON.stringify(file)} can't be read: ${(error as Error).message}`, next)
  }
}
