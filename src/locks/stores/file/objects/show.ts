/**
 * `<name>.lock`, the current version of a record by a name that people can find, as a second hard link. The process
 * that writes a version gives it that name (create.ts); this puts right what a late writer may have left. It decides
 * nothing: who owns a key is in the version with the highest number.
 *
 * Not promised: that it is current while a write is under way, or after a writer was killed in one, until the next
 * write.
 */
import { unlessMissing } from "../disk/failures.ts"
import { type Steps, step } from "../disk/steps.ts"
import { discard, newTemporary, takesName } from "./create.ts"
import { objectDirectory, shownPath, type Target, versionPath } from "./layout.ts"
import { isTombstone, scan } from "./versions.ts"

/** Others may write on meanwhile: then it is theirs to show. */
const TRIES = 10

/** Makes it show what is current, or nothing where that is nothing. */
export function* showCurrent({ files, id, root, ref }: Target): Steps<void> {
  const shown = shownPath(root, ref)
  if (shown === undefined) return
  const directory = objectDirectory(root, ref)
  const show = function* (number: number): Steps<void> {
    if (number === 0 || (yield* isTombstone(files, directory, number)) !== false)
      return yield* step(files.unlink(shown))
    const temporary = newTemporary(directory, id)
    yield* step(files.link(versionPath(directory, number), temporary))
    if (!(yield* takesName(files, temporary, shown))) yield* discard(files, temporary)
  }
  try {
    for (let tries = 0; tries < TRIES; tries++) {
      const { highest } = yield* scan(files, directory)
      yield* unlessMissing(() => show(highest))
      if ((yield* scan(files, directory)).highest === highest) return
    }
  } catch {
    // It is for reading only.
  }
}
