// One scenario in which the three libraries wait on one clock and meet at the same instants: an XState chart that moves
// by `after`, an Effect that retries with jittered exponential backoff, and an RxJS interval. Its trace is all they
// did.
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as EffectSchedule from "effect/Schedule"
import { interval } from "rxjs"
import { setup } from "xstate"
import { Fibers } from "../../src/runtime/bridges/fibers.ts"
import { rxScheduler } from "../../src/runtime/bridges/rx-scheduler.ts"
import { startActor } from "../../src/runtime/bridges/start-actor.ts"
import { scheduleOf } from "../../src/runtime/time/schedule.ts"
import type { VirtualTime } from "../../src/runtime/time/virtual-time.ts"

export type Trace = (readonly [at: number, who: string, what: unknown])[]

const traffic = setup({}).createMachine({
  id: "traffic",
  initial: "red",
  states: {
    red: { after: { 300: "green" } },
    green: { after: { 200: "amber" } },
    amber: { after: { 100: "red" } },
  },
})

/** Runs three seconds of it. */
export const runScenario = async (time: VirtualTime): Promise<Trace> => {
  const trace: Trace = []
  const note = (who: string, what: unknown): void => void trace.push([time.read().mono, who, what])
  const fibers = new Fibers(time, (error) => note("effect error", String(error)))

  const actor = startActor(traffic, { clock: time, onError: (error) => note("chart error", String(error)) })
  actor.subscribe((snapshot) => note("chart", snapshot.value))
  const ticks = interval(100, rxScheduler(time)).subscribe((tick) => {
    note("rx", tick)
    void Promise.resolve().then(() => note("rx promise", tick))
    time.soon(() => note("rx soon", tick))
  })
  const renewal = scheduleOf(time).wake(() => {
    note("schedule", time.id())
    renewal.set(time.read().mono + 200)
  })
  renewal.set(200)

  let attempts = 0
  const attempt = Effect.suspend(() => {
    note("effect", ++attempts)
    return attempts < 5 ? Effect.fail("not yet") : Effect.succeed("done")
  })
  const retrying = attempt.pipe(Effect.retry(EffectSchedule.exponential("100 millis")))
  const jittered = attempt.pipe(
    Effect.tap(() => Effect.fail("again")),
    Effect.retry({ times: 3, schedule: EffectSchedule.jittered(EffectSchedule.exponential("100 millis")) }),
    Effect.catch((error) => Effect.sync(() => note("effect gave up", error))),
  )
  fibers.fork(
    Effect.gen(function* () {
      note("effect settled", yield* retrying)
      const child = yield* Effect.forkChild(jittered)
      yield* Effect.yieldNow
      note("effect", "forked")
      yield* Effect.sleep("100 millis")
      note("effect", "slept")
      yield* Fiber.join(child)
    }),
  )
  await time.advance(3000)
  ticks.unsubscribe()
  renewal.clear()
  actor.stop()
  await fibers.interruptAll()
  return trace
}
