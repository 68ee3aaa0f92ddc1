/** Pins that the pages for those who change leasehold name files that exist. */
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))
const read = (path: string): string => readFileSync(`${root}${path}`, "utf8")

/** Files and folders that a page names from the root of the repository. `NAME` stands for a new one. */
const named = (page: string): string[] =>
  Array.from(
    read(page).matchAll(/`((?:src|tests|scripts|docs|examples)\/[\w./-]+|\w+(?:\.\w+)*\.(?:ts|json|md))`/g),
    ([, path]) => path!,
  ).filter((path) => !path.includes("NAME") && path !== "mod.ts")

it.each(["docs/architecture.md", "CONTRIBUTING.md"])("%s names only files that exist", (page) => {
  expect(named(page).filter((path) => !existsSync(`${root}${path}`))).toEqual([])
  expect(named(page).length).toBeGreaterThan(30)
})
