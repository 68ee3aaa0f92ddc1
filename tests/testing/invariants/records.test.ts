// Pins what is said of records that can't be read, by traces that are right and traces that are not.
import { expect, it } from "vitest"
import { invariants } from "../../../src/testing/invariants/mod.ts"
import type { AppliedLine } from "../../../src/trace/trace.ts"
import { lease, removed, told } from "./told.ts"

const { unreadableStands } = invariants
const { lease: _, ...damage } = lease(0, null, null)
const unreadable: AppliedLine = { ...damage, generation: "5" }

it("what can't be read may be mended by hand alone", () => {
  expect(told(unreadableStands, unreadable, { ...removed(1, null), before: "5" })).toEqual([])
  expect(told(unreadableStands, unreadable, { ...lease(1, null, "s"), before: "5" }, lease(2, "a", "a.1"))).toEqual([])
})

// Tests record: What stands in a record's place and isn't one is an error to every caller until it is deleted.
it("whoever takes it for free is told of, whether it writes or deletes", () => {
  expect(told(unreadableStands, unreadable, { ...lease(1, "a", "a.1"), before: "5" })).toEqual([
    "a writes over ledger=2fk, which can't be read",
  ])
  expect(told(unreadableStands, unreadable, { ...removed(1, "a"), before: "5" })).toHaveLength(1)
})
