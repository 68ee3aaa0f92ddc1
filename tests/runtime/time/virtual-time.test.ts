import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"

/** A timer that, when it fires, does something else, perhaps at its own instant. */
interface Planned {
  readonly delay: number
  readonly kind: "note" | "again" | "soon" | "promise" | "cancel" | "stall"
}
const planned: fc.Arbitrary<Planned> = fc.record({
  delay: fc.integer({ min: 0, max: 50 }),
  kind: fc.constantFrom("note", "again", "soon", "promise", "cancel", "stall"),
})
const plan = fc.array(planned, { maxLength: 20 })

type Note = readonly [at: number, due: number, what: string]

const carryOut = (time: VirtualTime, steps: readonly Planned[]): Note[] => {
  const notes: Note[] = []
  const start = (step: Planned, name: string): void => {
    const due = time.read().mono + step.delay
    const note = (what: string): void => void notes.push([time.read().mono, due, `${name}${what}`])
    const timer = time.after(step.delay, () => {
      note("")
      if (step.kind === "again") start({ delay: step.delay, kind: "note" }, `${name}+`)
      if (step.kind === "soon") time.soon(() => note(" soon"))
      if (step.kind === "promise") void Promise.resolve().then(() => note(" promise"))
      if (step.kind === "stall") time.stall(3)
    })
    if (step.kind === "cancel") timer.cancel()
  }
  steps.forEach((step, index) => start(step, String(index)))
  return notes
}

describe("virtual time", () => {
  it("stands still until it is advanced, and then by exactly as much", async () => {
    const time = new VirtualTime({ wall: 1000 })
    const before = time.read()
    await time.advance(250)
    expect(before).toEqual({ wall: 1000, mono: 0, boot: 600_000 })
    expect(time.read()).toEqual({ wall: 1250, mono: 250, boot: 600_250 })
  })

  it("fires timers by time and then by the order of after, whatever the order in which they were set", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 20 })), async (delays) => {
        const time = new VirtualTime()
        const fired: { delay: number; index: number }[] = []
        delays.forEach((delay, index) => time.after(delay, () => fired.push({ delay, index })))
        await time.advance(20)
        expect(fired).toEqual(
          delays.map((delay, index) => ({ delay, index })).toSorted((a, b) => a.delay - b.delay || a.index - b.index),
        )
      }),
    )
  })

  it("never fires early, and late only behind a stall", async () => {
    await fc.assert(
      fc.asyncProperty(plan, async (steps) => {
        const time = new VirtualTime()
        const notes = carryOut(time, steps)
        await time.advance(200)
        const stalls = steps.some((step) => step.kind === "stall")
        for (const [at, due] of notes) expect(stalls ? at >= due : at === due).toBe(true)
      }),
    )
  })

  it("advance(a + b) does what advance(a) and advance(b) do", async () => {
    const span = fc.integer({ min: 0, max: 60 })
    await fc.assert(
      fc.asyncProperty(plan, span, span, async (steps, a, b) => {
        const [once, twice] = [new VirtualTime(), new VirtualTime()]
        const notes = [carryOut(once, steps), carryOut(twice, steps)]
        await once.advance(a + b)
        await twice.advance(a)
        await twice.advance(b)
        expect(notes[1]).toEqual(notes[0])
        expect(twice.read()).toEqual(once.read())
        expect(twice.pendingTimers).toBe(once.pendingTimers)
      }),
    )
  })

  it("advanceSync does what advance does where no promises are involved", async () => {
    await fc.assert(
      fc.asyncProperty(plan, async (all) => {
        const steps = all.filter((step) => step.kind !== "promise")
        const [sync, async] = [new VirtualTime(), new VirtualTime()]
        const notes = [carryOut(sync, steps), carryOut(async, steps)]
        sync.advanceSync(100)
        await async.advance(100)
        expect(notes[0]).toEqual(notes[1])
        expect(sync.read()).toEqual(async.read())
      }),
    )
  })

  it("runs the promises and ready callbacks that a timer starts before the next timer of the same instant", async () => {
    const time = new VirtualTime()
    const order: string[] = []
    const chain = async (): Promise<void> => {
      order.push("first")
      for (let turn = 0; turn < 100; turn++) await Promise.resolve()
      order.push("its hundredth promise")
      time.soon(() => order.push("its ready callback"))
    }
    time.after(10, () => void chain())
    time.after(10, () => order.push("second"))
    await time.advance(10)
    expect(order).toEqual(["first", "its hundredth promise", "its ready callback", "second"])
  })

  it("runs a cancelled timer never, also when cancelled at its own instant or twice", async () => {
    const time = new VirtualTime()
    let ran = 0
    const second = time.after(5, () => ran++)
    time.after(4, () => second.cancel())
    const fourth = time.after(6, () => ran++)
    time.after(6, () => ran++).cancel()
    await time.advance(10)
    fourth.cancel()
    fourth.cancel()
    expect(ran).toBe(1)
    expect(time.pendingTimers).toBe(0)
  })

  it("counts pending timers, and the background ones among them", () => {
    const time = new VirtualTime()
    const timers = [time.after(1, () => {}), time.after(2, () => {}, { background: true }), time.after(3, () => {})]
    expect([time.pendingTimers, time.pendingBackground]).toEqual([3, 1])
    for (const timer of timers) timer.cancel()
    expect([time.pendingTimers, time.pendingBackground]).toEqual([0, 0])
  })

  it("takes NaN and negative delays as none and an infinite one as never", async () => {
    const time = new VirtualTime()
    const fired: string[] = []
    time.after(NaN, () => fired.push("NaN"))
    time.after(-5, () => fired.push("negative"))
    const never = time.after(Infinity, () => fired.push("infinite"))
    await time.runUntilIdle()
    expect(fired).toEqual(["NaN", "negative"])
    never.cancel()
  })

  it("waits delays over 2^31-1 ms for real", async () => {
    const time = new VirtualTime()
    const days = 100 * 24 * 3_600_000
    let ranAt: number | undefined
    time.after(days, () => (ranAt = time.read().mono))
    await time.advance(days - 1)
    expect(ranAt).toBeUndefined()
    await time.advance(1)
    expect(ranAt).toBe(days)
  })
})

