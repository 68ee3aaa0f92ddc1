/** docs/calls.md: every program on it stands in a test, or is one, to the letter; each error of calls is on it. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import * as errors from "../../../../src/actors/api/call-errors.ts"
import { comparePrograms, root } from "../../../support/page-examples.ts"

it("shows no program that isn't in a test, and all that are marked there as its examples", () => {
  const { onlyShown, onlyMarked, count } = comparePrograms("docs/calls.md", "tests/actors/calls/page")
  expect([onlyShown, onlyMarked]).toEqual([[], []])
  expect(count).toBe(5)
})

it("has a row for each error of calls", () => {
  const page = readFileSync(join(root, "docs/calls.md"), "utf8")
  const names = Object.keys(errors)
  expect(names.filter((name) => !page.includes(`| \`${name}\``))).toEqual([])
  expect(names.length).toBeGreaterThanOrEqual(8)
})
