/** Pins that the pages which lead through the source name files that exist and every folder of src, and how large those are. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { floors } from "../../oxlint.config.ts"
import { foldersOf } from "../../scripts/charts/house.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const read = (path: string): string => readFileSync(`${root}${path}`, "utf8")

/** Files and folders that a page names from the root of the repository. `NAME` stands for a new one. */
const named = (page: string): string[] =>
  Array.from(
    read(page).matchAll(/`((?:src|tests|scripts|docs|examples)\/[\w./-]+|\w+(?:\.\w+)*\.(?:ts|json|md))`/g),
    ([, path]) => path!,
  ).filter((path) => !path.includes("NAME") && path !== "mod.ts")

describe("docs/architecture.md", () => {
  it("has a line for every folder of src, and for no other", () => {
    const rows = Array.from(read("docs/architecture.md").matchAll(/^\| `([\w/-]+)` +\|/gm), ([, folder]) => folder!)
    expect(rows.toSorted()).toEqual(foldersOf(root))
    expect(floors.filter((floor) => !rows.includes(floor))).toEqual([])
  })
})

describe("the pages for those who change leasehold", () => {
  it.each(["docs/architecture.md", "CONTRIBUTING.md"])("name only files that exist: %s", (page) => {
    expect(named(page).filter((path) => !existsSync(`${root}${path}`))).toEqual([])
    expect(named(page).length).toBeGreaterThan(30)
  })
})

it("no folder of src has more than a dozen files", () => {
  const sizes = foldersOf(root).map((folder) => {
    const files = readdirSync(`${root}src/${folder}`, { withFileTypes: true }).filter((entry) => entry.isFile())
    return { folder, files: files.length }
  })
  expect(sizes.filter(({ files }) => files > 12)).toEqual([])
})
