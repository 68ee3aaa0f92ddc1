// Pins what is said of losses and of what is left lying about, by traces that are right and traces that are not.
import { describe, expect, it } from "vitest"
import { invariants } from "../../../src/testing/invariants/mod.ts"
import type { CallLine } from "../../../src/trace/trace.ts"
import { acquired, call, fault, lease, lost, told } from "./told.ts"

const { noNeedlessLoss, noOrphans, nothingLeft } = invariants

describe("no needless loss", () => {
  it("is content with a loss after a fault of its holder's, or of all, or a stranger's write", () => {
    for (const worker of ["a", null])
      expect(told(noNeedlessLoss, fault(0, worker, "slow"), acquired(1, "a", 1), lost(60_000, "a"))).toEqual([])
    expect(told(noNeedlessLoss, lease(0, null, "s"), lost(60_000, "a"))).toEqual([])
  })

  // Tests traces: The invariants of traces hold of simulated runs, and each tells of what goes against it.
  it("takes no fault for a reason once the world is healed for longer than a lease is long", () => {
    const healed = [acquired(0, "a", 1), fault(100_000, "a", "slow"), fault(110_000, null, "heal")]
    expect(told(noNeedlessLoss, ...healed, lost(150_000, "a"))).toEqual([])
    expect(told(noNeedlessLoss, ...healed, lost(156_000, "a"))).toHaveLength(1)
    expect(told(noNeedlessLoss, ...healed, lease(151_000, null, "s"), lost(156_000, "a"))).toHaveLength(1)
  })

  it("takes neither a clock, nor a start, nor a drain, nor the healing itself for a fault", () => {
    for (const harmless of ["clock", "restart", "drain", "heal"])
      expect(told(noNeedlessLoss, fault(59_000, "a", harmless), lost(60_000, "a"))).toHaveLength(1)
  })

  it("takes nothing that befalls hooks for a reason, nor a step of a wall clock by which the holder doesn't go", () => {
    const clock = { ...fault(0, "a", "clock"), detail: { bootClock: true } }
    for (const harmless of ["slowHook", "failingHook", "stepWall"])
      expect(told(noNeedlessLoss, clock, fault(59_000, "a", harmless), lost(60_000, "a"))).toHaveLength(1)
    expect(told(noNeedlessLoss, fault(59_000, "a", "stepWall"), lost(60_000, "a"))).toEqual([])
  })

  it("takes what was done to another record for no reason", () => {
    for (const kind of ["stranger", "deleteRecord", "damageRecord", "mendRecord"]) {
      const elsewhere = [fault(0, null, kind), { ...lease(0, null, "s"), name: "ledger=2fother" }]
      expect(told(noNeedlessLoss, ...elsewhere, lost(60_000, "a"))).toHaveLength(1)
      expect(told(noNeedlessLoss, ...elsewhere, lease(0, null, "s"), lost(60_000, "a"))).toEqual([])
    }
  })

  it("tells of one that nothing explains: no fault, another's, or one that is long over", () => {
    for (const lines of [[], [fault(0, "b", "crash")], [fault(-100_000, "a", "slow")], [lease(-100_000, null, "s")]])
      expect(told(noNeedlessLoss, ...lines, lost(60_000, "a"))).toHaveLength(1)
  })
})

