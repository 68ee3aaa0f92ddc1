// Pins what is said of how work ends, by traces that are right and traces that are not.
import { describe, expect, it } from "vitest"
import { invariants } from "../../../src/testing/invariants/mod.ts"
import { fault, granted, lost, released, told, work } from "./told.ts"

const { settledBeforeRelease, oneAtATime, oneClose } = invariants

describe("settled before release", () => {
  it("is content where all work has ended, and where the lease was lost under it", () => {
    const use = work(0, "a", "use began", 1)
    expect(told(settledBeforeRelease, use, work(1, "a", "use failed", 1), granted(2, "a"), released(3, "a"))).toEqual(
      [],
    )
    expect(told(settledBeforeRelease, use, lost(2, "a"), released(3, "a", { result: "alreadyLost" }))).toEqual([])
    expect(told(settledBeforeRelease, use, fault(1, "a", "crash"), released(3, "a"))).toEqual([])
    expect(told(settledBeforeRelease, use, released(3, "b"))).toEqual([])
  })

  // Tests traces: The invariants of traces hold of simulated runs, and each tells of what goes against it.
  it("tells of a release, and of a grant, under work that goes on", () => {
    for (const leave of [granted, released])
      expect(told(settledBeforeRelease, work(0, "a", "use began", 1), leave(2, "a"))).toEqual([
        "a gives up ledger/k while a use goes on",
      ])
  })

  it("asks no less of a checkpoint, and of what is done to saved state", () => {
    for (const what of ["checkpoint", "schema", "migrate", "restore", "run", "turn"] as const)
      expect(told(settledBeforeRelease, work(0, "a", `${what} began`, 1), released(2, "a"))).toEqual([
        `a gives up ledger/k while a ${what} goes on`,
      ])
  })
})

describe("one at a time", () => {
  it("is content with one after another, with run beside uses and checkpoints, and with other processes", () => {
    const run = work(2, "a", "run began", 1, 2)
    const use = [work(3, "a", "use began", 1, 3), work(4, "a", "use failed", 1, 3)] as const
    const saved = [work(5, "a", "checkpoint began", 1, 4), work(6, "a", "checkpoint ended", 1, 4)] as const
    const restored = [work(0, "a", "restore began", 1), work(1, "a", "restore ended", 1)] as const
    const closed = [work(7, "a", "run ended", 1, 2), work(8, "a", "close began", 1, 5)] as const
    expect(told(oneAtATime, ...restored, run, ...use, ...saved, ...closed)).toEqual([])
    expect(told(oneAtATime, use[0], work(4, "b", "use began", 1, 9))).toEqual([])
    expect(told(oneAtATime, use[0], fault(4, "a", "crash"), work(5, "a", "restore began", 1, 9))).toEqual([])
  })

  // Tests traces.
  it("tells of what begins under another, and of what begins or ends a life under a run", () => {
    const pairs = [
      ["checkpoint", "use"],
      ["checkpoint", "close"],
      ["schema", "turn"],
      ["use", "restore"],
      ["run", "close"],
      ["run", "restore"],
      ["close", "run"],
    ] as const
    for (const [first, second] of pairs)
      expect(told(oneAtATime, work(0, "a", `${first} began`, 1, 1), work(1, "a", `${second} began`, 1, 2))).toEqual([
        `a begins a ${second} on ledger/k while a ${first} goes on`,
      ])
  })
})

describe("one close per restore", () => {
  const restored = [work(0, "a", "restore began", 1), work(1, "a", "restore ended", 1)]
  const closed = (at: number) => work(at, "a", "close began", 1, at)

  it("is content with one, and with none of a restore that failed or a process that was killed", () => {
    expect(told(oneClose, ...restored, closed(2))).toEqual([])
    expect(told(oneClose, work(0, "a", "restore began", 1), work(1, "a", "restore failed", 1))).toEqual([])
    expect(told(oneClose, ...restored, fault(2, "a", "crash"))).toEqual([])
  })

  // Tests traces.
  it("tells of none, and of two", () => {
    expect(told(oneClose, ...restored)).toEqual(["a never closes ledger/k, restored at 1"])
    expect(told(oneClose, ...restored, closed(2), closed(3))).toEqual(["a closes ledger/k 2 times"])
  })
})
