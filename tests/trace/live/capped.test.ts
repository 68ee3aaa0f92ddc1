// Pins that any value becomes one that JSON can hold, of bounded size, with a mark wherever something was left out.
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { capped, cappedText } from "../../../src/trace/live/capped.ts"

function nested(depth: number): unknown {
  let value: unknown = "end"
  for (let level = 0; level < depth; level++) value = { in: value }
  return value
}

describe("a value that is cut to size", () => {
  it("is the same where it is small and plain", () => {
    const value = { a: [1, "two", true, null], b: { c: -0.5 } }
    expect(capped(value)).toEqual(value)
  })

  // Tests traces: A live trace has no credentials, has a user's values only where asked for, and has bounds.
  it("shows where it was too long, too wide, too deep or a circle", () => {
    const circle: Record<string, unknown> = { name: "c" }
    circle["self"] = circle
    expect(capped("x".repeat(5000), { text: 10 })).toBe("xxxxxxxxxx… (+4990 characters)")
    expect(capped([1, 2, 3, 4], { items: 2 })).toEqual([1, 2, "(+2 more)"])
    expect(capped({ a: 1, b: 2, c: 3 }, { items: 2 })).toEqual({ a: 1, b: 2, "…": "(+1 more)" })
    expect(capped(nested(3), { depth: 2 })).toEqual({ in: { in: "(too deep)" } })
    expect(capped(circle)).toEqual({ name: "c", self: "(circle)" })
  })

  it("shows one object in two places twice: that is no circle", () => {
    const shared = { n: 1 }
    expect(capped([shared, shared])).toEqual([shared, shared])
  })

  it("tells what JSON has no word for", () => {
    const value = [
      undefined,
      10n,
      Symbol("s"),
      () => {},
      Number.NaN,
      new Uint8Array(3),
      new Map([["k", 1]]),
      new Set([2]),
    ]
    expect(capped(value)).toEqual([
      ...["(undefined)", "10n", "(symbol)", "(function)", "(NaN)", "(3 bytes)"],
      ...[{ "(Map)": [["k", 1]] }, { "(Set)": [2] }],
    ])
    expect(capped([new Date(0), new Date(Number.NaN), new TypeError("no")])).toEqual([
      ...["1970-01-01T00:00:00.000Z", "(Invalid Date)", "TypeError: no"],
    ])
  })

  it("tells of what throws when it is read, and takes no harm", () => {
    const getter = Object.defineProperty({}, "x", { enumerable: true, get: () => raise() })
    const proxy: unknown = new Proxy({}, { ownKeys: () => raise() })
    expect(capped([getter, proxy, 1])).toEqual(["(can't be read)", "(can't be read)", 1])
  })

  it("has no more in all than it may, however it is built", () => {
    const wide = Array.from({ length: 100 }, () => Array.from({ length: 100 }, () => "x".repeat(100)))
    expect(JSON.stringify(capped(wide, { total: 1000 })).length).toBeLessThan(12_000)
  })

  it("is what JSON can hold, whatever it was", () => {
    expect(capped([-0])).toEqual([0])
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true }), (value) => {
        const cut = capped(value)
        expect(JSON.parse(JSON.stringify(cut))).toEqual(cut)
      }),
    )
  })

  it("never ends within a character of two halves", () => {
    expect(cappedText("ab😀cd", 3)).toBe("ab… (+4 characters)")
  })
})

function raise(): never {
  throw new Error("hostile")
}
