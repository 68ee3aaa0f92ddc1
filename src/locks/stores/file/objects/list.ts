/**
 * Lists the objects of an area, in the order of their names, a page at a time. On its way it clears away what killed
 * processes left where no writer will come by again.
 *
 * Not promised: one moment for all. Each object is as it was when the walk came to it.
 */
import { join } from "node:path"
import type { Clock } from "../../../../runtime/time/clock.ts"
import type { Area, ListOptions, Page } from "../../port.ts"
import { unlessMissing } from "../disk/failures.ts"
import type { Files } from "../disk/files.ts"
import { type Steps, step } from "../disk/steps.ts"
import { clearUnfinished, drop } from "./clear.ts"
import { isObjectName, isUsedOnce, objectDirectory } from "./layout.ts"
import { requireArea } from "./prepare.ts"
import { isTombstone, scan } from "./versions.ts"

const PAGE_SIZE = 1000

/** Where to list, and by what means. */
export interface Listed {
  readonly files: Files
  readonly clock: Clock
  readonly root: string
  readonly area: Area
}

/** One page after `options.after`. */
export function* list(listed: Listed, { prefix, after = "" }: ListOptions): Steps<Page> {
  yield* requireArea(listed.files, listed.root, listed.area)
  const items: { readonly name: string; readonly generation: string }[] = []
  for (const parent of yield* parents(listed, prefix, after)) {
    for (const name of yield* namesIn(listed, parent)) {
      if (!name.startsWith(prefix) || name <= after) continue
      const number = yield* present(listed, name)
      if (number === undefined) continue
      if (items.length === PAGE_SIZE) return { items, next: items.at(-1)!.name }
      items.push({ name, generation: String(number) })
    }
  }
  return { items }
}

/** What the names begin with, up to their `/`: in `state` only, as no other names have one. */
function* parents({ files, root, area }: Listed, prefix: string, after: string): Steps<string[]> {
  if (area !== "state") return [""]
  const slash = prefix.indexOf("/") + 1
  if (slash > 0) return [prefix.slice(0, slash)]
  const all = (yield* step(files.names(join(root, area)))).map((name) => `${name}/`)
  return all.filter((parent) => parent.startsWith(prefix) && (parent > after || after.startsWith(parent))).toSorted()
}

function* namesIn({ files, root, area }: Listed, parent: string): Steps<string[]> {
  const names = (yield* unlessMissing(() => step(files.names(join(root, area, parent))))) ?? []
  return names
    .map((name) => parent + name)
    .filter((name) => isObjectName(area, name))
    .toSorted()
}

/** The number of an object's current version; undefined where there is none. */
function* present({ files, clock, root, area }: Listed, name: string): Steps<number | undefined> {
  const directory = objectDirectory(root, { area, name })
  for (;;) {
    const versions = yield* scan(files, directory)
    if (versions.highest === 0) {
      yield* clearUnfinished(files, directory, versions, BigInt(Math.round(clock.read().wall)) * 1_000_000n)
      return undefined
    }
    const tombstone = yield* isTombstone(files, directory, versions.highest)
    if (tombstone === false) return versions.highest
    if (tombstone === true && isUsedOnce({ area, name })) yield* drop(files, directory, versions.highest)
    if (tombstone === true) return undefined
  }
}
