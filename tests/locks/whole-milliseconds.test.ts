/** What errors say of times: whole milliseconds, whatever is left of a budget. */
import { expect, it } from "vitest"
import { notReady, silentStore } from "../../src/locks/engine/refusals.ts"
import { waitedOf } from "../../src/locks/protocol/rules/budget.ts"

const LEFT = 2997.675965

it.each([
  ["a store that is silent", silentStore("k", "gs://b", LEFT).message],
  ["a store that doesn't start", notReady("k", "gs://b", LEFT, undefined).message],
  ["a wait that ended", waitedOf(LEFT, LEFT + 0.1, "timeout")],
  ["one try", waitedOf(LEFT, 0, "timeout")],
])("are told of %s", (_, message) => {
  expect(message).toContain("2998 ms")
  expect(message).not.toMatch(/\d\.\d/)
})
