// Mutants are edits of the sources by their text: whoever changes those lines changes the mutants with them.
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { mutants } from "../../scripts/mutants/list.ts"
import { edited } from "../../scripts/mutants/tree.ts"

describe("the mutants", () => {
  it.each(mutants)("$name: can be made of the sources as they are", ({ edits, hunts }) => {
    const texts = new Map<string, string>()
    for (const edit of edits) {
      const text = texts.get(edit.file) ?? readFileSync(edit.file, "utf8")
      texts.set(edit.file, edited(text, edit))
      expect(edit.replace).not.toBe(edit.find)
    }
    expect(hunts.length).toBeGreaterThan(0)
  })

  it("have names of their own, at least twenty of them", () => {
    expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length)
    expect(mutants.length).toBeGreaterThanOrEqual(20)
  })

  it("are refused where what they change is gone or stands there twice", () => {
    const edit = { file: "x.ts", find: "a", replace: "b" }
    expect(() => edited("c", edit)).toThrow("x.ts has 0 places")
    expect(() => edited("a a", edit)).toThrow("x.ts has 2 places")
    expect(edited("a c", edit)).toBe("b c")
  })
})