describe("what a callback throws", () => {
  it("comes out of advance; the clock stands there, and the next call goes on", async () => {
    const time = new VirtualTime()
    const fired: number[] = []
    time.after(5, () => {
      throw new Error("five")
    })
    time.after(5, () => fired.push(time.read().mono))
    time.after(9, () => fired.push(time.read().mono))
    await expect(time.advance(10)).rejects.toThrow("five")
    expect([time.read().mono, fired]).toEqual([5, []])
    await time.advance(5)
    expect([time.read().mono, fired]).toEqual([10, [5, 9]])
  })

  it("comes out of advanceSync, runUntilIdle and runUntil, from timers and from ready callbacks", async () => {
    const failing = (): VirtualTime => {
      const time = new VirtualTime()
      time.after(5, () =>
        time.soon(() => {
          throw new Error("soon")
        }),
      )
      return time
    }
    expect(() => failing().advanceSync(10)).toThrow("soon")
    await expect(failing().runUntilIdle()).rejects.toThrow("soon")
    await expect(failing().runUntil(new Promise(() => {}))).rejects.toThrow("soon")
  })
})

describe("the ready queue", () => {
  it("runs in order and by itself while nobody advances time, which doesn't move", async () => {
    const time = new VirtualTime()
    const order: number[] = []
    time.after(0, () => order.push(-1))
    for (let index = 0; index < 5; index++) time.soon(() => order.push(index))
    await new Promise<void>((resolve) => time.soon(resolve))
    expect(order).toEqual([0, 1, 2, 3, 4])
    expect(time.read().mono).toBe(0)
  })

  it("gives one order however often the real event loop turns between two calls", async () => {
    const orders: string[][] = []
    for (const turns of [0, 1, 7]) {
      const time = new VirtualTime()
      const order: string[] = []
      time.soon(() => order.push("ready"))
      time.after(1, () => order.push("timer"))
      for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
      await time.advance(1)
      orders.push(order)
    }
    expect(orders).toEqual([
      ["ready", "timer"],
      ["ready", "timer"],
      ["ready", "timer"],
    ])
  })
})

