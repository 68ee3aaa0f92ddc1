/** A wait budget as it is written, and which of several counts. */
import { describe, expect, it } from "vitest"
import { budgetOf, strongest } from "../../../src/runtime/input/budget.ts"

describe("a written wait budget", () => {
  // Tests waits: The strongest source of a budget counts, and is remembered; bare numbers are seconds.
  it.each([
    ["30", 30_000],
    ["2.5", 2500],
    ["0", 0],
    ["0.0", 0],
    ["007", 7000],
    [30, 30_000],
    [0.25, 250],
    [0, 0],
    ["30 s", 30_000],
    ["30s", 30_000],
    ["250 ms", 250],
    ["250ms", 250],
    ["1.5 min", 90_000],
    ["1 h", 3_600_000],
    ["0 s", 0],
    ["infinite", "infinite"],
  ])("%j is %j, bare numbers being seconds", (written, budget) => {
    expect(budgetOf(written)).toBe(budget)
  })

  it.each([
    ["-1"],
    ["+1"],
    ["1e3"],
    ["1,5"],
    [".5"],
    ["5."],
    [" 30"],
    ["30 "],
    ["30  s"],
    ["30 sec"],
    ["30 S"],
    ["Infinite"],
    ["Infinity"],
    ["NaN"],
    ["0x10"],
    ["٣٠"],
    [""],
    ["9".repeat(400)],
    ["30 s\n"],
    [-1],
    [NaN],
    [Infinity],
    [true],
    [null],
    [undefined],
    [[30]],
    [10n],
  ])("%s is none", (written: unknown) => {
    expect(budgetOf(written)).toBeUndefined()
  })
})

describe("of several sources", () => {
  // Tests waits.
  it("the strongest that says anything counts: flag, environment, configuration, scope, default", () => {
    const offers = { default: 600, scope: "30 s", configuration: 60, environment: "20", flag: 0 }
    const order: unknown[] = []
    for (let left: Record<string, unknown> = { ...offers }; strongest(left) !== undefined;) {
      const origin = strongest(left)!
      order.push(origin)
      left = { ...left, [origin]: undefined }
    }
    expect(order).toEqual(["flag", "environment", "configuration", "scope", "default"])
  })
})
