// A head's requests where the store has no room yet: they wait, and count from when they are made.
import { describe, expect, it } from "vitest"
import { dueAt, initialState, isSent, step } from "../../../src/actors/checkpoints/head/protocol.ts"
import type { HeadInput, HeadNow, HeadState } from "../../../src/actors/checkpoints/head/types.ts"
import { ABSENT } from "../../../src/locks/stores/port.ts"
import { settings } from "./head-model.ts"

const at = (ms: number, admitted: boolean): HeadNow => ({ at: ms, draw: 0.5, fresh: `f${ms}`, held: true, admitted })
const claim: HeadInput = { type: "begin", task: { kind: "claim" }, until: 30_000 }

const claiming = (): HeadState => step(initialState(settings, 7, "n"), claim, at(0, false)).state

describe("a head whose store has no room", () => {
  // Tests load: A request is made when its turn has come; its content and deadline are of then.
  it("makes no request before its turn, whose deadline counts from then", () => {
    const waiting = claiming()
    expect(waiting.job?.waiting).toEqual({ for: "turn", next: "read" })
    expect(dueAt(waiting)).toBe(30_000)
    expect(step(waiting, { type: "tick" }, at(20_000, false)).commands).toEqual([])
    const { state, commands } = step(waiting, { type: "turn" }, at(12_000, true))
    expect(commands).toEqual([{ type: "read", request: 1, known: null, deadline: 17_000 }])
    const absent = { type: "answer", request: 1, answer: { kind: "absent" } } as const
    const unsent = step(state, absent, at(13_000, false))
    expect(unsent.commands).toEqual([])
    expect(unsent.state.unresolved).toBeNull()
    const put = step(unsent.state, { type: "turn" }, at(20_000, true))
    expect(put.commands).toMatchObject([{ type: "put", expected: ABSENT, deadline: 25_000 }])
    expect(put.state.unresolved?.opIds).toHaveLength(1)
  })

  it("is surely not written where its turn doesn't come in time, and ends at once on loss or cancel", () => {
    const waiting = claiming()
    expect(isSent(waiting)).toBe(false)
    expect(step(waiting, { type: "tick" }, at(30_000, false)).commands).toEqual([
      { type: "ended", outcome: { kind: "timeout" } },
    ])
    expect(step(waiting, { type: "lost" }, at(1000, false)).commands).toMatchObject([{ outcome: { kind: "lost" } }])
    expect(step(waiting, { type: "cancel" }, at(1000, false)).commands).toMatchObject([
      { outcome: { kind: "cancelled" } },
    ])
  })

  it("takes no turn that it didn't wait for", () => {
    const { state } = step(claiming(), { type: "turn" }, at(1000, true))
    expect(step(state, { type: "turn" }, at(2000, true))).toEqual({ state, commands: [] })
  })
})
