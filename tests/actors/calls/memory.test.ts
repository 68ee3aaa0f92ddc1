/** What a sandbox remembers of durable calls: however little, an applied call is never taken for a new one. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type CallMemory, type MemoryLimits, NO_CALLS, recall, remember } from "../../../src/actors/calls/memory.ts"

const wide: MemoryLimits = { count: 100, size: 100_000, age: 60_000 }
const call = (id: string, sentAt: number, digest = "d") => ({ id, digest, sentAt })
const applied = (id: string, sentAt: number, value: unknown = id) =>
  ({ ...call(id, sentAt), answer: { kind: "value", value } }) as const

const remembering = (limits: MemoryLimits, now: number, ...calls: ReturnType<typeof applied>[]): CallMemory =>
  calls.reduce<CallMemory>((memory, each) => remember(memory, each, limits, now), NO_CALLS)

describe("a durable call", () => {
  it("is new until it is remembered, and is answered from memory then", () => {
    expect(recall(NO_CALLS, call("a", 5))).toEqual({ kind: "new" })
    const memory = remembering(wide, 10, applied("a", 5, { n: 1 }))
    expect(recall(memory, call("a", 5))).toEqual({ kind: "repeated", answer: { kind: "value", value: { n: 1 } } })
    expect(recall(memory, call("b", 5))).toEqual({ kind: "new" })
  })

  it("under a known id with another name or input is another call", () => {
    const memory = remembering(wide, 10, applied("a", 5))
    expect(recall(memory, call("a", 5, "other"))).toEqual({ kind: "otherCall" })
  })

  it.each<[string, MemoryLimits]>([
    ["number", { ...wide, count: 1 }],
    ["size", { ...wide, size: 100 }],
    ["age", { ...wide, age: 3 }],
  ])("that was forgotten for the %s of calls is too old, as are unknown ones sent by then", (_, limits) => {
    const memory = remembering(limits, 10, applied("a", 5), applied("b", 8))
    expect(memory.applied.map(({ id }) => id)).toEqual(["b"])
    expect(recall(memory, call("a", 5))).toEqual({ kind: "tooOld", forgottenUntil: 5 })
    expect(recall(memory, call("c", 5))).toEqual({ kind: "tooOld", forgottenUntil: 5 })
    expect(recall(memory, call("c", 6))).toEqual({ kind: "new" })
  })

  it("whose answer alone is beyond the limit is forgotten at once, and never applied again", () => {
    const memory = remembering({ ...wide, size: 10 }, 10, applied("a", 5, "x".repeat(100)))
    expect(memory).toEqual({ applied: [], forgottenUntil: 5 })
    expect(recall(memory, call("a", 5))).toEqual({ kind: "tooOld", forgottenUntil: 5 })
  })

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
          const found = recall(memory, call(name, sent))
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
