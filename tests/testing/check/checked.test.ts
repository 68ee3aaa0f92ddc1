// Pins that docs/checked.md tells of the searches as they are made. That its figures are theirs `npm run checker` sees.
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { all, chosen } from "../../../scripts/checker/choice.ts"
import { figuresOf, GUARD, rewritten } from "../../../scripts/checker/page.ts"
import { configurations, larger } from "../../../src/testing/check/configurations.ts"

const page = readFileSync(new URL("../../../docs/checked.md", import.meta.url), "utf8")

describe("the page of what was searched", () => {
  // Tests searches: The page of what was searched tells of the searches as they are made.
  it("tells of all searches, with the bounds that they have, and of no other", () => {
    expect(rewritten(page, new Map())).toBe(page)
    const told = figuresOf(page)
    expect([...told.keys()]).toEqual([...Object.keys(configurations), GUARD, ...Object.keys(larger)])
    expect([...told].filter(([, { states }]) => !(states > 0))).toEqual([])
  })

  it("is rewritten where a search came to something else", () => {
    const figures = { states: 1_234_567, seconds: 61.4 }
    const after = rewritten(page, new Map([["calm", figures]]))
    expect(figuresOf(after).get("calm")).toEqual({ states: 1_234_567, seconds: 61 })
    expect(figuresOf(after).get("alone")).toEqual(figuresOf(page).get("alone"))
  })
})

describe("the searches that are made", () => {
  // Tests searches: Each line of that page can be made alone, by its name.
  it("are all of the first table, all of the second, or those that are named, each line of the page by its name", () => {
    expect(chosen({ large: false })).toEqual([...Object.keys(configurations), GUARD])
    expect(chosen({ large: true })).toEqual(Object.keys(larger))
    expect(chosen({ config: [GUARD, "calm"], large: false })).toEqual([GUARD, "calm"])
    expect(all).toEqual([...figuresOf(page).keys()])
  })
})
