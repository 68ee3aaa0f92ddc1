// Pins that the lines in memory are the last ones, and that neither their number nor their size grows without bound.
import { describe, expect, it } from "vitest"
import { LineRing, sizeOf } from "../../../src/trace/live/ring.ts"
import type { NoteLine } from "../../../src/trace/trace.ts"

const note = (text: string): NoteLine => ({ kind: "note", at: 1, worker: "a", note: text })
const notes = (ring: LineRing): string[] => ring.lines.map((line) => (line as NoteLine).note)

describe("the lines in memory", () => {
  it("are the last so many, the oldest first", () => {
    const ring = new LineRing(3, 1e6)
    for (let each = 1; each <= 10_000; each++) ring.push(note(`${each}`))
    expect(notes(ring)).toEqual(["9998", "9999", "10000"])
  })

  it("have at most so many bytes", () => {
    const line = note("x".repeat(1000))
    const ring = new LineRing(1000, 5 * sizeOf(line) + 1)
    for (let each = 0; each < 100; each++) ring.push(line)
    expect(ring.lines).toHaveLength(5)
    ring.push(note("x".repeat(100_000)))
    expect(ring.lines).toEqual([])
  })

  it("are none where none are wanted, and after they were cleared", () => {
    const none = new LineRing(0, 1e6)
    none.push(note("a"))
    expect(none.lines).toEqual([])
    const some = new LineRing(2, 1e6)
    for (const text of ["a", "b", "c"]) some.push(note(text))
    some.clear()
    some.push(note("d"))
    expect(notes(some)).toEqual(["d"])
  })
})
