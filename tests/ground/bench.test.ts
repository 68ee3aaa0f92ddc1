// The bench of traces measures sources that are edited by their text: whoever changes those lines changes the edits
// with them.
import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { untapped } from "../../bench/trace/untapped.ts"
import { edited } from "../../scripts/mutants/tree.ts"

it("the sources as they are can be had without a tap", () => {
  const texts = new Map<string, string>()
  for (const edit of untapped) {
    const text = texts.get(edit.file) ?? readFileSync(edit.file, "utf8")
    texts.set(edit.file, edited(text, edit))
  }
  expect(texts.size).toBeGreaterThan(5)
})
