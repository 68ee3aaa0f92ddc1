/** What a sandbox remembers of durable calls: however little, an applied call is never taken for a new one. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  AHEAD,
  applied as appliedCall,
  type CallMemory,
  floorOf,
  type MemoryLimits,
  NO_CALLS,
  recall,
  remember,
} from "../../../src/actors/calls/memory/memory.ts"

const wide: MemoryLimits = { count: 100, size: 100_000, age: 60_000 }
const call = (id: string, sentAt: number, digest = "d") => ({ id, digest, sentAt })
const applied = (id: string, sentAt: number, value: unknown = id, limits = wide) =>
  appliedCall(call(id, sentAt), { kind: "value", value }, limits)

const remembering = (limits: MemoryLimits, now: number, ...calls: ReturnType<typeof applied>[]): CallMemory =>
  calls.reduce<CallMemory>((memory, each) => remember(memory, each, limits, now), NO_CALLS)

describe("a durable call", () => {
  it("is new until it is remembered, and is answered from memory then", () => {
    expect(recall(NO_CALLS, call("a", 5), 10)).toEqual({ kind: "new" })
    const memory = remembering(wide, 10, applied("a", 5, { n: 1 }))
    expect(recall(memory, call("a", 5), 10)).toEqual({ kind: "repeated", answer: { kind: "value", value: { n: 1 } } })
    expect(recall(memory, call("b", 5), 10)).toEqual({ kind: "new" })
  })

  it("under a known id with another name or input is another call", () => {
    const memory = remembering(wide, 10, applied("a", 5))
    expect(recall(memory, call("a", 5, "other"), 10)).toEqual({ kind: "otherCall" })
  })

  it.each<[string, MemoryLimits]>([
    ["number", { ...wide, count: 1 }],
    ["size", { ...wide, size: 60 }],
    ["age", { ...wide, age: 3 }],
  ])("that was forgotten for the %s of calls is too old, as are unknown ones sent by then", (_, limits) => {
    const memory = remembering(limits, 10, applied("a", 5), applied("b", 8))
    expect(memory.applied.map(({ id }) => id)).toEqual(["b"])
    expect(recall(memory, call("a", 5), 10)).toEqual({ kind: "tooOld", forgottenUntil: 5 })
    expect(recall(memory, call("c", 5), 10)).toEqual({ kind: "tooOld", forgottenUntil: 5 })
    expect(recall(memory, call("c", 6), 10)).toEqual({ kind: "new" })
  })

  it("whose answer would take a large part of the memory is remembered without it", () => {
    const limits = { ...wide, size: 1000 }
    const large = applied("a", 5, "x".repeat(200), limits)
    const memory = remembering(limits, 10, applied("b", 5), large)
    expect(memory.applied.map(({ id }) => id)).toEqual(["b", "a"])
    expect(recall(memory, call("a", 5), 10)).toEqual({ kind: "repeated", answer: { kind: "large" } })
  })

  it("that is dated further ahead than clocks go apart is refused, or it would make the others too old one day", () => {
    expect(recall(NO_CALLS, call("a", 10 + AHEAD), 10)).toEqual({ kind: "new" })
    expect(recall(NO_CALLS, call("a", 11 + AHEAD), 10)).toEqual({ kind: "early", now: 10 })
    const far = { applied: [], forgottenUntil: 90_000 }
    expect(recall(far, call("a", 90_001), 10)).toEqual({ kind: "new" })
    expect(recall(far, call("a", 90_002), 10)).toEqual({ kind: "early", now: 10 })
  })

  it("is too old once all is forgotten, however it was dated", () => {
    const memory = remembering(wide, 10, applied("a", 5), applied("b", 800))
    expect(floorOf(memory, 10)).toBe(800)
    expect(floorOf(memory, 9000)).toBe(9000)
    expect(floorOf({ applied: [], forgottenUntil: 70 }, 10)).toBe(70)
  })

  // Tests calls: What is forgotten is refused as too old: a call that was applied is never new again.
  it("that was applied is never new again, whatever the limits and the order of sending", () => {
    const sends = fc.array(fc.record({ id: fc.nat(30), sentAt: fc.nat(50), late: fc.nat(40) }), { maxLength: 60 })
    const limits = fc.record({ count: fc.nat(5), size: fc.nat(500), age: fc.nat(30) })
    fc.assert(
      fc.property(sends, limits, (all, kept) => {
        let memory = NO_CALLS
        let now = 0
        const first = new Map<string, number>()
        for (const { id, sentAt, late } of all) {
          const name = `${id}`
          const sent = first.get(name) ?? sentAt
          now = Math.max(now, sent + late)
          const found = recall(memory, call(name, sent), now)
          expect(first.has(name) && found.kind === "new").toBe(false)
          if (found.kind !== "new") continue
          first.set(name, sent)
          memory = remember(memory, applied(name, sent), kept, now)
          expect(memory.applied.length).toBeLessThanOrEqual(kept.count)
        }
      }),
    )
  })
})
