import { expect, it } from "vitest"
import { createActor, createMachine, raise } from "xstate"
import { xstateClock } from "../../../src/runtime/bridges/xstate-clock.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"

const day = 86_400_000

it("a transition after 60 days happens after 60 days, not at once", async () => {
  const time = new VirtualTime()
  const machine = createMachine({ initial: "a", states: { a: { after: { [60 * day]: "b" } }, b: {} } })
  const actor = createActor(machine, { clock: xstateClock(time) }).start()
  await time.advance(60 * day - 1)
  expect(actor.getSnapshot().value).toBe("a")
  await time.advance(1)
  expect(actor.getSnapshot().value).toBe("b")
  actor.stop()
})

it("leaving a state, and stopping the actor, leaves no timer behind", () => {
  const time = new VirtualTime()
  const machine = createMachine({
    initial: "a",
    entry: raise({ type: "LATER" }, { delay: 1000 }),
    states: { a: { after: { 1000: "b" }, on: { GO: "b" } }, b: { after: { 500: "a" } } },
  })
  const actor = createActor(machine, { clock: xstateClock(time) }).start()
  expect(time.pendingTimers).toBe(2)
  actor.send({ type: "GO" })
  expect(time.pendingTimers).toBe(2)
  actor.stop()
  expect(time.pendingTimers).toBe(0)
})
