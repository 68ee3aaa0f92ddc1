/** Pins that the pages which lead through the source name files that exist, and every folder of src. */
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { floors } from "../../oxlint.config.ts"
import { foldersOf } from "../../scripts/charts/house.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const read = (path: string): string => readFileSync(`${root}${path}`, "utf8")

/** Files and folders that a page names from the root of the repository. */
const named = (page: string): string[] =>
  Array.from(read(page).matchAll(/`((?:src|tests|scripts|docs|examples|bench|tools)\/[\w./-]+)`/g), ([, path]) => path!)

describe("docs/architecture.md", () => {
  it("has a line for every folder of src, and for no other", () => {
    const rows = Array.from(read("docs/architecture.md").matchAll(/^\| `([\w/-]+)` +\|/gm), ([, folder]) => folder!)
    expect(rows.toSorted()).toEqual(foldersOf(root))
    expect(floors.filter((floor) => !rows.includes(floor))).toEqual([])
  })

  it("names only files that exist", () => {
    expect(named("docs/architecture.md").filter((path) => !existsSync(`${root}${path}`))).toEqual([])
    expect(named("docs/architecture.md").length).toBeGreaterThan(30)
  })
})
