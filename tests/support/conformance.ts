// The conformance suite as tests of vitest.
import { describe, it } from "vitest"
import { conformance, type ConformanceOptions, type MakeStore } from "../../src/testing/mod.ts"

/** To be called where tests are described. */
export function describeConformance(makeStore: MakeStore, options?: ConformanceOptions): void {
  describe("by the contract of a store", () => {
    // oxlint-disable-next-line vitest/expect-expect, vitest/valid-title -- a case has its name, and rejects by itself
    for (const { name, run } of conformance(makeStore, options)) it(name, run)
  })
}
