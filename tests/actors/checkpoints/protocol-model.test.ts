// Arbitrary interleavings of up to three owners of one head, each of which believes that it holds its lease.
import fc from "fast-check"
import { expect, it } from "vitest"
import { emptyTally, HeadWorld, type HeadWorldOptions, type Tally } from "./head-model.ts"

const interleavings = (steps: number): fc.Arbitrary<number[]> =>
  fc.array(fc.nat({ max: 2 ** 20 }), { minLength: 20, maxLength: steps })

const run = (choices: readonly number[], tally: Tally, options: HeadWorldOptions = {}): void => {
  const world = new HeadWorld(tally, options)
  for (const choice of choices) world.choose(choice)
  world.finish()
}

// Tests rule 15, rule 16: No acknowledged commit is lost and no rejected one lands, in any order of three owners.
it("loses no acknowledged commit, whatever order requests and answers of three owners come in", () => {
  const tally = emptyTally()
  fc.assert(
    fc.property(interleavings(120), fc.boolean(), (choices, grants) => run(choices, tally, { grants })),
    { numRuns: 800, seed: 15 },
  )
  expect(Object.entries(tally).filter(([, times]) => times < 50)).toEqual([])
})

// Tests rule 15: Without the claim a commit is lost.
it("finds a lost commit when the next owner runs without claiming the head", () => {
  const search = fc.check(
    fc.property(interleavings(120), (choices) => run(choices, emptyTally(), { claims: false })),
    { numRuns: 800, seed: 15, endOnFailure: true },
  )
  expect(search.failed).toBe(true)
  expect(String((search.errorInstance as Error).message)).toMatch(/acknowledged|rejected|was written over|two owners/)
})

// Tests rule 15: A granter names no generation while a write of its own may still land on it.
it("finds a write of the granter that lands under the next owner when a grant names the head while that write is open", () => {
  const search = fc.check(
    fc.property(interleavings(120), (choices) => run(choices, emptyTally(), { grants: true, leavesOpen: true })),
    { numRuns: 20_000, seed: 15, endOnFailure: true },
  )
  expect(search.failed).toBe(true)
  expect(String((search.errorInstance as Error).message)).toMatch(/former owner's write landed/)
})
