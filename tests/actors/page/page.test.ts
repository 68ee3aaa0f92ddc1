/**
 * docs/sandboxes.md: every program on it stands in a test, or is one, to the letter. What it says of limits and options
 * is what the code has.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import type { AnyStateNode } from "xstate"
import { sandboxChart } from "../../../src/actors/chart/chart.ts"
import { END_REASONS } from "../../../src/actors/chart/reasons.ts"
import { comparePrograms, root } from "../../support/page-examples.ts"

const page = readFileSync(join(root, "docs/sandboxes.md"), "utf8")
const source = (path: string): string => readFileSync(join(root, "src/actors", path), "utf8")

/** The names that the first cells of its tables have in backquotes. */
const rows = new Set(Array.from(page.matchAll(/^\| `([\w.]+)`/gm), ([, name]) => name!))

it("shows no program that isn't in a test, and all that are marked there as its examples", () => {
  const { onlyShown, onlyMarked, count } = comparePrograms("docs/sandboxes.md", "tests/actors/page")
  expect([onlyShown, onlyMarked]).toEqual([[], []])
  expect(count).toBeGreaterThan(9)
})

it("has a row for each hook and option of a definition", () => {
  const [, hooks = ""] = /const HOOKS[^{]*\{([^}]*)\}/.exec(source("api/definition.ts")) ?? []
  const names = Array.from(hooks.matchAll(/^ {2}(\w+):/gm), ([, name]) => name!)
  expect(names.filter((name) => !rows.has(name))).toEqual([])
  expect(names).toContain("inspectState")
})

it("has a row for each option of a manager that has a default, with that default", () => {
  const [, settings = ""] = /const settingsOf([\s\S]*?)const report =/.exec(source("registry/options.ts")) ?? []
  const given = Array.from(settings.matchAll(/(\w+) = "(\d+ s)"/g), ([, name, value]) => [name!, value!] as const)
  const wrong = given.filter(([name, value]) => !new RegExp(`^\\| \`${name}\` +\\| ${value} `, "m").test(page))
  expect(wrong).toEqual([])
  expect(given.length).toBeGreaterThanOrEqual(6)
})

/** The innermost states, named as the page names them: without regions, those of a lease once, without `healthy`. */
const statesOf = (node: AnyStateNode): string[] => {
  const below = Object.values(node.states as Record<string, AnyStateNode>)
  if (below.length > 0) return below.flatMap(statesOf)
  const [state, region, inner] = node.path
  if (region === "lease") return inner === "healthy" ? [] : [`owning.${inner}`]
  return [inner === undefined ? `${state}.${region}` : `${state}.${inner}`]
}

it("has a row for each state of the chart, and for each reason to end", () => {
  const states = statesOf(sandboxChart.root as AnyStateNode)
  expect(states.filter((name) => !rows.has(name))).toEqual([])
  expect(Object.keys(END_REASONS).filter((reason) => !rows.has(reason))).toEqual([])
  expect(states.length).toBeGreaterThan(20)
})
