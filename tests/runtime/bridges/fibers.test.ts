import * as Effect from "effect/Effect"
import { describe, expect, it, vi } from "vitest"
import { Fibers } from "../../../src/runtime/bridges/fibers.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"

const supervised = (): { time: VirtualTime; fibers: Fibers; errors: string[] } => {
  const time = new VirtualTime()
  const errors: string[] = []
  return { time, fibers: new Fibers(time, (error) => void errors.push(String(error))), errors }
}

describe("supervised fibers", () => {
  it("report failures and defects, whenever they happen, and no success", async () => {
    const { time, fibers, errors } = supervised()
    fibers.fork(Effect.fail("at once"))
    fibers.fork(Effect.sleep("1 second").pipe(Effect.andThen(Effect.die(new Error("later")))))
    fibers.fork(Effect.succeed("fine"))
    await time.runUntilIdle()
    expect(errors).toEqual(["at once", "Error: later"])
    expect(fibers.size).toBe(0)
  })

  it("report each error of a fiber that fails in more than one way", async () => {
    const { time, fibers, errors } = supervised()
    fibers.fork(Effect.fail("the work").pipe(Effect.ensuring(Effect.die("its cleaning up"))))
    await time.runUntilIdle()
    expect(errors).toEqual(["the work", "its cleaning up"])
  })

  it("are ended by interruptAll without a report, after their finalizers, and are then none", async () => {
    const { time, fibers, errors } = supervised()
    let cleaned = 0
    const cleaning = Effect.sleep("1 second").pipe(Effect.andThen(Effect.sync(() => void cleaned++)))
    for (let index = 0; index < 3; index++) fibers.fork(Effect.never.pipe(Effect.ensuring(cleaning)))
    expect(fibers.size).toBe(3)
    await time.runUntil(fibers.interruptAll())
    expect([cleaned, fibers.size, time.read().mono]).toEqual([3, 0, 1000])
    expect(errors).toEqual([])
    await fibers.interruptAll()
  })

  it("report what a finalizer throws when they are interrupted", async () => {
    const { time, fibers, errors } = supervised()
    fibers.fork(Effect.never.pipe(Effect.ensuring(Effect.die("while ending"))))
    await time.runUntil(fibers.interruptAll())
    expect(errors).toEqual(["while ending"])
  })

  it("run settles with the effect and reports nothing", async () => {
    const { time, fibers, errors } = supervised()
    expect(await fibers.run(Effect.succeed(1))).toBe(1)
    await expect(fibers.run(Effect.fail(new Error("typed")))).rejects.toThrow("typed")
    await expect(fibers.run(Effect.die(new Error("defect")))).rejects.toThrow("defect")
    const interrupted = fibers.run(Effect.never).then(() => "succeeded", String)
    await time.runUntil(fibers.interruptAll())
    expect(await interrupted).toContain("interrupted")
    expect([errors, fibers.size]).toEqual([[], 0])
  })

  it("survive an onError that throws", async () => {
    const printed = vi.spyOn(console, "error").mockImplementation(() => {})
    const fibers = new Fibers(new VirtualTime(), () => {
      throw new Error("of onError")
    })
    fibers.fork(Effect.fail("reported"))
    expect(await fibers.run(Effect.succeed("alive"))).toBe("alive")
    expect(printed.mock.calls.map(([, error]) => String(error))).toEqual(["reported", "Error: of onError"])
    printed.mockRestore()
  })

  it("10,000 of them leave nothing behind", async () => {
    const { time, fibers } = supervised()
    for (let index = 0; index < 10_000; index++) fibers.fork(Effect.sleep(index))
    await time.advance(5000)
    await time.runUntil(fibers.interruptAll())
    expect([fibers.size, time.pendingTimers]).toEqual([0, 0])
  })
})
