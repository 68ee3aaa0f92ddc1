// Store time comes from the Date of answers, read without the platform's own dates: both must agree on all of them.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { httpDate } from "../../../src/locks/stores/gcs/http/date.ts"

describe("the Date of an answer", () => {
  it("is what the platform takes it for, from 1601 to 9999", () => {
    const seconds = fc.integer({ min: Date.UTC(1601, 0, 1) / 1000, max: Date.UTC(9999, 11, 31, 23, 59, 59) / 1000 })
    fc.assert(
      fc.property(seconds, (second) => {
        expect(httpDate(new Date(second * 1000).toUTCString())).toBe(second * 1000)
      }),
      { numRuns: 5000 },
    )
  })

  it.each([
    ["Thu, 29 Feb 2024 23:59:59 GMT", Date.UTC(2024, 1, 29, 23, 59, 59)],
    ["Fri, 01 Mar 2024 00:00:00 GMT", Date.UTC(2024, 2, 1)],
    ["Thu, 01 Jan 1970 00:00:00 GMT", 0],
    ["Wed, 28 Feb 2100 00:00:00 GMT", Date.UTC(2100, 1, 28)],
    ["Mon, 01 Mar 2100 00:00:00 GMT", Date.UTC(2100, 2, 1)],
  ])("%s is %d", (text, time) => {
    expect(httpDate(text)).toBe(time)
  })

  it.each(["", "now", "2024-02-29T00:00:00Z", "Thu, 29 Foo 2024 00:00:00 GMT", "Thu, 29 Feb 2024 00:00:00 +0100"])(
    "is none where it reads %j",
    (text) => {
      expect(httpDate(text)).toBeUndefined()
    },
  )
})
