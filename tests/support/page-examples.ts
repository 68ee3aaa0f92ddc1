/** The programs that a page shows, and those that tests mark as its examples: they have to be the same. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

export const root: string = fileURLToPath(new URL("../..", import.meta.url))

/** The blocks of a page in that language. */
export const shown = (page: string, language: string): string[] =>
  Array.from(
    readFileSync(join(root, page), "utf8").matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm")),
    ([, code]) => code!,
  )

/** What stands between the marks in the sources of a folder, indented as little as its marks are. */
const examplesIn = (folder: string): string[] => {
  const sources = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
  return sources
    .filter((path) => path.endsWith(".ts"))
    .flatMap((path) =>
      Array.from(
        readFileSync(join(root, folder, path), "utf8").matchAll(
          /^( *)\/\/ --- example: .*\n([\s\S]*?)^ *\/\/ --- end$/gm,
        ),
        ([, indent, code]) => code!.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
      ),
    )
}

/** How the programs of a page and those marked in a folder of tests differ, and how many programs the page has. */
export interface Compared {
  readonly onlyShown: readonly string[]
  readonly onlyMarked: readonly string[]
  readonly count: number
}

export function comparePrograms(page: string, folder: string): Compared {
  const programs = shown(page, "ts")
  const examples = examplesIn(folder)
  return {
    onlyShown: programs.filter((code) => !examples.includes(code)),
    onlyMarked: examples.filter((code) => !programs.includes(code)),
    count: programs.length,
  }
}
