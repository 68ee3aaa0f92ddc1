/** Rules 1, 3, 4 and 5 where a clock jumps, or an answer takes for ever, while a request is under way. */
import { describe, expect, it } from "vitest"
import { acquire, type ProcessModel } from "./process-model.ts"
import { World } from "./world.ts"

/** The end of its authority, on its own monotonic clock. */
function deadline({ id, state }: ProcessModel): number {
  if (state.phase.name !== "owning") throw new Error(`${id} is ${state.phase.name}`)
  return state.phase.hold.deadline.mono
}

describe("a request during which the clocks jump", () => {
  // Tests rule 3: No answer that spans a jump of the clocks gives a sample.
  it("a sample is not learned from the answer to a write that was sent before the jump", () => {
    const world = new World()
    const b = world.process("b")
    world.send(b, acquire())
    const claim = world.nextWrite(b)
    world.suspend(b, 5000)
    world.answer(claim)
    expect(b.state.sense.sample).toBeUndefined()
  })

  // Tests rule 3: A sample's age is that of the clock that counted more.
  it("a sample counts a sleep that is too short to be a divergence", () => {
    const world = new World({ clock: "exact" })
    const a = world.owner("a")
    world.advance(1500)
    world.suspend(a, 900)
    a.network = "held"
    world.send(a, { type: "renew" })
    const renewal = JSON.parse((world.nextWrite(a).command as { body: string }).body) as { writtenAt: number }
    expect(Math.abs(renewal.writtenAt * 1000 - world.store.time(world.at)!)).toBeLessThan(100)
  })

  // Tests rule 5: A renewal sent before the divergence and read back after it doesn't end suspicion.
  it("a renewal from before the jump that is only read back after it doesn't end suspicion", () => {
    const world = new World()
    const a = world.owner("a")
    world.advance(2000)
    a.network = "held"
    world.send(a, { type: "renew" })
    const renewal = world.nextWrite(a)
    world.deliver(renewal)
    world.suspend(a, 5000)
    world.lose(renewal)
    world.answer(world.next(a, "read"))
    expect(a.count("Recovered")).toBe(0)
    expect(a.holds(world.at)).toBe(false)
    const second = world.nextWrite(a)
    expect(second.sentAt).toBeGreaterThan(renewal.sentAt)
    world.answer(second)
    expect(a.holds(world.at)).toBe(true)
  })

  // Tests rule 1: Bytes drafted before the clocks jumped are not sent again.
  it("bytes drafted before a divergence are not sent again after it", () => {
    const world = new World()
    const a = world.owner("a")
    world.advance(2000)
    a.network = "held"
    world.send(a, { type: "renew" })
    const renewal = world.nextWrite(a)
    world.lose(renewal)
    world.suspend(a, 5000)
    const again = world.nextWrite(a)
    expect(again.command).not.toEqual({ ...renewal.command, id: again.command.id })
    world.answer(again)
    expect(a.holds(world.at)).toBe(true)
  })

  // Tests rule 5: A claim whose answer spans a divergence is read again; without a store's time it is made again.
  it("a claim whose answer comes after a divergence is looked at again before anybody acts on it", () => {
    const world = new World()
    const a = world.process("a", { bootClock: false })
    world.send(a, acquire())
    const claim = world.nextWrite(a)
    world.deliver(claim)
    world.suspend(a, 60_000)
    a.wallAhead -= 65_000
    world.owner("b")
    world.answer(claim)
    expect(a.holds(world.at)).toBe(false)
    expect(a.phase).toBe("seeking")
  })

  // Tests rule 5: Only a renewal sent after the divergence ends suspicion; none by the deadline is a loss.
  it("and such a claim is made again where no store's time vouches for it", () => {
    const world = new World({ clock: "none", spacing: 0 })
    const a = world.process("a", { bootClock: false })
    world.send(a, acquire())
    const claim = world.nextWrite(a)
    world.deliver(claim)
    world.suspend(a, 60_000)
    a.wallAhead -= 65_000
    world.answer(claim)
    world.answer(world.next(a, "read"))
    expect(a.phase).toBe("seeking")
    const again = world.nextWrite(a)
    world.answer(again)
    expect(a.holds(world.at)).toBe(true)
    expect(deadline(a)).toBe(a.now(again.sentAt).mono + 27_000)
  })

  // Tests rule 4: A claim without authority left is made afresh, not reported and lost.
  it("a claim answered so late that nothing is left of it is made afresh, not told and lost", () => {
    const world = new World()
    const a = world.process("a")
    world.send(a, acquire({ budgetMs: 120_000 }))
    const claim = world.nextWrite(a)
    world.deliver(claim)
    world.advance(28_000)
    world.answer(claim)
    expect(a.types).toEqual([])
    world.answer(world.nextWrite(a))
    expect(a.types).toEqual(["Acquired"])
    expect(a.holds(world.at)).toBe(true)
  })
})
