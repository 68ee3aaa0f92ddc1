// Pins how invariants are run: each over all lines, in order, told at once and with where it showed.
import { describe, expect, it } from "vitest"
import {
  allInvariants,
  checkTrace,
  invariants,
  TraceWatch,
  type Violation,
} from "../../../src/testing/invariants/mod.ts"
import { recorded } from "../../inspector/scenario.ts"
import { acquired, fault, lost } from "./told.ts"

describe("the invariants", () => {
  it("have names and sentences of their own", () => {
    expect(new Set(allInvariants.map(({ name }) => name)).size).toBe(allInvariants.length)
    expect(allInvariants.every(({ sentence }) => sentence.endsWith("."))).toBe(true)
  })

  it("hold of a recorded run with a handoff, a takeover and a loss", async () => {
    const { lines } = await recorded(7)
    expect(checkTrace({ lines }, allInvariants)).toEqual([])
  })

  it("begin anew with each trace", () => {
    const lines = [acquired(0, "a", 1), acquired(5, "b", 2)]
    expect(checkTrace({ lines }, allInvariants).map(({ invariant }) => invariant)).toEqual(["one owner"])
    expect(checkTrace({ lines: lines.slice(1) }, allInvariants)).toEqual([])
  })
})

describe("a watch", () => {
  it("tells at once, with the number of the line, also among lines of later releases", () => {
    const told: Violation[] = []
    const watch = new TraceWatch([invariants.oneOwner, invariants.noNeedlessLoss], (violation) => told.push(violation))
    watch.line(acquired(0, "a", 1))
    watch.line({ kind: "later", what: 1 })
    expect(told).toEqual([])
    watch.line(acquired(5, "b", 2))
    expect(told.map(({ line, at }) => [line, at])).toEqual([[2, 5]])
    watch.line(lost(6, "a"))
    watch.end()
    expect(watch.violations.map(({ invariant }) => invariant)).toEqual(["one owner", "no needless loss"])
    expect(told).toEqual(watch.violations)
  })

  it("takes the time of the last line for the end", () => {
    const watch = new TraceWatch([invariants.oneClose])
    watch.line({ kind: "work", at: 1, worker: "a", id: 1, key: "k", token: 1, work: "restore", edge: "ended" })
    watch.line(fault(9, "b", "crash"))
    watch.end()
    expect(watch.violations).toMatchObject([{ at: 9, line: 1 }])
  })
})
