// Pins the index under the list: whatever is set and asked, it answers as a plain list of flags would.
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { RankedSet } from "../../../src/inspector/page/ranked-set.ts"

const model = (flags: readonly boolean[]): readonly number[] => flags.flatMap((is, place) => (is ? [place] : []))

function agrees(set: RankedSet, flags: readonly boolean[]): void {
  const places = model(flags)
  expect(set.count).toBe(places.length)
  expect(places.map((_, k) => set.select(k))).toEqual(places)
  expect(flags.map((_, place) => set.rank(place))).toEqual(
    flags.map((_, place) => places.filter((at) => at < place).length),
  )
  expect([set.select(-1), set.select(places.length)]).toEqual([-1, -1])
}

describe("the index under the list", () => {
  it("answers as a list of flags does, after any changes", () => {
    const changes = fc.array(fc.tuple(fc.integer({ min: -2, max: 72 }), fc.boolean()), { maxLength: 60 })
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 70 }), changes, (first, then) => {
        const set = new RankedSet(0)
        set.fill(first.length, (place) => first[place]!)
        const flags = [...first]
        for (const [place, is] of then) {
          const isNews = place >= 0 && place < flags.length && flags[place] !== is
          expect(set.set(place, is)).toBe(isNews)
          if (isNews) flags[place] = is
        }
        agrees(set, flags)
      }),
    )
  })

  it("is filled anew with any number of places", () => {
    const set = new RankedSet(3)
    set.fill(1000, (place) => place % 3 === 0)
    agrees(
      set,
      Array.from({ length: 1000 }, (_, place) => place % 3 === 0),
    )
    set.fill(0, () => true)
    agrees(set, [])
  })
})
