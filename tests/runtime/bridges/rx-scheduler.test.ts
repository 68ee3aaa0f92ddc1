import {
  asyncScheduler,
  concatMap,
  debounceTime,
  delay,
  interval,
  of,
  type SchedulerLike,
  Subject,
  take,
  timer,
} from "rxjs"
import { describe, expect, it } from "vitest"
import { rxScheduler } from "../../../src/runtime/bridges/rx-scheduler.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"

describe("the RxJS scheduler", () => {
  it("drives intervals, delays and timers, and leaves nothing behind when they end", async () => {
    const time = new VirtualTime()
    const scheduler = rxScheduler(time)
    const seen: [string, number][] = []
    const note = (what: string) => (): void => void seen.push([what, time.read().mono])
    interval(100, scheduler).pipe(take(3)).subscribe(note("interval"))
    of(1).pipe(delay(150, scheduler)).subscribe(note("delay"))
    timer(new Date(time.read().wall + 250), scheduler).subscribe(note("date"))
    await time.runUntilIdle()
    expect(seen).toEqual([
      ["interval", 100],
      ["delay", 150],
      ["interval", 200],
      ["date", 250],
      ["interval", 300],
    ])
    expect(time.pendingTimers).toBe(0)
  })

  it("cancels what is unsubscribed", () => {
    const time = new VirtualTime()
    const subscription = interval(10, rxScheduler(time)).subscribe()
    expect(time.pendingTimers).toBe(1)
    subscription.unsubscribe()
    expect(time.pendingTimers).toBe(0)
  })

  it("waits over 2^31-1 ms for real", async () => {
    const time = new VirtualTime()
    let firedAt = 0
    timer(2 ** 32, rxScheduler(time)).subscribe(() => (firedAt = time.read().mono))
    await time.runUntilIdle()
    expect(firedAt).toBe(2 ** 32)
  })

  it("isn't held up by a wall clock that is set back", async () => {
    const time = new VirtualTime()
    const source = new Subject<string>()
    const seen: [string, number][] = []
    source.pipe(debounceTime(100, rxScheduler(time))).subscribe((value) => seen.push([value, time.read().mono]))
    source.next("a")
    time.stepWall(-3_600_000)
    await time.advance(50)
    source.next("b")
    await time.advance(500)
    expect(seen).toEqual([["b", 150]])
  })

  it("lets work that throws out of the clock, once", async () => {
    const time = new VirtualTime()
    rxScheduler(time).schedule(function () {
      this.schedule(undefined, 10)
      throw new Error("work failed")
    }, 10)
    await expect(time.advance(100)).rejects.toThrow("work failed")
    expect(time.pendingTimers).toBe(0)
  })

  it("does what RxJS's own scheduler does, in RxJS's own virtual order", async () => {
    const time = new VirtualTime()
    const runOn = (scheduler: SchedulerLike): Promise<number[]> =>
      new Promise((resolve) => {
        const seen: number[] = []
        interval(2, scheduler)
          .pipe(
            take(3),
            concatMap((n) => of(n, n + 10).pipe(delay(3, scheduler))),
          )
          .subscribe({ next: (n) => seen.push(n), complete: () => resolve(seen) })
      })
    expect(await time.runUntil(runOn(rxScheduler(time)))).toEqual(await runOn(asyncScheduler))
  })
})
