import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Schedule, scheduleOf, type Wake } from "../../../src/runtime/time/schedule.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"

type Call = { readonly index: number; readonly at: number; readonly now: number }

/** Wakes set at these times; each notes its calls. */
const setAll = (time: VirtualTime, times: readonly number[]): { wakes: Wake[]; calls: Call[] } => {
  const calls: Call[] = []
  const wakes = times.map((at, index) => {
    const wake = scheduleOf(time).wake(() => calls.push({ index, at, now: time.read().mono }))
    wake.set(at)
    return wake
  })
  return { wakes, calls }
}

const times = fc.array(fc.integer({ min: 0, max: 4000 }), { maxLength: 50 }).map((all) => all.map((n) => n / 20))

describe("the shared schedule", () => {
  it("calls each entry once, never early and at most 10 ms late, by 10 ms and then by insertion", async () => {
    await fc.assert(
      fc.asyncProperty(times, async (all) => {
        const time = new VirtualTime()
        const { calls } = setAll(time, all)
        await time.advance(300)
        for (const { at, now } of calls) expect(now >= at && now - at <= 10).toBe(true)
        const slice = (at: number): number => Math.ceil(at / 10)
        const inOrder = all
          .map((at, index) => ({ at, index }))
          .toSorted((a, b) => slice(a.at) - slice(b.at) || a.index - b.index)
        expect(calls.map(({ index }) => index)).toEqual(inOrder.map(({ index }) => index))
        expect([scheduleOf(time).size, time.pendingTimers]).toEqual([0, 0])
      }),
    )
  })

  it("is never early by a rounding either", async () => {
    for (const at of [Number.MIN_VALUE, 30 + 2 ** -48, 70 - 2 ** -46, 1e9 + 2 ** -20]) {
      const time = new VirtualTime()
      const { calls } = setAll(time, [at])
      await time.advance(2e9)
      expect(calls.map(({ now }) => now >= at && now - at <= 10)).toEqual([true])
    }
  })

  it("tells the entries of one turn the one time at which it began", async () => {
    const time = new VirtualTime()
    const told: number[] = []
    const first = scheduleOf(time).wake((now) => {
      told.push(now)
      time.stall(5)
    })
    first.set(12)
    scheduleOf(time)
      .wake((now) => told.push(now))
      .set(13)
    await time.advance(30)
    expect(told).toEqual([20, 20])
  })

  it("forgets what is cleared and moves what is set again, whenever that happens", async () => {
    const change = fc.record({
      at: fc.integer({ min: 0, max: 150 }),
      of: fc.nat({ max: 9 }),
      to: fc.option(fc.integer({ min: 0, max: 300 })),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 30 }), async (changes) => {
        const time = new VirtualTime()
        const due = new Map<number, number>()
        const wakes = Array.from({ length: 10 }, (_, index) =>
          scheduleOf(time).wake(() => {
            const at = due.get(index)
            expect(at !== undefined && time.read().mono >= at && time.read().mono - at <= 10).toBe(true)
            due.delete(index)
          }),
        )
        for (const { at, of, to } of changes.toSorted((a, b) => a.at - b.at)) {
          await time.advance(at - time.read().mono)
          if (to === null) {
            wakes[of]!.clear()
            due.delete(of)
          } else {
            wakes[of]!.set(to)
            due.set(of, Math.max(to, at))
          }
        }
        await time.advance(400)
        expect([due.size, time.pendingTimers]).toEqual([0, 0])
      }),
    )
  })

  it("keeps one timer of the clock for 10,000 entries, and none for none", () => {
    const time = new VirtualTime()
    const { wakes } = setAll(
      time,
      Array.from({ length: 10_000 }, (_, index) => index * 3),
    )
    expect(time.pendingTimers).toBe(1)
    for (const wake of wakes) wake.clear()
    expect([time.pendingTimers, scheduleOf(time).size]).toEqual([0, 0])
  })

  it("keeps the process alive exactly while a foreground entry is set", () => {
    const time = new VirtualTime()
    const schedule = scheduleOf(time)
    const [background, foreground] = [schedule.wake(() => {}, { background: true }), schedule.wake(() => {})]
    const foregroundTimers = (): number => time.pendingTimers - time.pendingBackground
    background.set(50)
    expect([time.pendingTimers, foregroundTimers()]).toEqual([1, 0])
    foreground.set(5000)
    expect([time.pendingTimers, foregroundTimers()]).toEqual([1, 1])
    foreground.set(5000, { background: true })
    expect(foregroundTimers()).toBe(0)
    background.set(50, { background: false })
    expect(foregroundTimers()).toBe(1)
    background.clear()
    foreground.clear()
    expect(time.pendingTimers).toBe(0)
  })

  it("lets an entry clear and set another of the same moment", async () => {
    const time = new VirtualTime()
    const schedule = scheduleOf(time)
    const calls: string[] = []
    const cleared = schedule.wake(() => calls.push("cleared"))
    const moved = schedule.wake(() => calls.push(`moved ${time.read().mono}`))
    const first = schedule.wake(() => {
      cleared.clear()
      moved.set(35)
    })
    for (const wake of [first, cleared, moved]) wake.set(20)
    await time.advance(100)
    expect(calls).toEqual(["moved 40"])
  })

  it("runs an entry that sets itself for the past on the next turn, not in a loop that starves the others", async () => {
    const time = new VirtualTime()
    let own = 0
    let other = 0
    const eager = scheduleOf(time).wake(() => {
      if (++own < 5) eager.set(0)
    })
    eager.set(10)
    time.after(10, () => (other = own))
    await time.advance(10)
    expect(own).toBe(5)
    expect(other).toBeLessThan(5)
  })

  it("goes on after an entry that throws, whose error comes out of the clock", async () => {
    const time = new VirtualTime()
    const calls: string[] = []
    const entry = (name: string): Wake => scheduleOf(time).wake(() => calls.push(name))
    const throwing = scheduleOf(time).wake(() => {
      throw new Error("thrown by an entry")
    })
    const [before, after, later] = [entry("before"), entry("after"), entry("later")]
    for (const wake of [before, throwing, after]) wake.set(20)
    later.set(30)
    await expect(time.advance(50)).rejects.toThrow("thrown by an entry")
    expect(calls).toEqual(["before"])
    await time.advance(50)
    expect(calls).toEqual(["before", "after", "later"])
    expect(scheduleOf(time).size).toBe(0)
  })

  it("takes an infinite time as never and NaN as soon, and says what it is set for", async () => {
    const time = new VirtualTime()
    const calls: string[] = []
    const never = scheduleOf(time).wake(() => calls.push("never"))
    const soon = scheduleOf(time).wake(() => calls.push("soon"))
    never.set(Infinity)
    soon.set(NaN)
    expect([never.due, soon.due]).toEqual([Infinity, 0])
    await time.advance(1e12)
    expect(calls).toEqual(["soon"])
    expect(soon.due).toBeUndefined()
    never.clear()
    expect(scheduleOf(time).size).toBe(0)
  })

  it("is one per clock", () => {
    const time = new VirtualTime()
    expect(scheduleOf(time)).toBe(scheduleOf(time))
    expect(scheduleOf(time)).toBeInstanceOf(Schedule)
    expect(scheduleOf(new VirtualTime())).not.toBe(scheduleOf(time))
  })

  it("leaves nothing behind after 10,000 entries that were set far ahead and cleared", () => {
    const time = new VirtualTime()
    for (let cycle = 0; cycle < 10_000; cycle++) {
      const wake = scheduleOf(time).wake(() => {})
      wake.set(86_400_000 + cycle * 1000)
      wake.clear()
      wake.clear()
    }
    expect([scheduleOf(time).size, time.pendingTimers]).toEqual([0, 0])
  })
})
