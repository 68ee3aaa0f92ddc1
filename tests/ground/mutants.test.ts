// Mutants are edits of the sources by their text: whoever changes those lines changes the mutants with them.
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { harmlessMutants } from "../../scripts/mutants/harmless.ts"
import { mutants } from "../../scripts/mutants/list.ts"
import { type Catch, type Hunt, isHint } from "../../scripts/mutants/mutant.ts"
import { edited } from "../../scripts/mutants/tree.ts"
import { verdictOf } from "../../scripts/mutants/verdict.ts"
import { configurations } from "../../src/testing/check/configurations.ts"

describe("the mutants", () => {
  it.each([...mutants, ...harmlessMutants])("$name: can be made of the sources as they are", ({ edits, hunts }) => {
    const texts = new Map<string, string>()
    for (const edit of edits) {
      const text = texts.get(edit.file) ?? readFileSync(edit.file, "utf8")
      texts.set(edit.file, edited(text, edit))
      expect(edit.replace).not.toBe(edit.find)
    }
    // A hint finds what it found once. When plans are drawn otherwise something has to be left that looks.
    expect(hunts.filter((hunt) => !isHint(hunt))).not.toEqual([])
  })

  it("have names of their own, at least twenty of them", () => {
    expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length)
    expect(mutants.length).toBeGreaterThanOrEqual(20)
  })

  it("fall to the simulator or the checker, but where it is a store's own code", () => {
    const byOthers = mutants.filter(({ hunts }) => hunts.some(({ by }) => by === "directory"))
    expect(byOthers.map(({ name }) => name)).toEqual(["the file store without its second scan"])
  })

  it("are said to be harmless by complete searches alone, which docs/decisions.md tells by their names", () => {
    const searches = harmlessMutants.flatMap(({ hunts }) => hunts.map((hunt) => hunt.by === "checker" && hunt.config))
    const decisions = readFileSync("docs/decisions.md", "utf8")
    const known = searches.filter((name) => name && name in configurations && decisions.includes(`\`${name}\``))
    expect(known).toEqual(searches)
  })

  it("are refused where what they change is gone or stands there twice", () => {
    const edit = { file: "x.ts", find: "a", replace: "b" }
    expect(() => edited("c", edit)).toThrow("x.ts has 0 places")
    expect(() => edited("a a", edit)).toThrow("x.ts has 2 places")
    expect(edited("a c", edit)).toBe("b c")
  })
})

describe("the verdict on a mutant", () => {
  const seeds: Hunt = { by: "sim", from: 5, to: 60 }
  const worlds: Hunt = { by: "search", options: {}, limit: 1000 }
  const found = (by: Hunt["by"], violation: string): Catch => ({ by, count: 7, unit: "seeds", ms: 20, violation })

  it("is that it lives where nothing was there to hunt it with, or nothing found it", () => {
    expect(verdictOf({ name: "a" }, [], [])).toEqual({
      killer: undefined,
      line: "- a: nothing to hunt it with: LIVES",
    })
    expect(verdictOf({ name: "a" }, [seeds, worlds], [found("sim", ""), found("search", "")])).toEqual({
      killer: undefined,
      line: "- a: search, 7 seeds, 20 ms: LIVES",
    })
  })

  it("is what killed it, as far as that had to go", () => {
    expect(verdictOf({ name: "a" }, [seeds, worlds], [found("sim", "lost\nrows")])).toEqual({
      killer: { by: "sim", from: 5, to: 11 },
      line: "x a: sim, 7 seeds, 20 ms: lost",
    })
    expect(verdictOf({ name: "a" }, [seeds, worlds], [found("sim", ""), found("search", "two")]).killer).toEqual({
      ...worlds,
      limit: 7,
    })
  })
})
