// Pins how invariants are run: each over all lines, in order, told at once and with where it showed.
import { describe, expect, it } from "vitest"
import { defineSandbox, unchecked } from "../../../src/mod.ts"
import {
  allInvariants,
  checkTrace,
  type Invariant,
  invariants,
  TraceWatch,
  type Violation,
} from "../../../src/testing/invariants/mod.ts"
import { simulate } from "../../../src/testing/mod.ts"
import { recorded } from "../../inspector/scenario.ts"
import { acquired, fault, lost } from "./told.ts"

describe("the invariants", () => {
  it("have names and sentences of their own", () => {
    expect(new Set(allInvariants.map(({ name }) => name)).size).toBe(allInvariants.length)
    expect(allInvariants.every(({ sentence }) => sentence.endsWith("."))).toBe(true)
  })

  // Tests traces: The invariants of traces hold of simulated runs, and each tells of what goes against it.
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

describe("an invariant that throws", () => {
  const invariant = (name: string, watch: Invariant["watch"]): Invariant => ({ name, sentence: `${name}.`, watch })
  const oops = (): never => {
    throw new TypeError("no such thing")
  }
  const lines = [acquired(0, "a", 1), acquired(5, "b", 2)]

  // Tests traces: An invariant that throws is a violation, once, and blinds no other.
  it.each<[string, Invariant["watch"], number]>([
    ["at a line", () => ({ line: oops }), 0],
    ["at the end", () => ({ line: () => {}, end: oops }), 1],
    ["before the first line", oops, 0],
  ])("is a violation: %s, once, and blinds no other", (_, watch, line) => {
    const found = checkTrace({ lines }, [invariant("careless", watch), invariants.oneOwner])
    expect(found).toHaveLength(2)
    expect(found).toContainEqual({
      ...{ invariant: "careless", message: "the invariant threw: TypeError: no such thing" },
      ...{ at: line * 5, line, workers: [] },
    })
    expect(found.map((each) => each.invariant)).toContain("one owner")
  })

  it("fails a simulation, whose trace is told on", async () => {
    const sandbox = defineSandbox({
      name: "counter",
      schema: unchecked<object>(),
      restore: () => ({}),
      checkpoint: () => ({}),
    })
    let seen = 0
    const counting = invariant("counting", () => ({ line: () => void seen++ }))
    const careless = invariant("careless", () => ({ line: ({ kind }) => kind === "call" && oops() }))
    const options = { sandbox, seeds: [1], faults: [], duration: "10 s", shrinkFor: 0 } as const
    await simulate({ ...options, invariants: [counting] })
    const told = seen
    const failed = await simulate({ ...options, invariants: [careless, counting] }).catch((error: unknown) => error)
    expect(failed).toMatchObject({ violations: [{ invariant: "careless", message: expect.stringContaining("threw") }] })
    expect(seen - told).toBe(2 * told) // the run that failed, and the one that is reported
  })
})
