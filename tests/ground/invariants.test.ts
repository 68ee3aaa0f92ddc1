/**
 * Pins that docs/invariants.md is what the tests say, that each rule has a test, and that tests name rules that exist.
 */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { faultsOf, pageOf } from "../../scripts/invariants/page.ts"
import { headingsOf } from "../../scripts/invariants/parts.ts"
import { tagsIn, tagsOf } from "../../scripts/invariants/tags.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const headings = headingsOf(readFileSync(`${root}docs/protocol.md`, "utf8"))
const tags = tagsOf(root)

/** A comment of a test, put together so that this file has none. */
const comment = (text: string): string => `    // ${"Tests"} ${text}`

describe("docs/invariants.md", () => {
  it("is up to date: else run `npm run invariants`, and commit what it writes", () => {
    expect(readFileSync(`${root}docs/invariants.md`, "utf8")).toBe(pageOf(headings, tags))
  })

  it("leaves no rule of docs/protocol.md without a test, and its tests name no rule that isn't there", () => {
    expect(faultsOf(headings, tags)).toEqual([])
    const rules = [...headings.keys()].filter((name) => name.startsWith("rule"))
    expect(rules).toEqual([..."1 2 3 4 5 6 7 8 9 10 11 12 13 13a 14 15 16 17 18".split(" ")].map((n) => `rule ${n}`))
    expect(tags.filter(({ claim }) => claim !== undefined).length).toBeGreaterThan(500)
  })

  it("is told of a rule without a test, and of a test of no rule", () => {
    const some = new Map([
      ["rule 1", "Rule 1: writes"],
      ["rule 2", "Rule 2: answers"],
    ])
    const text = [comment("rule 1, rule 3: What is sent is sent once."), comment("rule 2.")].join("\n")
    expect(faultsOf(some, tagsIn("a.test.ts", text))).toEqual([
      "no test pins rule 2",
      "a.test.ts pins rule 3, which isn't there",
    ])
  })

  it("has one line for a sentence, with all the files that pin it", () => {
    const line = comment("rule 1: What is sent is sent once.")
    const both = [...tagsIn("tests/a.test.ts", line), ...tagsIn("tests/b.test.ts", line)]
    expect(pageOf(new Map([["rule 1", "Rule 1: writes"]]), both)).toContain(
      "## Rule 1: writes\n\n- What is sent is sent once. `tests/a.test.ts`, `tests/b.test.ts`\n",
    )
  })
})
