/** A copy of what a hunt runs, with a mutant's edits. Owned by who asked for it: disposing of it removes it. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Edit } from "./mutant.ts"

/** Below the project, so that its packages are found. */
const root: string = fileURLToPath(new URL("../..", import.meta.url))
const copied: readonly string[] = ["package.json", "src", "scripts"]

/** The sources with these edits made; `also`: what else of the project belongs to the hunt. */
export function makeTree(
  name: string,
  edits: readonly Edit[],
  also: readonly string[] = [],
): Disposable & { readonly root: string } {
  const tree = join(root, ".cache", "mutants", name.replaceAll(/\W+/g, "-"))
  const remove = (): void => rmSync(tree, { recursive: true, force: true })
  remove()
  for (const path of [...copied, ...also]) {
    mkdirSync(dirname(join(tree, path)), { recursive: true })
    cpSync(join(root, path), join(tree, path), { recursive: true })
  }
  for (const edit of edits) {
    const path = join(tree, edit.file)
    writeFileSync(path, edited(readFileSync(path, "utf8"), edit))
  }
  return { root: tree, [Symbol.dispose]: remove }
}

/** The text with the edit made. Throws where what is to be replaced doesn't stand there just once. */
export function edited(text: string, { file, find, replace }: Edit): string {
  const parts = text.split(find)
  if (parts.length === 2) return parts.join(replace)
  throw new Error(`${file} has ${parts.length - 1} places, not one, that read\n${find}`)
}
