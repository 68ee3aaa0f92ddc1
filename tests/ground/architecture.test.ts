/** Pins that the pages which lead through the source name files that exist. */
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))
const read = (path: string): string => readFileSync(`${root}${path}`, "utf8")

/** Files and folders that a page names from the root of the repository. */
const named = (page: string): string[] =>
  Array.from(read(page).matchAll(/`((?:src|tests|scripts|docs|examples|bench|tools)\/[\w./-]+)`/g), ([, path]) => path!)

describe("docs/architecture.md", () => {
  it("names only files that exist", () => {
    expect(named("docs/architecture.md").filter((path) => !existsSync(`${root}${path}`))).toEqual([])
    expect(named("docs/architecture.md").length).toBeGreaterThan(30)
  })
})
