/**
 * Effect on our clock: its Clock, Scheduler and Random services, so that sleeps, retries, timeouts, forks, yields and
 * jitter of an Effect follow one `Clock`, live or virtual.
 */
import * as EffectClock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as Scheduler from "effect/Scheduler"
import type { TestClock } from "effect/testing/TestClock"
import { anObject } from "../input/options.ts"
import { type Clock, liveClock, type TimerOptions } from "../time/clock.ts"
import type { VirtualTime } from "../time/virtual-time.ts"

const nanos = (ms: number): bigint => BigInt(Math.round(ms * 1_000_000))

const clockMethods = (clock: Clock, options?: TimerOptions) => {
  const currentTimeMillisUnsafe = (): number => clock.read().wall
  const currentTimeNanosUnsafe = (): bigint => nanos(clock.read().wall)
  const monotonicTimeNanosUnsafe = (): bigint => nanos(clock.mono())
  return {
    currentTimeMillisUnsafe,
    currentTimeNanosUnsafe,
    monotonicTimeNanosUnsafe,
    currentTimeMillis: Effect.sync(currentTimeMillisUnsafe),
    currentTimeNanos: Effect.sync(currentTimeNanosUnsafe),
    monotonicTimeNanos: Effect.sync(monotonicTimeNanosUnsafe),
    sleep: (duration: Duration.Duration) => sleep(clock, Duration.toMillis(duration), options),
  }
}

const sleep = (clock: Clock, ms: number, options?: TimerOptions): Effect.Effect<void> => {
  if (ms <= 0) return Effect.yieldNow
  if (ms === Infinity) return Effect.never
  return Effect.callback<void>((resume) => {
    const timer = clock.after(ms, () => resume(Effect.void), options)
    return Effect.sync(() => timer.cancel())
  })
}

/** Effect's Clock service on our clock. */
export const effectClock = (clock: Clock, options?: TimerOptions): EffectClock.Clock => clockMethods(clock, options)

/** Effect's Scheduler service on our ready queue. */
export const effectScheduler = (clock: Clock): Scheduler.Scheduler =>
  new Scheduler.MixedScheduler("async", (task) => {
    let cancelled = false
    clock.soon(() => {
      if (!cancelled) task()
    })
    return () => void (cancelled = true)
  })

const effectRandom = (clock: Clock): Random.Random => ({
  nextDoubleUnsafe: () => clock.random(),
  nextIntUnsafe: () => Math.floor((clock.random() * 2 - 1) * Number.MAX_SAFE_INTEGER),
})

const makeServices = (clock: Clock, options: TimerOptions | undefined): Context.Context<never> =>
  Context.make(EffectClock.Clock, effectClock(clock, options)).pipe(
    Context.add(Scheduler.Scheduler, effectScheduler(clock)),
    Context.add(Random.Random, effectRandom(clock)),
  )

type Made = WeakMap<Clock, Context.Context<never>>

/** One set a clock, for there may be 100,000 who fork on it. */
const madeForeground: Made = new WeakMap()
const madeBackground: Made = new WeakMap()

/**
 * The services that put an Effect on the clock, for `Effect.provideContext` and `Effect.runForkWith`. With
 * `background: true` its sleeps don't keep the process alive.
 */
export const clockServices = (clock: Clock, options?: TimerOptions): Context.Context<never> => {
  const made = options?.background ? madeBackground : madeForeground
  let services = made.get(clock)
  if (services === undefined) made.set(clock, (services = makeServices(clock, options)))
  return services
}

/** `Effect.runFork` on the clock. */
export const runForkOn = (
  clock: Clock,
  options?: TimerOptions,
): (<A, E>(effect: Effect.Effect<A, E>) => Fiber.Fiber<A, E>) => {
  const runFork = Effect.runForkWith(clockServices(clock, options))
  return (effect) => runFork(effect)
}

/** The clock's services as a layer. */
export const layerClock = (clock: Clock): Layer.Layer<never> => Layer.succeedContext(clockServices(clock))

/**
 * Virtual time as Effect's TestClock, so that `TestClock.adjust`, `setTime` and `withLive` drive it from inside an
 * Effect. `setTime` to the past steps the wall clock back. A timer callback that throws is a defect of the adjusting
 * fiber.
 */
export const layerTestClock = (time: VirtualTime): Layer.Layer<never> => {
  anObject("Give a VirtualTime", "advance", "stepWall", "read")("the time of layerTestClock", time)
  const adjust = (ms: number): Effect.Effect<void> => Effect.promise(() => time.advance(ms))
  const testClock: TestClock = {
    ...clockMethods(time),
    adjust: (duration) => adjust(Duration.toMillis(Duration.fromInputUnsafe(duration))),
    setTime: (timestamp) =>
      Effect.suspend(() => {
        const ahead = timestamp - time.read().wall
        return ahead >= 0 ? adjust(ahead) : Effect.sync(() => time.stepWall(ahead))
      }),
    withLive: (effect) => Effect.provideService(effect, EffectClock.Clock, effectClock(liveClock)),
  }
  return Layer.succeedContext(Context.add(clockServices(time), EffectClock.Clock, testClock))
}
