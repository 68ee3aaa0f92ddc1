// Pins what is said of drains, by traces that are right and traces that are not.
import { describe, expect, it } from "vitest"
import { invariants } from "../../../src/testing/invariants/mod.ts"
import type { CallLine, StateLine } from "../../../src/trace/trace.ts"
import { fault, key, told } from "./told.ts"

const { drainsSave } = invariants

const state = (at: number, value: StateLine["value"], leaving = "drain"): StateLine => ({
  ...{ kind: "state", at, worker: "a", key, value, token: 1, leaving },
})
const work = (at: number, name: "settling" | "queued" | "checkpointing" | "releasing", leaving?: string): StateLine =>
  state(at, { handingOff: { work: name, lease: "healthy" } }, leaving)
const drained = (at: number, worker = "a"): CallLine => ({
  kind: "call",
  at,
  worker,
  id: 1,
  call: "drain",
  edge: "ended",
})
const saving = [work(1, "settling"), work(2, "queued"), work(3, "checkpointing")]

describe("drains save", () => {
  // Tests load: A store of R requests a second loses no lease that R could keep, and no ended work's state.
  it("is content with one that is saved and released, or handed over", () => {
    const saved = [...saving, work(4, "releasing")]
    for (const released of ["clean", "handedOff"] as const)
      expect(told(drainsSave, ...saved, state(5, { released }), drained(6))).toEqual([])
  })

  it("tells of one that fails or is lost once its work has ended, and of one that is still there when the drain ends", () => {
    for (const released of ["failed", "lost"] as const)
      expect(told(drainsSave, ...saving, state(4, { released }), drained(5))).toHaveLength(1)
    expect(told(drainsSave, ...saving, drained(4))).toHaveLength(1)
    expect(told(drainsSave, work(1, "queued"), drained(2))).toHaveLength(1)
  })

  it("asks nothing of work that hasn't ended, of another reason to leave, of another's drain, or after a fault", () => {
    expect(told(drainsSave, work(1, "settling"), state(2, { released: "lost" }), drained(3))).toEqual([])
    expect(told(drainsSave, work(1, "queued", "handoff"), state(2, { released: "failed" }, "handoff"))).toEqual([])
    expect(told(drainsSave, ...saving, drained(4, "b"))).toEqual([])
    for (const line of [fault(0, "a", "slowHook"), fault(0, null, "outage")])
      expect(told(drainsSave, line, ...saving, drained(4))).toEqual([])
    expect(told(drainsSave, ...saving, fault(4, "a", "crash"), drained(5))).toEqual([])
  })

  it("takes a store that serves few requests for no fault", () => {
    expect(told(drainsSave, fault(0, null, "capacity"), ...saving, drained(4))).toHaveLength(1)
  })
})
