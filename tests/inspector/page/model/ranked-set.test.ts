// Pins the index under the list: whatever is set and asked, it answers as a plain list of flags would.
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { RankedSet } from "../../../../src/inspector/page/model/ranked-set.ts"

/** All that the index can be asked. */
const answers = (set: RankedSet, size: number): unknown => ({
  count: set.count,
  places: Array.from({ length: set.count }, (_, k) => set.select(k)),
  ranks: Array.from({ length: size }, (_, place) => set.rank(place)),
  beyond: [set.select(-1), set.select(set.count)],
})

function wanted(flags: readonly boolean[]): unknown {
  const places = flags.flatMap((is, place) => (is ? [place] : []))
  const ranks = flags.map((_, place) => places.filter((at) => at < place).length)
  return { count: places.length, places, ranks, beyond: [-1, -1] }
}

describe("the index under the list", () => {
  // Tests inspector: The list's index answers as a plain list would, whatever changes.
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
        expect(answers(set, flags.length)).toEqual(wanted(flags))
      }),
    )
  })

  it("is filled anew with any number of places", () => {
    const set = new RankedSet(3)
    set.fill(1000, (place) => place % 3 === 0)
    const flags = Array.from({ length: 1000 }, (_, place) => place % 3 === 0)
    expect(answers(set, 1000)).toEqual(wanted(flags))
    set.fill(0, () => true)
    expect(answers(set, 0)).toEqual(wanted([]))
  })
})
