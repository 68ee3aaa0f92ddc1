/** Makes the store's directory ready, or finds it so, and knows later whether it is still there. */
import { dirname, join } from "node:path"
import { StoreMisconfiguredError } from "../../../api/errors.ts"
import type { Area } from "../../port.ts"
import { unlessMissing, vanished } from "../disk/failures.ts"
import type { Files } from "../disk/files.ts"
import { type Steps, step } from "../disk/steps.ts"
import { isNew } from "./create.ts"
import { directories } from "./layout.ts"

/** Makes what is missing, the directory itself and those above it included, so that it survives a power cut. */
export function* prepare(files: Files, root: string): Steps<void> {
  for (const path of [root, ...directories.map((name) => join(root, name))]) yield* make(files, path)
}

/** Throws StoreMisconfiguredError where no lock was ever kept: for who only reads nothing is made. */
export function* requireStore(files: Files, root: string): Steps<void> {
  if (!(yield* step(files.exists(join(root, "leases"))))) throw noStore(root)
}

/** Throws StoreMisconfiguredError where the directory was removed, or unmounted, under a running store. */
export function* requireArea(files: Files, root: string, area: Area): Steps<void> {
  const path = join(root, area)
  if (!(yield* step(files.exists(path)))) throw vanished(path)
}

/** Not `mkdir` with `recursive`: that one never ends below a directory such as /proc, where nothing can be made. */
function* make(files: Files, path: string): Steps<void> {
  const attempt = (): Steps<boolean | undefined> => unlessMissing(() => isNew(() => step(files.makeDirectory(path))))
  let made = yield* attempt()
  if (made === undefined && dirname(path) !== path) {
    yield* make(files, dirname(path))
    made = yield* attempt()
  }
  if (made === undefined) throw impossible(path)
  if (made) yield* step(files.persist(dirname(path)))
}

function noStore(root: string): StoreMisconfiguredError {
  return new StoreMisconfiguredError({
    message: `No locks have been kept in the directory ${root}: it has no folder leases`,
    next: "Name the directory that the locks are in; where it is this one, the first lock makes the rest",
    status: "ENOENT",
  })
}

function impossible(path: string): StoreMisconfiguredError {
  return new StoreMisconfiguredError({
    message: `The directory ${path} is missing and can't be made`,
    next: "Choose another directory: this path leads through a link to nowhere, or into a file system that takes none",
    status: "ENOENT",
  })
}
