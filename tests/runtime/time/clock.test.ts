import { readFileSync } from "node:fs"
import process from "node:process"
import { describe, expect, it } from "vitest"
import { type Clock, liveClock } from "../../../src/runtime/time/clock.ts"
import { run } from "../programs.ts"

const elapse = (clock: Clock, ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve))

describe("the live clock", () => {
  it("is never early, by its own monotonic clock", async () => {
    const early: number[] = []
    const waits = Array.from({ length: 200 }, async (_, index) => {
      const ms = (index % 20) + 0.3
      const due = liveClock.read().mono + ms
      await elapse(liveClock, ms)
      const now = liveClock.read().mono
      if (now < due) early.push(due - now)
    })
    await Promise.all(waits)
    expect(early).toEqual([])
  })

  it("takes a delay over 2^31-1 ms as a real wait, and an infinite one as never", async () => {
    const fired: number[] = []
    const timers = [2 ** 31, 1e12, Infinity].map((ms) => liveClock.after(ms, () => fired.push(ms)))
    await elapse(liveClock, 20)
    for (const timer of timers) timer.cancel()
    expect(fired).toEqual([])
  })

  it("takes NaN and negative delays as none", async () => {
    await Promise.all([elapse(liveClock, NaN), elapse(liveClock, -1e9), elapse(liveClock, -Infinity)])
    expect(liveClock.read().mono).toBeGreaterThan(0)
  })

  it("cancels a timer for good, twice and from its own callback", async () => {
    let ran = 0
    const cancelled = liveClock.after(1, () => ran++)
    cancelled.cancel()
    cancelled.cancel()
    await new Promise<void>((resolve) => {
      const own = liveClock.after(2, () => {
        own.cancel()
        resolve()
      })
    })
    expect(ran).toBe(0)
  })

  it("runs soon after the promises of the moment, in order", async () => {
    const order: string[] = []
    liveClock.soon(() => order.push("first"))
    liveClock.soon(() => order.push("second"))
    void Promise.resolve().then(() => order.push("promise"))
    order.push("now")
    await new Promise<void>((resolve) => liveClock.soon(resolve))
    expect(order).toEqual(["now", "promise", "first", "second"])
  })

  it("gives ids of 16 characters that never repeat", () => {
    const ids = Array.from({ length: 1000 }, () => liveClock.id())
    expect(new Set(ids).size).toBe(1000)
    expect(ids.filter((id) => !/^[\w-]{16}$/.test(id))).toEqual([])
  })

  it.runIf(process.platform === "linux")("reads time since boot, and names the boot", () => {
    const uptime = (): number => Number.parseFloat(readFileSync("/proc/uptime", "utf8")) * 1000
    const before = uptime()
    const { boot, wall } = liveClock.read()
    const after = uptime()
    expect(boot).not.toBe(wall)
    // The kernel cuts its time to 10 ms, and the clock goes on from a reading that may be as much too low.
    expect(boot).toBeGreaterThan(before - 10)
    expect(boot).toBeLessThan(after + 10.5)
    const bootId = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()
    expect(liveClock.bootId?.startsWith(`${bootId}.`)).toBe(true)
  })

  it("goes on with all three clocks", async () => {
    const before = liveClock.read()
    await elapse(liveClock, 30)
    const after = liveClock.read()
    expect(after.mono - before.mono).toBeGreaterThanOrEqual(30)
    expect(after.boot - before.boot).toBeGreaterThanOrEqual(20) // it counts in 10 ms
    expect(after.wall).toBeGreaterThan(before.wall)
  })
})

describe("a process with background timers only", () => {
  it("ends by itself", async () => {
    const ended = await run("idle")
    expect(ended).toMatchObject({ code: 0, stderr: "" })
    const { bootId, wallStandsIn } = JSON.parse(ended.stdout) as { bootId: string | null; wallStandsIn: boolean }
    expect(wallStandsIn).toBe(bootId === null)
  })

  it("has the wall clock stand in for the boot clock on Deno without the permission to read", async () => {
    const ended = await run("idle", { denoPermissions: ["--allow-env"] })
    expect(ended).toMatchObject({ code: 0, stderr: "" })
    expect(JSON.parse(ended.stdout)).toEqual({ bootId: null, wallStandsIn: true })
  })
})
