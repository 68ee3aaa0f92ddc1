// Pins what is said of how work ends, by traces that are right and traces that are not.
import { describe, expect, it } from "vitest"
import { invariants } from "../../../src/testing/invariants/mod.ts"
import { fault, granted, lost, released, told, work } from "./told.ts"

const { settledBeforeRelease, oneClose } = invariants

describe("settled before release", () => {
  it("is content where all work has ended, and where the lease was lost under it", () => {
    const use = work(0, "a", "use began", 1)
    expect(told(settledBeforeRelease, use, work(1, "a", "use failed", 1), granted(2, "a"), released(3, "a"))).toEqual(
      [],
    )
    expect(told(settledBeforeRelease, use, lost(2, "a"), released(3, "a", { result: "alreadyLost" }))).toEqual([])
    expect(told(settledBeforeRelease, use, fault(1, "a", "crash"), released(3, "a"))).toEqual([])
    expect(told(settledBeforeRelease, use, released(3, "b"))).toEqual([])
    expect(told(settledBeforeRelease, work(0, "a", "checkpoint began", 1), released(3, "a"))).toEqual([])
  })

  it("tells of a release, and of a grant, under work that goes on", () => {
    for (const leave of [granted, released])
      expect(told(settledBeforeRelease, work(0, "a", "use began", 1), leave(2, "a"))).toEqual([
        "a gives up ledger/k while a use goes on",
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

  it("tells of none, and of two", () => {
    expect(told(oneClose, ...restored)).toEqual(["a never closes ledger/k, restored at 1"])
    expect(told(oneClose, ...restored, closed(2), closed(3))).toEqual(["a closes ledger/k 2 times"])
  })
})
