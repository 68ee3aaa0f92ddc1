// Pins what is said of turns, by traces that are right and traces that are not.
import { describe, expect, it } from "vitest"
import { invariants } from "../../../src/testing/invariants/mod.ts"
import type { AppliedLine } from "../../../src/trace/trace.ts"
import { fault, lease, told, waiting } from "./told.ts"

const { everybodysTurn } = invariants

/** A record after a write of that worker: its owner, its waiter, and the line behind. */
function record(at: number, worker: string | null, owner: string | null, ...asking: readonly string[]): AppliedLine {
  const line = lease(at, worker, owner, 0, asking[0] ?? null)
  return { ...line, lease: { ...line.lease!, ...(asking.length > 1 && { line: asking.slice(1) }) } }
}

// Tests rule 13a: Of those that want a key again and again, nobody waits longer than the others' turns.
describe("everybody has a turn", () => {
  const [a, b, c] = ["a.1", "b.1", "c.1"]

  it("is content where all who ask come in turn, each once before any comes again", () => {
    const turns = [record(0, "a", a, b, c), record(1, "a", b, c), record(2, "a", b, c, a), record(3, "b", c, a)]
    expect(told(everybodysTurn, ...turns, record(4, "b", c, a, b), record(5, "c", a, b))).toEqual([])
  })

  it("is content with one that renews, and one that comes again while nobody asks", () => {
    expect(told(everybodysTurn, record(0, "a", a, b), record(1, "a", a, b), record(2, "a", b))).toEqual([])
    expect(told(everybodysTurn, record(0, "a", a), record(1, "a", null), record(2, "a", a))).toEqual([])
  })

  it("tells of one that comes twice while another stands in the line, or as the waiter", () => {
    const jumps = [record(0, "a", a, b, c), record(1, "a", b, c), record(2, "a", b, a, c), record(3, "b", a, c)]
    const again = [record(4, "b", a, b, c), record(5, "a", b, c)]
    expect(told(everybodysTurn, ...jumps, ...again)).toEqual(["b.1 has ledger=2fk twice while c.1 waits for it"])
  })

  it("lets those that ask come before those that only wait, as often as they like, and these in turn", () => {
    const quiet = (line: AppliedLine, ...ids: readonly string[]): AppliedLine => ({
      ...line,
      lease: { ...line.lease!, quiet: ids },
    })
    const asking = [quiet(record(0, "a", a, b), c), quiet(record(1, "a", b, a), c), quiet(record(2, "b", a, b), c)]
    expect(told(everybodysTurn, ...asking, quiet(record(3, "a", b), c))).toEqual([])
    const inTurn = [quiet(record(0, "a", a), b, c), quiet(record(1, "a", b), a, c), quiet(record(2, "b", a), b, c)]
    expect(told(everybodysTurn, ...inTurn, quiet(record(3, "a", b), c))).toEqual([
      "b.1 has ledger=2fk twice while c.1 waits for it",
    ])
  })

  it("is content where a fault, a stranger or an operator explains it, and no longer once they are past", () => {
    const twice = (from: number): AppliedLine[] => [a, b, a, b].map((owner, at) => record(from + at, "a", owner, c))
    expect(told(everybodysTurn, ...twice(1))).toHaveLength(1)
    expect(told(everybodysTurn, waiting(0, "c"), fault(0, "c", "pause"), ...twice(1))).toEqual([])
    expect(told(everybodysTurn, record(0, null, "s"), ...twice(1))).toEqual([])
    expect(told(everybodysTurn, fault(0, null, "partition"), fault(1, null, "heal"), ...twice(100_000))).toHaveLength(1)
  })
})