describe("runUntilIdle and runUntil", () => {
  it("runUntilIdle fires what foreground timers lead to, and background ones on the way, then stops as a process would", async () => {
    const time = new VirtualTime()
    const fired: string[] = []
    const beat = (): void => {
      fired.push(`beat ${time.read().mono}`)
      time.after(10, beat, { background: true })
    }
    time.after(10, beat, { background: true })
    time.after(5, () => time.after(20, () => fired.push(`work ${time.read().mono}`)))
    await time.runUntilIdle()
    expect(fired).toEqual(["beat 10", "beat 20", "work 25"])
  })

  it("runUntil settles with the promise, having moved time no further than that took", async () => {
    const time = new VirtualTime()
    time.after(99, () => {})
    const answer = new Promise<string>((resolve) => void time.after(30, () => resolve("done")))
    expect(await time.runUntil(answer)).toBe("done")
    expect(time.read().mono).toBe(30)
    await expect(time.runUntil(Promise.reject(new Error("no")))).rejects.toThrow("no")
  })

  it("runUntil says so when nothing is left that could settle the promise", async () => {
    await expect(new VirtualTime().runUntil(new Promise(() => {}))).rejects.toThrow("nothing can settle it")
  })

  it("a loop that never rests is an error that names the limit, not a hang", async () => {
    const endless = (): VirtualTime => {
      const time = new VirtualTime({ maxSteps: 100 })
      const again = (): void => void time.after(0, again)
      again()
      return time
    }
    await expect(endless().advance(1)).rejects.toThrow("maxSteps")
    await expect(endless().runUntilIdle()).rejects.toThrow("maxSteps")
    expect(() => endless().advanceSync(1)).toThrow("maxSteps")
  })

  it("two calls at once are refused, and the first isn't disturbed", async () => {
    const time = new VirtualTime()
    const first = time.advance(10)
    await expect(time.advance(5)).rejects.toThrow("advanced already")
    expect(() => time.advanceSync(5)).toThrow("advanced already")
    await first
    expect(time.read().mono).toBe(10)
  })
})

describe("disturbed clocks", () => {
  it("stepWall moves the wall clock alone, either way, and no timer", async () => {
    const time = new VirtualTime({ wall: 0 })
    let fired = 0
    time.after(10, () => fired++)
    time.stepWall(60_000)
    time.stepWall(-90_000)
    expect(time.read()).toEqual({ wall: -30_000, mono: 0, boot: 600_000 })
    await time.advance(9)
    expect(fired).toBe(0)
  })

  it("suspend moves wall and boot clock but no timer, which is late by the wall clock", async () => {
    const time = new VirtualTime({ wall: 0 })
    let firedAt: unknown
    time.after(10, () => (firedAt = time.read()))
    await time.advance(4)
    time.suspend(1000)
    await time.advance(6)
    expect(firedAt).toEqual({ wall: 1010, mono: 10, boot: 601_010 })
  })

  it("stall moves all clocks at once; what came due meanwhile runs late and in order", async () => {
    const time = new VirtualTime({ wall: 0 })
    const fired: [string, number][] = []
    time.after(20, () => fired.push(["b", time.read().mono]))
    time.after(10, () => fired.push(["a", time.read().mono]))
    time.stall(100)
    expect(time.read()).toEqual({ wall: 100, mono: 100, boot: 600_100 })
    expect(fired).toEqual([])
    await time.advance(0)
    expect(fired).toEqual([
      ["a", 100],
      ["b", 100],
    ])
  })

  it("a stall inside an advance adds to it, so that no time runs backwards", async () => {
    const time = new VirtualTime()
    time.after(5, () => time.stall(100))
    await time.advance(10)
    expect(time.read().mono).toBe(110)
  })

  it("where the boot clock can't be read the wall clock stands in, steps and all", () => {
    const time = new VirtualTime({ wall: 5000, bootClock: false })
    time.stepWall(-1000)
    expect(time.read().boot).toBe(4000)
    expect(time.bootId).toBeUndefined()
  })
})

it("ids and randoms are the seed's", () => {
  const draw = (seed: number): unknown[] => {
    const time = new VirtualTime({ seed })
    return [time.id(), time.random(), time.id(), time.random()]
  }
  expect(draw(1)).toEqual(draw(1))
  expect(draw(1)).not.toEqual(draw(2))
})
