import { describe, expect, it } from "vitest"
import { type Duration, durationMillis, durationText } from "../../../src/runtime/input/duration.ts"

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

describe("a duration for people", () => {
  it.each([
    [0, "0 s"],
    [999, "0 s"],
    [59_999, "59 s"],
    [125_000, "2 min 5 s"],
    [3_600_000, "1 h 0 min"],
    [86_399_999, "23 h 59 min"],
    [345_600_000, "4 d 0 h"],
  ])("%d ms are %s", (ms, text) => {
    expect(durationText(ms)).toBe(text)
  })
})
