/**
 * Writes at the end of a process, done in one go: by the first half of the rules of swap.ts. The second, whether a write
 * counted, is of no use to who won't live to hear it.
 */
import { linkSync, lstatSync, mkdirSync, renameSync, rmSync, unlinkSync, writeFileSync } from "node:fs"
import type { Generation, LastWrites, ObjectRef } from "../../store.ts"
import { newTemporary } from "./create.ts"
import { generationNumber, objectDirectory, shownPath, versionPath } from "./layout.ts"

/** Of one store. */
export class LastFileWrites implements LastWrites {
  readonly #root: string
  readonly #id: string

  constructor(root: string, id: string) {
    this.#root = root
    this.#id = id
  }

  /** As `put` of the store. */
  put(ref: ObjectRef, expected: Generation, body: Uint8Array): void {
    this.#after(ref, expected, (directory, path, shown) => {
      const temporary = newTemporary(directory, this.#id)
      writeFileSync(temporary, body, { flag: "wx" })
      try {
        linkSync(temporary, path)
        if (shown !== undefined) rmSync(shown, { force: true })
        renameSync(temporary, shown ?? temporary)
      } catch {
        unlinkSync(temporary)
      }
    })
  }

  /** As `remove` of the store. */
  remove(ref: ObjectRef, expected: Generation): void {
    this.#after(ref, expected, (_, path, shown) => {
      mkdirSync(path)
      if (shown !== undefined) rmSync(shown, { force: true })
    })
  }

  #after(
    ref: ObjectRef,
    expected: Generation,
    write: (directory: string, path: string, shown: string | undefined) => void,
  ): void {
    const directory = objectDirectory(this.#root, ref)
    const number = generationNumber(expected)
    try {
      lstatSync(versionPath(directory, number))
      write(directory, versionPath(directory, number + 1), shownPath(this.#root, ref))
    } catch {
      // Another was faster, or the disk fails. The process ends, and its lease ends all the same.
    }
  }
}
