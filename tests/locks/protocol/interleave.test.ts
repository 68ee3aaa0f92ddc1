/** Chance against the protocol: whatever the network, the machines and the strangers do, the rules hold. */
import fc from "fast-check"
import { expect, it } from "vitest"
import { play, scripts } from "./interleaver.ts"

it("no interleaving of two or three processes breaks an invariant, and afterwards the key is to be had", () => {
  const outcome = fc.check(
    fc.property(scripts, (script) => play(script)),
    { numRuns: 500, seed: 1 },
  )
  expect(outcome.failed, fc.defaultReportMessage(outcome)).toBe(false)
}, 60_000)
