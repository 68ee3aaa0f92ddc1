// Pins what is said of turns that are used, by traces that are right and traces that are not.
import { describe, expect, it } from "vitest"
import { invariants } from "../../../src/testing/invariants/mod.ts"
import type { StateLine } from "../../../src/trace/trace.ts"
import { call, fault, key, told, work } from "./told.ts"

const { turnsAreUsed } = invariants

const state = (value: object, leaving?: string): StateLine => ({
  ...{ kind: "state", at: 0, worker: "a", key, token: 1, value: value as StateLine["value"] },
  ...(leaving !== undefined && { leaving }),
})
const owning = (what: string): StateLine => state({ owning: { lease: "healthy", work: what } })
const handingOff = (what: string, leaving = "handoff"): StateLine =>
  state({ handingOff: { lease: "healthy", work: what } }, leaving)

const asks = call(0, "a", "began")
const comes = [asks, owning("restoring"), owning("running")] as const
const leaves = handingOff("settling")
const inVain = ["a hands over ledger/k before one of the 1 uses that waited for it has begun"]

// Tests chart: A sandbox begun for uses is handed over only once one of them has begun.
describe("turns are used", () => {
  it("is content where a use begins before the key is handed over, whichever it is", () => {
    expect(told(turnsAreUsed, ...comes, work(0, "a", "use began", 1), leaves)).toEqual([])
  })

  it("tells of a sandbox that is handed over while the use waits for which it was begun, once", () => {
    expect(told(turnsAreUsed, ...comes, leaves, handingOff("releasing"))).toEqual(inVain)
    expect(told(turnsAreUsed, asks, owning("restoring"), leaves)).toEqual(inVain)
    expect(told(turnsAreUsed, ...comes, work(0, "a", "use began", 7), call(0, "a", "began", 1, 2), leaves)).toEqual([])
  })

  it("is content where nobody waited, the use came later or has given up, or the sandbox ends for another reason", () => {
    expect(told(turnsAreUsed, owning("restoring"), owning("running"), asks, leaves)).toEqual([])
    expect(told(turnsAreUsed, ...comes, call(0, "a", "failed"), leaves)).toEqual([])
    expect(told(turnsAreUsed, ...comes, handingOff("settling", "drain"))).toEqual([])
  })

  it("is content where a fault befell the process, and not where it befell another", () => {
    expect(told(turnsAreUsed, ...comes, fault(0, "a", "stall"), leaves)).toEqual([])
    expect(told(turnsAreUsed, ...comes, fault(0, "b", "stall"), leaves)).toEqual(inVain)
  })
})
