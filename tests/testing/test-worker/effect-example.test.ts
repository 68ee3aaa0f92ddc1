// The example of docs/testing.md of Effect's TestClock, word for word.

// --- example: a TestClock
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { layerTestClock, testWorker } from "leasehold/testing"
import { expect } from "vitest"
import { meter } from "./meter.ts"

it.effect("counts while the TestClock moves", () =>
  Effect.gen(function* () {
    const worker = yield* Effect.promise(() => testWorker(meter))
    yield* TestClock.adjust("3 minutes").pipe(Effect.provide(layerTestClock(worker.time)))
    expect(yield* Effect.promise(() => worker.use(({ minutes }) => minutes))).toBe(3)
    yield* Effect.promise(() => worker[Symbol.asyncDispose]())
  }),
)
// --- end
