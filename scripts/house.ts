/** The house check: reads the project's folders and says where they aren't as scripts/house/rules.ts asks. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { rooms } from "./house/rooms.ts"
import {
  circles,
  fullRooms,
  misplacedHeaders,
  type Tree,
  upwardImports,
  wideComments,
  wrongRooms,
} from "./house/rules.ts"
import type { Outcome } from "./run.ts"

const folders = ["src", "scripts", "tests", "bench", "examples"]

/** Looks at the working directory. */
export function house(): Outcome {
  const tree = treeOf(folders)
  const wrong = [
    ...wrongRooms(tree, rooms),
    ...upwardImports(tree, rooms),
    ...circles(tree),
    ...fullRooms(tree),
    ...misplacedHeaders(tree),
    ...wideComments(tree),
  ]
  return { ok: wrong.length === 0, output: wrong.join("\n") }
}

function treeOf(roots: readonly string[]): Tree {
  const tree = new Map<string, string>()
  for (const root of roots) {
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name)
      if (entry.isFile() && !path.includes("node_modules")) tree.set(path, readFileSync(path, "utf8"))
    }
  }
  return tree
}
