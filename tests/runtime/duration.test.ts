import { describe, expect, it } from "vitest"
import { type Duration, durationMillis } from "../../src/runtime/duration.ts"

describe("a duration", () => {
  it.each([
    [0, 0],
    [1500, 1500],
    [0.5, 0.5],
    ["250 ms", 250],
    ["30 s", 30_000],
    ["1.5 s", 1500],
    ["2 min", 120_000],
    ["24 h", 86_400_000],
    ["0 s", 0],
  ] as const)("%j is %d ms", (duration, millis) => {
    expect(durationMillis(duration)).toBe(millis)
  })

  it.each([
    [NaN],
    [-1],
    [Infinity],
    ["-1 s"],
    ["1e3 s"],
    ["NaN s"],
    ["30s"],
    ["30  s"],
    ["30 sec"],
    [" 30 s"],
    ["30"],
    [""],
    [`${"9".repeat(400)} h`],
    [null],
    [undefined],
    [{}],
    [10n],
  ])("%s is none", (malformed: unknown) => {
    expect(durationMillis(malformed as Duration)).toBeUndefined()
  })
})
