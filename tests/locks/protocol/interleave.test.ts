/** Chance against the protocol: whatever the network, the machines and the strangers do, the rules hold. */
import type { RunDetails } from "fast-check"
import { describe, expect, it } from "vitest"
import { calm } from "./calm.ts"
import { crowd } from "./crowd.ts"
import { interleave } from "./interleaver.ts"
import type { Sabotage } from "./sabotage.ts"

/** What the first violation was, with all it takes to see it again; empty where there was none. */
function violation<A>({ failed, counterexample, errorInstance }: RunDetails<A>): string {
  return failed ? `${String(errorInstance)}: ${JSON.stringify(counterexample)}` : ""
}

describe("random interleavings of two or three processes", () => {
  // Tests simulations: No interleaving of processes, messages, pauses and strangers breaks an invariant.
  it("break no invariant, and when the faults stop all come to rest and the key is to be had", () => {
    expect(violation(interleave(1500, 1))).toBe("")
  })

  it("without faults lose no lease, release none uncleanly, and serve all who wait", () => {
    expect(violation(calm(200, 1))).toBe("")
  })
})

describe("a crowd of impatient waiters", () => {
  it("doesn't starve an owner whose work takes long of its renewals", () => {
    const starved = Array.from({ length: 40 }, (_, seed) => crowd(seed + 1)).filter((problem) => problem !== undefined)
    expect(starved).toEqual([])
  })
})

describe("the invariants would notice", () => {
  it.each<readonly [string, RegExp, Sabotage]>([
    ["an owner that ignores the guard", /one holder/, { config: { guard: -1500 } }],
    ["dates that disagree by more than the guard allows", /one holder/, { disagreement: 12_000 }],
    ["a suspend that no clock of a process counts", /one holder/, { sleepUnnoticed: true }],
    [
      "nonces and opIds that are not fresh",
      /one holder|growing tokens|silence after leaving|one signal|clean rest/,
      { stale: true },
    ],
    ["observing the generation in place of the owner's pair", /newcomer|still seek/, { generationIsPair: true }],
  ])("%s", (_, what, sabotage) => {
    expect(violation(interleave(3000, 1, sabotage))).toMatch(what)
  })

  // Tests record: The invariants notice six kinds of sabotage.
  it("a 412 taken for a loss", () => {
    expect(violation(calm(200, 1, { refusedIsLost: true }))).toContain("Lost")
  })
})
