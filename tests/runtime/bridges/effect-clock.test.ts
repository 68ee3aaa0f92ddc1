import { describe, expect, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import * as TestClock from "effect/testing/TestClock"
import {
  clockServices,
  effectScheduler,
  layerClock,
  layerTestClock,
  runForkOn,
} from "../../../src/runtime/bridges/effect-clock.ts"
import { liveClock } from "../../../src/runtime/time/clock.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"

describe("Effect on our clock", () => {
  it("sleeps, yields and forks by virtual time alone", async () => {
    const time = new VirtualTime()
    const seen: [string, number][] = []
    const note = (what: string): Effect.Effect<void> => Effect.sync(() => void seen.push([what, time.read().mono]))
    const program = Effect.gen(function* () {
      const child = yield* Effect.forkChild(Effect.sleep("30 millis").pipe(Effect.andThen(note("child"))))
      yield* Effect.yieldNow
      yield* Effect.sleep("10 millis")
      yield* note("parent")
      yield* Fiber.join(child)
      yield* Effect.sleep(0)
      yield* note("end")
    })
    runForkOn(time)(program)
    await time.runUntilIdle()
    expect(seen).toEqual([
      ["parent", 10],
      ["child", 30],
      ["end", 30],
    ])
  })

  it("has forks and yields wait on the clock's ready queue and on nothing real", () => {
    const time = new VirtualTime()
    const seen: string[] = []
    const note = (what: string): Effect.Effect<void> => Effect.sync(() => void seen.push(what))
    runForkOn(time)(
      Effect.forkChild(note("child")).pipe(Effect.andThen(Effect.yieldNow), Effect.andThen(note("parent"))),
    )
    expect(seen).toEqual([])
    time.advanceSync(0)
    expect(seen).toEqual(["child", "parent"])
  })

  it("keeps the order of the ready queue after a dispatcher was flushed", () => {
    const time = new VirtualTime()
    const order: string[] = []
    const dispatcher = effectScheduler(time).makeDispatcher()
    dispatcher.scheduleTask(() => order.push("flushed"), 0)
    dispatcher.flush()
    time.soon(() => order.push("first"))
    dispatcher.scheduleTask(() => order.push("second"), 0)
    time.advanceSync(0)
    expect(order).toEqual(["flushed", "first", "second"])
  })

  it("cancels the timer of an interrupted sleep", async () => {
    const time = new VirtualTime()
    const fiber = runForkOn(time)(Effect.sleep("1 hour"))
    expect(time.pendingTimers).toBe(1)
    fiber.interruptUnsafe()
    await time.advance(0)
    expect(time.pendingTimers).toBe(0)
  })

  it("sleeps over 2^31-1 ms for real, and for ever without a timer", async () => {
    const time = new VirtualTime()
    const ended = Effect.runPromiseWith(clockServices(time))(Effect.sleep("100 days"))
    await time.runUntil(ended)
    expect(time.read().mono).toBe(100 * 86_400_000)
    runForkOn(time)(Effect.sleep("Infinity"))
    expect(time.pendingTimers).toBe(0)
  })

  it("sleeps in the background where asked to", () => {
    const time = new VirtualTime()
    runForkOn(time, { background: true })(Effect.sleep("1 hour"))
    expect([time.pendingTimers, time.pendingBackground]).toEqual([1, 1])
  })

  it("takes time and chance from the clock", async () => {
    const draw = (seed: number): Promise<unknown[]> =>
      Effect.runPromise(
        Effect.gen(function* () {
          return [
            yield* Clock.currentTimeMillis,
            yield* Clock.currentTimeNanos,
            yield* Clock.monotonicTimeNanos,
            yield* Random.next,
            yield* Random.nextInt,
          ]
        }).pipe(Effect.provide(layerClock(new VirtualTime({ seed, wall: 5 })))),
      )
    const [first, again, other] = [await draw(1), await draw(1), await draw(2)]
    expect(first).toEqual(again)
    expect(first).not.toEqual(other)
    expect(first.slice(0, 3)).toEqual([5, 5_000_000n, 0n])
  })

  it("runs on the live clock too", async () => {
    const before = liveClock.read().mono
    await Effect.runPromiseWith(clockServices(liveClock))(
      Effect.sleep("15 millis").pipe(Effect.andThen(Effect.yieldNow)),
    )
    expect(liveClock.read().mono - before).toBeGreaterThanOrEqual(15)
  })

  it("gives the order of a timeout and what it limits by their times", async () => {
    const time = new VirtualTime()
    const limited = (work: string): Promise<string> =>
      Effect.runPromiseWith(clockServices(time))(
        Effect.sleep(work as "1 second").pipe(
          Effect.as("finished"),
          Effect.timeoutOrElse({ duration: "1 second", orElse: () => Effect.succeed("timed out") }),
        ),
      )
    expect(await time.runUntil(limited("999 millis"))).toBe("finished")
    expect(await time.runUntil(limited("1001 millis"))).toBe("timed out")
    expect(time.pendingTimers).toBe(0)
  })
})

describe("virtual time as Effect's TestClock", () => {
  const time = new VirtualTime({ wall: 0 })

  it.effect("adjust, setTime and withLive drive it from inside an Effect", () =>
    Effect.gen(function* () {
      const seen: number[] = []
      const loop = Effect.sleep("10 seconds").pipe(
        Effect.andThen(Effect.sync(() => void seen.push(time.read().mono))),
        Effect.forever,
      )
      const fiber = yield* Effect.forkChild(loop)
      yield* TestClock.adjust("35 seconds")
      expect(seen).toEqual([10_000, 20_000, 30_000])
      yield* TestClock.setTime(100_000)
      expect(seen).toHaveLength(10)
      yield* TestClock.setTime(50_000)
      expect([yield* Clock.currentTimeMillis, time.read().mono]).toEqual([50_000, 100_000])
      expect(yield* TestClock.withLive(Clock.currentTimeMillis)).toBeGreaterThan(1e12)
      yield* Fiber.interrupt(fiber)
      expect(time.pendingTimers).toBe(0)
    }).pipe(Effect.provide(layerTestClock(time))),
  )

  it.effect("a timer callback that throws is a defect of the adjusting fiber", () =>
    Effect.gen(function* () {
      const failing = new VirtualTime()
      failing.after(5, () => {
        throw new Error("thrown by a timer")
      })
      const exit = yield* Effect.exit(TestClock.adjust("10 millis")).pipe(Effect.provide(layerTestClock(failing)))
      expect(String(exit)).toContain("thrown by a timer")
    }),
  )
})
