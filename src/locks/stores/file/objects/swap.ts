/**
 * Compare-and-swap without a mutex, so that a stopped process blocks nobody: version g+1 comes to be by `link` (a
 * tombstone by `mkdir`), which only one can do. The rules are those of docs/protocol.md, "file"; that they hold is
 * hammered in by tests/integration/file-hammer.test.ts.
 */
import { dirname } from "node:path"
import { errnoOf } from "../disk/failures.ts"
import type { Files } from "../disk/files.ts"
import { type Steps, step } from "../disk/steps.ts"
import { clearOld, drop } from "./clear.ts"
import { createWhole, isNew } from "./create.ts"
import { isUsedOnce, objectDirectories, objectDirectory, shownPath, type Target, versionPath } from "./layout.ts"
import { requireArea } from "./prepare.ts"
import { showCurrent } from "./show.ts"
import { isTombstone, scan } from "./versions.ts"

/** `overtaken`: it was written, but by now a higher version is there, and nobody can tell which came first. */
export type Swap = { readonly kind: "applied"; readonly number: number } | { readonly kind: "refused" | "overtaken" }

/** Writes the version after number `expected` (0: there must be none, or a tombstone; below 0: never). */
export function* put(target: Target, expected: number, body: Uint8Array): Steps<Swap> {
  const { files, root, ref } = target
  const directory = objectDirectory(root, ref)
  const number = yield* numberAfter(files, directory, expected)
  if (number === undefined) return { kind: "refused" }
  // Before the first version is there: should its writer be stopped then, nobody would do it for the later ones.
  if (number === 1) yield* makeDirectories(target)
  if (!(yield* create(target, directory, number, body))) return { kind: "refused" }
  if (yield* isHighest(files, directory, number)) return { kind: "applied", number }
  yield* showCurrent(target)
  return { kind: "overtaken" }
}

/** Writes a tombstone after number `expected`. */
export function* remove(target: Target, expected: number): Steps<Swap> {
  const { files, root, ref } = target
  const directory = objectDirectory(root, ref)
  if (expected < 1 || (yield* scan(files, directory)).highest !== expected) return { kind: "refused" }
  const number = expected + 1
  if (!(yield* isNew(() => step(files.makeDirectory(versionPath(directory, number)))))) return { kind: "refused" }
  const isDeleted = yield* isHighest(files, directory, number)
  yield* showCurrent(target)
  if (!isDeleted) return { kind: "overtaken" }
  if (isUsedOnce(ref)) yield* drop(files, directory, number)
  return { kind: "applied", number }
}

/**
 * The number to write after `expected`, or undefined where that isn't current. A number that is gone was overtaken by
 * two; one that was overtaken by one is found out by `link`, and one that a late writer brought back by the second
 * scan.
 */
function* numberAfter(files: Files, directory: string, expected: number): Steps<number | undefined> {
  if (expected !== 0) return (yield* step(files.exists(versionPath(directory, expected)))) ? expected + 1 : undefined
  const { highest } = yield* scan(files, directory)
  if (highest === 0 || (yield* isTombstone(files, directory, highest)) === true) return highest + 1
  return undefined
}

/** Writes a version, and the object's directories where they are missing. False where the number is taken. */
function* create(target: Target, directory: string, number: number, body: Uint8Array): Steps<boolean> {
  const { files, id, root, ref } = target
  const path = versionPath(directory, number)
  const attempt = (): Steps<boolean> => createWhole(files, id, directory, path, body, shownPath(root, ref))
  try {
    return yield* attempt()
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error
    yield* makeDirectories(target)
    return yield* attempt()
  }
}

function* makeDirectories({ files, root, ref }: Target): Steps<void> {
  yield* requireArea(files, root, ref.area)
  for (const directory of objectDirectories(root, ref)) {
    yield* isNew(() => step(files.makeDirectory(directory)))
    yield* step(files.persist(dirname(directory)))
  }
}

/** The second scan: only now it is known that nobody was further already. Then what is over may go. */
function* isHighest(files: Files, directory: string, number: number): Steps<boolean> {
  yield* step(files.persist(directory))
  const after = yield* scan(files, directory)
  if (after.highest !== number) return false
  yield* clearOld(files, directory, after)
  return true
}
