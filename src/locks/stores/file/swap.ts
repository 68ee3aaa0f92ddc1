/**
 * Compare-and-swap without a mutex, so that a stopped process blocks nobody: version g+1 comes to be by `link` (a
 * tombstone by `mkdir`), which only one can do. The rules are those of docs/protocol.md, "file"; that they hold is
 * hammered in by tests/integration/file-hammer.test.ts.
 */
import { dirname } from "node:path"
import { clearOld, drop } from "./clear.ts"
import { createWhole, isNew } from "./create.ts"
import { errnoOf } from "./failures.ts"
import type { Files } from "./files.ts"
import { isUsedOnce, objectDirectories, objectDirectory, shownPath, type Target, versionPath } from "./layout.ts"
import { requireArea } from "./prepare.ts"
import { showCurrent } from "./show.ts"
import { isTombstone, scan } from "./versions.ts"

/** `overtaken`: it was written, but by now a higher version is there, and nobody can tell which came first. */
export type Swap = { readonly kind: "applied"; readonly number: number } | { readonly kind: "refused" | "overtaken" }

/** Writes the version after number `expected` (0: there must be none, or a tombstone; below 0: never). */
export async function put(target: Target, expected: number, body: Uint8Array): Promise<Swap> {
  const { files, root, ref } = target
  const directory = objectDirectory(root, ref)
  const number = await numberAfter(files, directory, expected)
  if (number === undefined) return { kind: "refused" }
  // Before the first version is there: should its writer be stopped then, nobody would do it for the later ones.
  if (number === 1) await makeDirectories(target)
  if (!(await create(target, directory, number, body))) return { kind: "refused" }
  if (await isHighest(files, directory, number)) return { kind: "applied", number }
  await showCurrent(target)
  return { kind: "overtaken" }
}

/** Writes a tombstone after number `expected`. */
export async function remove(target: Target, expected: number): Promise<Swap> {
  const { files, root, ref } = target
  const directory = objectDirectory(root, ref)
  if (expected < 1 || (await scan(files, directory)).highest !== expected) return { kind: "refused" }
  const number = expected + 1
  if (!(await isNew(() => files.makeDirectory(versionPath(directory, number))))) return { kind: "refused" }
  const isDeleted = await isHighest(files, directory, number)
  await showCurrent(target)
  if (!isDeleted) return { kind: "overtaken" }
  if (isUsedOnce(ref)) await drop(files, directory, number)
  return { kind: "applied", number }
}

/**
 * The number to write after `expected`, or undefined where that isn't current. A number that is gone was overtaken by
 * two; one that was overtaken by one is found out by `link`, and one that a late writer brought back by the second scan.
 */
async function numberAfter(files: Files, directory: string, expected: number): Promise<number | undefined> {
  if (expected !== 0) return (await files.exists(versionPath(directory, expected))) ? expected + 1 : undefined
  const { highest } = await scan(files, directory)
  if (highest === 0 || (await isTombstone(files, directory, highest)) === true) return highest + 1
  return undefined
}

/** Writes a version, and the object's directories where they are missing. False where the number is taken. */
async function create(target: Target, directory: string, number: number, body: Uint8Array): Promise<boolean> {
  const { files, id, root, ref } = target
  const path = versionPath(directory, number)
  const attempt = (): Promise<boolean> => createWhole(files, id, directory, path, body, shownPath(root, ref))
  try {
    return await attempt()
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error
    await makeDirectories(target)
    return attempt()
  }
}

async function makeDirectories({ files, root, ref }: Target): Promise<void> {
  await requireArea(files, root, ref.area)
  for (const directory of objectDirectories(root, ref)) {
    await isNew(() => files.makeDirectory(directory))
    await files.persist(dirname(directory))
  }
}

/** The second scan: only now it is known that nobody was further already. Then what is over may go. */
async function isHighest(files: Files, directory: string, number: number): Promise<boolean> {
  await files.persist(directory)
  const after = await scan(files, directory)
  if (after.highest !== number) return false
  await clearOld(files, directory, after)
  return true
}
