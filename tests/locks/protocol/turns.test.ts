// What is due and may not be sent yet: it stays due, nothing is made of it, and what comes before it is still heard of.
import { describe, expect, it } from "vitest"
import { nextWake, step } from "../../../src/locks/protocol/reducer.ts"
import { deadlineOf } from "../../../src/locks/protocol/rules/authority.ts"
import type { Act, LockState } from "../../../src/locks/protocol/rules/state.ts"
import type { Now } from "../../../src/locks/protocol/rules/time.ts"
import { acquire } from "./process-model.ts"
import { EPOCH } from "./store-model.ts"
import { World } from "./world.ts"

const at = (ms: number): Now => ({ mono: ms, boot: ms, wall: EPOCH + ms, fresh: `f${ms}`, draw: 0.5 })
const never = (): boolean => false

describe("what may not be sent yet", () => {
  // Tests load: A request is made when its turn has come; its content and deadline are of then.
  it("is neither made nor remembered, and is made when it may, of then", () => {
    const fresh = new World().process("a").state
    const waiting = step(fresh, acquire(), at(1000), never)
    expect(waiting.commands).toEqual([])
    expect(waiting.state).toMatchObject({ requests: 0, sent: [] })
    expect(waiting.state.flight).toBeUndefined()
    const { state, commands } = step(waiting.state, { type: "tick" }, at(9000))
    expect(commands).toMatchObject([{ type: "read" }])
    expect(state.flight).toMatchObject({ act: "read", sentAt: { mono: 9000 } })
  })

  it("is asked about only where no request under way stands before it", () => {
    const begun = step(new World().process("a").state, acquire(), at(1000)).state
    const asked: Act[] = []
    step(begun, { type: "tick" }, at(2000), ({ act }) => asked.push(act) > 0)
    expect(asked).toEqual([])
  })

  it("leaves the time of all else: an attempt's end, and a lease's renewal before a look and its end before a renewal", () => {
    const waiting = step(new World().process("a").state, acquire({ budgetMs: 5000 }), at(1000), never).state
    expect(nextWake(waiting, at(1000))).toBe(1000)
    expect(nextWake(waiting, at(1000), "read")).toBe(6000)
    const { state } = owner()
    const { hold } = state.phase as Extract<LockState["phase"], { name: "owning" }>
    const look = { ...at(hold.watchAt.mono) }
    expect(nextWake(state, look)).toBe(hold.watchAt.mono)
    expect(nextWake(state, look, "read")).toBe(hold.renewAt.mono)
    expect(nextWake(state, at(hold.renewAt.mono), "renew")).toBe(deadlineOf(hold).mono)
  })

  it("counts the 10 s of a release from its first request, and waits for that as long as the lease lasts", () => {
    const { state } = owner()
    const { last } = state.sense
    const after = (ms: number): Now => ({ ...at(last.mono + ms), boot: last.boot + ms })
    const { hold } = state.phase as Extract<LockState["phase"], { name: "owning" }>
    const leaving = step(state, { type: "release" }, after(1000), never)
    expect(leaving.commands).toEqual([])
    const end = deadlineOf(hold).mono - last.mono
    expect(step(leaving.state, { type: "tick" }, after(end - 1), never).events).toEqual([])
    expect(step(leaving.state, { type: "tick" }, after(end), never).events).toMatchObject([
      { type: "Released", result: "unknown" },
    ])
    const sent = step(leaving.state, { type: "tick" }, after(15_000))
    expect(sent.commands).toMatchObject([{ type: "put" }])
    expect(sent.state.phase).toMatchObject({ name: "leaving", until: { mono: last.mono + 25_000 } })
  })
})

/** An owner with nothing under way. */
function owner(): { readonly state: LockState } {
  const world = new World()
  const a = world.owner("a")
  world.advance(1000)
  if (a.state.flight !== undefined) throw new Error("a request is under way")
  return { state: a.state }
}