describe("no orphaned lease", () => {
  it("is content with leases that are renewed, given up, or whose owner was killed", () => {
    const owned = [acquired(0, "a", 1), lease(0, "a", "a.1", 30_000)]
    expect(told(noOrphans, ...owned, lease(20_000, "a", "a.1", 50_000), lease(40_000, "a", null))).toEqual([])
    expect(told(noOrphans, ...owned, fault(9, "a", "crash"), lease(40_000, "b", "b.1", 70_000))).toEqual([])
  })

  it("is content with one that ran out for a fault, however late somebody comes by", () => {
    const owned = [acquired(0, "a", 1), lease(0, "a", "a.1", 30_000), fault(10_000, null, "outage")] as const
    expect(told(noOrphans, ...owned, lease(400_000, "b", "b.1", 430_000))).toEqual([])
  })

  it("is content with one granted to a place in the line that a fault kept who gave up from taking back", () => {
    const gaveUp = { ...lost(1000, "a"), type: "GaveUp" } as const
    const healed = [fault(500, "a", "loseRequest"), gaveUp, fault(2000, null, "heal")]
    const granted = [lease(50_000, "b", "a.1", 65_000), lease(70_000, "b", "b.1", 100_000)]
    expect(told(noOrphans, ...healed, ...granted)).toEqual([])
    for (const lines of [
      [gaveUp, ...granted], // no fault
      [...healed, acquired(40_000, "a", 1), ...granted],
      [...healed, { ...gaveUp, at: 49_000 }, ...granted], // and once more, when all was well
      [...healed, lease(50_000, "a", "a.1", 65_000), granted[1]!], // it took the key itself
    ])
      expect(told(noOrphans, ...lines)).toHaveLength(1)
  })

  it("says nothing of a store without a clock, in whose records each process writes a time of its own", () => {
    const answer = { kind: "answer", at: 0, worker: "a", id: 1, outcome: "applied", ms: 1 } as const
    const owned = [answer, acquired(0, "a", 1), lease(0, "a", "a.1", 30_000)]
    expect(told(noOrphans, ...owned, lease(40_000, "b", "b.1", 70_000))).toEqual([])
    expect(told(noOrphans, { ...answer, storeTime: 0 }, ...owned, lease(40_000, "b", "b.1", 70_000))).toHaveLength(1)
  })

  it("asks nothing of a process that died, however long ago that was", () => {
    const owned = [acquired(0, "a", 1), lease(0, "a", "a.1", 30_000), fault(20_000, "a", "crash")] as const
    expect(told(noOrphans, ...owned, lease(500_000, "b", "b.1", 530_000))).toEqual([])
  })

  it("takes a time for that of who wrote it first, by what that one hears of the store's time", () => {
    const heard = (worker: string, storeTime: number) =>
      ({ kind: "answer", at: 0, worker, id: 1, outcome: "absent", ms: 1, storeTime }) as const
    const owned = [heard("a", 1_000_000), heard("b", -1_000_000), acquired(0, "a", 1)] as const
    const written = lease(0, "a", "a.1", 1_030_000)
    const carried = lease(10_000, "b", "a.1", 1_030_000, "b.1")
    const later = lease(29_000, "b", null)
    expect(told(noOrphans, ...owned, written, carried, later)).toEqual([])
    expect(told(noOrphans, ...owned, written, carried, { ...later, at: 40_000 })).toEqual([
      "the lease of a on ledger=2fk ran out 10000 ms ago, and nothing befell it",
    ])
    expect(told(noOrphans, ...owned, lease(0, "b", "a.1", -970_000), { ...later, at: 40_000 })).toHaveLength(1)
  })

  // Tests traces.
  it("tells of one that ran out while its owner lived, as it shows: when another takes it, or at the end", () => {
    const owned = [acquired(0, "a", 1), lease(0, "a", "a.1", 30_000)]
    const message = "the lease of a on ledger=2fk ran out 10000 ms ago, and nothing befell it"
    expect(told(noOrphans, ...owned, lease(40_000, "b", "b.1", 70_000))).toEqual([message])
    expect(told(noOrphans, ...owned, lost(40_000, "c"))).toEqual([message])
  })
})

describe("nothing left behind", () => {
  const drained = (at: number): CallLine => ({ ...call(at, "a", "ended"), call: "drain" })
  const left = "a has left, and is still in the record ledger=2fk"

  it("is content where a record names nobody, or somebody who hasn't left, or was killed before it could", () => {
    const owned = [acquired(0, "a", 1), lease(0, "a", "a.1", 30_000)]
    expect(told(nothingLeft, ...owned, lease(5, "a", null), drained(6))).toEqual([])
    expect(told(nothingLeft, ...owned, drained(5), fault(6, "a", "crash"))).toEqual([])
    expect(told(nothingLeft, ...owned, lost(5, "a"), drained(6))).toEqual([])
  })

  it("is content where a fault befell it when it last said something of the key, or before it has said anything", () => {
    const slow = fault(0, "a", "loseAnswer")
    expect(told(nothingLeft, slow, acquired(1, "a", 1), lease(1, "a", "a.1", 30_000), drained(6))).toEqual([])
    const elsewhere = acquired(1, "a", 1, 27_000)
    const marked = lease(2, "a", "b.1", 30_000, "a.1")
    expect(told(nothingLeft, slow, { ...elsewhere, key: "ledger/other" }, marked, drained(6))).toEqual([])
  })

  it("tells of one that had the key again after a loss, and left without a word", () => {
    const again = [acquired(0, "a", 1), lost(5, "a"), acquired(6, "a", 2), lease(6, "a", "a.1", 30_000)]
    expect(told(nothingLeft, ...again, drained(7))).toEqual([left])
  })

  // Tests traces.
  it("tells of one that was struck long before, and left when all was well", () => {
    const struck = [fault(0, "a", "pause"), fault(10_000, null, "heal"), acquired(60_000, "a", 1)]
    expect(told(nothingLeft, ...struck, lease(60_000, "a", "a.1", 90_000), drained(70_000))).toEqual([left])
  })

  it("asks nothing of a life that was killed, when a later one of the same worker leaves", () => {
    const killed = [
      acquired(0, "a", 1),
      lease(0, "a", "a.1", 90_000),
      fault(1000, "a", "crash"),
      fault(2000, "a", "restart"),
    ]
    expect(told(nothingLeft, ...killed, fault(3000, null, "heal"), drained(60_000))).toEqual([])
  })

  it("tells of an owner, and of a waiter, that has left without a word", () => {
    expect(told(nothingLeft, acquired(0, "a", 1), lease(0, "a", "a.1", 30_000), drained(6))).toEqual([left])
    expect(told(nothingLeft, acquired(0, "a", 1), lease(0, "b", "b.1", 30_000, "a.1"), drained(6))).toEqual([left])
  })
})
