/**
 * One object's versions as its directory shows them: scan, look, scan again. The second scan is what makes a look hold:
 * a directory may change while it is being read, and a stopped writer may link a number long after it looked. Where the
 * first shows what the reader knows, nothing is looked at, and a second would say no more than that one.
 *
 * Not promised: that what was seen is still so when the caller hears of it. Writes find out by their own rules.
 */
import { unlessMissing } from "../disk/failures.ts"
import type { FileContent, Files } from "../disk/files.ts"
import { type Steps, step } from "../disk/steps.ts"
import { isTemporary, versionNumber, versionPath } from "./layout.ts"

/** What a directory holds. */
export interface Versions {
  /** The current version's number; 0 where there is none. */
  readonly highest: number
  /** Ascending. */
  readonly numbers: readonly number[]
  /** Names of files that are being written, or were left behind. */
  readonly temporaries: readonly string[]
}

/** The current version. */
export type Current =
  | { readonly kind: "absent"; readonly number: number }
  | { readonly kind: "unchanged" | "large"; readonly number: number }
  | { readonly kind: "body"; readonly number: number; readonly body: Uint8Array; readonly modified: number }

/** A missing directory has no versions. */
export function* scan(files: Files, directory: string): Steps<Versions> {
  const numbers: number[] = []
  const temporaries: string[] = []
  for (const name of (yield* unlessMissing(() => step(files.names(directory)))) ?? []) {
    const number = versionNumber(name)
    if (number !== undefined) numbers.push(number)
    else if (isTemporary(name)) temporaries.push(name)
  }
  numbers.sort((a, b) => a - b)
  return { highest: numbers.at(-1) ?? 0, numbers, temporaries }
}

/** Reads the current version, unless it is number `known`. `again` is called before each new start, and may throw. */
export function* readCurrent(
  files: Files,
  directory: string,
  options: { readonly limit: number; readonly known: number },
  again: () => void,
): Steps<Current> {
  for (;;) {
    const { highest } = yield* scan(files, directory)
    if (highest !== 0 && highest === options.known) return { kind: "unchanged", number: highest }
    const content = yield* look(files, directory, highest, options.limit)
    if (content !== undefined && (yield* scan(files, directory)).highest === highest) return content
    again()
  }
}

/** Whether a version is a tombstone; undefined where it is gone meanwhile. */
export function* isTombstone(files: Files, directory: string, number: number): Steps<boolean | undefined> {
  return (yield* step(files.status(versionPath(directory, number))))?.isDirectory()
}

/** Undefined where the version is gone: a higher one is there by now. */
function* look(files: Files, directory: string, number: number, limit: number): Steps<Current | undefined> {
  if (number === 0) return { kind: "absent", number }
  const content: FileContent | undefined = yield* unlessMissing(() =>
    step(files.read(versionPath(directory, number), limit)),
  )
  if (content === undefined) return undefined
  return content.kind === "directory" ? { kind: "absent", number } : { ...content, number }
}
