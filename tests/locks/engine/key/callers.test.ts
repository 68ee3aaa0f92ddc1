/** The callers of this process at one key: whose turn it is, and what its runtime is told of that. */
import { describe, expect, it } from "vitest"
import { Callers } from "../../../../src/locks/engine/key/callers.ts"

const make = (): { readonly callers: Callers; readonly told: string[] } => {
  const told: string[] = []
  const callers = new Callers({
    onBusy: (busy) => void told.push(busy ? "busy" : "rests"),
    onChange: () => void told.push("changed"),
  })
  return { callers, told }
}

describe("the callers at a key", () => {
  it("have their turns one after the other, in the order of their calls", () => {
    const { callers, told } = make()
    for (const name of ["first", "second", "third"]) callers.join(() => void told.push(name))
    expect([callers.busy, callers.queued]).toEqual([true, 2])
    callers.end()
    callers.end()
    callers.end()
    expect(told.filter((each) => each !== "changed")).toEqual(
      ["first", "second", "third"].flatMap((name) => ["busy", name, "rests"]),
    )
    expect(callers.busy).toBe(false)
  })

  it("may give up a turn that hasn't begun, and none that has", () => {
    const { callers, told } = make()
    const leave = callers.join(() => void told.push("first"))
    const leaveSecond = callers.join(() => void told.push("second"))
    leave()
    expect(callers.busy).toBe(true)
    leaveSecond()
    leaveSecond()
    callers.end()
    expect(told).toEqual(["busy", "first", "changed", "changed", "changed", "rests"])
  })

  it("wait, be it for a turn or for an answer", async () => {
    const { callers } = make()
    callers.take()
    expect(callers.waiting).toBe(false)
    const { promise, resolve } = Promise.withResolvers<void>()
    const attended = callers.attend(promise)
    expect(callers.waiting).toBe(true)
    resolve()
    await attended
    expect(callers.waiting).toBe(false)
    callers.join(() => {})
    expect(callers.waiting).toBe(true)
  })
})
