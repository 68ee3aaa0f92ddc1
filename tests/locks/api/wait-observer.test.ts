/** What a waiting call tells its observer: what it waits for, each look, the time, and exactly one ending. */
import { describe, expect, it } from "vitest"
import { InvalidConfigError } from "../../../src/locks/api/errors.ts"
import type { AcquireOptions, Lease } from "../../../src/locks/api/lock.ts"
import { type LockWaitEvent, LockWaitEvents, type LockWaitObserver } from "../../../src/locks/api/wait-observer.ts"
import { logWaits } from "../../../src/locks/waits/log.ts"
import { terminalWaits } from "../../../src/locks/waits/terminal.ts"
import { expectRest, failure, KEY, lockWorld, silence, spaced, storeWith } from "../../support/lock-world.ts"
import { failRead, late } from "../../support/scripted-store.ts"

/** An observer that keeps what it hears. */
function listener(options: { readonly progressEvery?: "100 ms" | "10 s" } = {}) {
  const observer = new LockWaitEvents(options)
  const events: LockWaitEvent[] = []
  observer.events$.subscribe((event) => events.push(event))
  return { observer, events, types: () => events.map(({ type }) => type) }
}

const endings = new Set(["acquired", "timedOut", "cancelled", "failed"])
const endingsOf = (events: readonly LockWaitEvent[]): string[] =>
  events.map(({ type }) => type).filter((type) => endings.has(type))

/** Fewer of the same in a row count as one. */
const shape = (types: readonly string[]): string => types.filter((type, index) => type !== types[index - 1]).join(" ")

const settled = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error)

describe("the observer of a call that waits", () => {
  // Tests waits: A waiting call's observer gets each look and exactly one ending; otherwise the ending alone.
  it("hears that it waits, for whom, each look, the time, and that it has got the key", async () => {
    const { time, lock } = lockWorld()
    const held = await time.runUntil(lock("a").acquire())
    await time.advance(7000)
    const { observer, events, types } = listener()
    const call = lock("b").acquire({ observer, timeout: "10 s" })
    await time.advance(4500)
    await time.runUntil(held.release())
    const lease = await time.runUntil(call)
    expect(types()[0]).toBe("waitStarted")
    expect(types().at(-1)).toBe("acquired")
    const seconds = Math.floor((events.at(-1) as { elapsedMs: number }).elapsedMs / 1000)
    expect(seconds).toBeGreaterThanOrEqual(4)
    expect(types().filter((type) => type === "progress")).toHaveLength(seconds)
    expect(types().filter((type) => type === "retry").length).toBeGreaterThan(8)
    expect(events[0]).toMatchObject({
      key: KEY,
      waitingFor: "holder",
      elapsedMs: 0,
      remainingMs: 10_000,
      limitMs: 10_000,
    })
    expect(events[0]).toMatchObject({ holder: { ownerId: "a", token: held.token }, source: "the timeout option" })
    expect(events.at(-1)).toMatchObject({ waited: true, token: lease.token })
    const { elapsedMs } = events.at(-1)!
    expect(elapsedMs).toBeGreaterThanOrEqual(4500)
    expect(elapsedMs).toBeLessThan(5600)
    await time.runUntil(lease.release())
    await expectRest(time)
    expect(endingsOf(events)).toEqual(["acquired"])
  })

  it("is told with every event how much of the budget is gone and left, and the same name of the call", async () => {
    const { time, lock } = lockWorld()
    await time.runUntil(lock("a").acquire())
    const { observer, events } = listener({ progressEvery: "100 ms" })
    const from = time.mono()
    const told: number[] = []
    observer.events$.subscribe(() => told.push(time.mono() - from))
    await time.runUntil(failure(lock("b").acquire({ observer, timeout: "3 s" })))
    expect(events.length).toBeGreaterThan(30)
    expect(events.map(({ elapsedMs }) => elapsedMs)).toEqual(told.map(Math.round))
    for (const { elapsedMs, remainingMs, limitMs } of events) {
      expect(limitMs).toBe(3000)
      expect(remainingMs).toBe(Math.max(0, 3000 - elapsedMs))
    }
    expect(new Set(events.map(({ wait }) => wait)).size).toBe(1)
  })

  it("hears how long the holder has had the key, by its record", async () => {
    const { time, lock } = lockWorld()
    await time.runUntil(lock("a").acquire())
    await time.advance(95_000)
    const { observer, events } = listener()
    await time.runUntil(failure(lock("b").acquire({ observer, timeout: "3 s" })))
    const held = events.flatMap((event) => ("heldMs" in event ? [event] : []))
    expect(held.length).toBeGreaterThan(5)
    for (const { heldMs, elapsedMs } of held) expect(Math.abs(heldMs! - 95_000 - elapsedMs)).toBeLessThanOrEqual(2)
  })

  it("hears how long it has seen the holder, where the record doesn't tell", async () => {
    const { time, lock } = lockWorld({ capabilities: { clock: "none", sameClock: false } })
    await time.runUntil(lock("a").acquire())
    await time.advance(95_000)
    const { observer, events } = listener()
    await time.runUntil(failure(lock("b").acquire({ observer, timeout: "3 s" })))
    const held = events.flatMap((event) => ("heldMs" in event ? [event.heldMs] : []))
    expect(held[0]).toBe(0)
    expect(Math.max(...held.map(Number))).toBeGreaterThan(2000)
    expect(Math.max(...held.map(Number))).toBeLessThanOrEqual(3010)
  })

  it("hears nothing but the ending of a call that needn't wait", async () => {
    const { time, lock } = lockWorld()
    const { observer, events } = listener()
    const lease = await time.runUntil(lock("a").acquire({ observer }))
    expect(events).toEqual([
      {
        ...{ type: "acquired", wait: events[0]!.wait, at: events[0]!.at, key: KEY, elapsedMs: 0, remainingMs: 30_000 },
        ...{ limitMs: 30_000, source: "the default timeout of 30 s", waited: false, retries: 0, token: lease.token },
      },
    ])
  })

  it("hears nothing but the ending of a call that won't wait", async () => {
    const { time, lock } = lockWorld()
    await time.runUntil(lock("a").acquire())
    const heard: string[] = []
    let waiter: Promise<unknown> = Promise.resolve()
    for (const options of [{ timeout: 0 }, { whenOwned: "report" }, { contention: "fail" }] as AcquireOptions[]) {
      const { observer, types } = listener()
      if (heard.length === 2) waiter = failure(lock("b").acquire())
      await time.advance(1000)
      await time.runUntil(settled(lock("c").acquire({ ...options, observer })))
      heard.push(types().join(" "))
    }
    expect(heard).toEqual(["timedOut", "failed", "failed"]) // the last: another waits already
    await time.runUntil(waiter)
  })

  it("hears of the wait behind an earlier call of its own process, and of the one for the key after it", async () => {
    const { time, lock } = lockWorld()
    const mine = await time.runUntil(lock("a").acquire())
    const { observer, events, types } = listener()
    const call = lock("a").acquire({ observer, timeout: "infinite" })
    await time.advance(3000)
    expect(events[0]).toMatchObject({ type: "waitStarted", waitingFor: "process", holder: { ownerId: "a" } })
    expect(events[0]).toMatchObject({ remainingMs: Infinity, limitMs: Infinity })
    expect(shape(types())).toBe("waitStarted progress")
    const other = lock("b").acquire()
    await time.advance(2000)
    await time.runUntil(mine.release())
    const theirs = await time.runUntil(other)
    await time.advance(3000)
    expect(events.at(-1)).toMatchObject({ waitingFor: "holder", holder: { ownerId: "b" } })
    await time.runUntil(theirs.release())
    await time.runUntil(call)
    expect(types().filter((type) => type === "waitStarted")).toHaveLength(1)
    expect(endingsOf(events)).toEqual(["acquired"])
  })

  it("hears of the wait for a store that starts, is silent or fails", async () => {
    const world = lockWorld()
    const { time, store } = world
    const starts = listener()
    const starting = storeWith(store, { start: () => new Promise((resolve) => void time.after(2500, resolve)) })
    const lease = await time.runUntil(world.lock("a", { store: starting }).acquire({ observer: starts.observer }))
    await time.runUntil(lease.release())
    expect(starts.types()).toEqual(["waitStarted", "progress", "acquired"])
    expect(starts.events[0]).toMatchObject({ waitingFor: "store", elapsedMs: 1000 })

    const fails = listener()
    store.script.onRead(failRead(), failRead(), failRead())
    await time.runUntil(world.lock("b").acquire({ observer: fails.observer, timeout: "20 s" }))
    expect(fails.events[0]).toMatchObject({ type: "waitStarted", waitingFor: "store", elapsedMs: 0 })
    expect(fails.types().filter((type) => type === "retry")).toHaveLength(3)

    const silent = listener()
    const mute = storeWith(store, { read: silence })
    await time.runUntil(
      failure(world.lock("c", { store: mute }).acquire({ observer: silent.observer, timeout: "5 s" })),
    )
    expect(silent.events[0]).toMatchObject({ type: "waitStarted", waitingFor: "store", elapsedMs: 1000 })
    expect(silent.events.at(-1)).toMatchObject({
      type: "failed",
      waited: true,
      error: { _tag: "StoreUnavailableError" },
    })
  })

  it.each([
    ["cheap reads", {}],
    ["spaced writes", spaced],
  ])("hears exactly one ending, whatever that is (%s)", async (_, capabilities) => {
    const { time, lock, errors } = lockWorld({ capabilities })
    const held = await time.runUntil(lock("a").acquire())
    await time.advance(3000)
    const controller = new AbortController()
    const [timesOut, isCancelled, contends, gets] = [listener(), listener(), listener(), listener()]
    const outcomes = [
      settled(lock("b").acquire({ observer: timesOut.observer, contention: "retry", timeout: "8 s" })),
      settled(lock("c").acquire({ observer: isCancelled.observer, contention: "retry", signal: controller.signal })),
      settled(lock("e").acquire({ observer: gets.observer, contention: "retry", timeout: "2 min" })),
    ]
    await time.advance(6000)
    outcomes.push(settled(lock("d").acquire({ observer: contends.observer, contention: "fail" })))
    await time.advance(1000)
    controller.abort()
    await time.advance(4000)
    await time.runUntil(held.release())
    const [, , lease] = await time.runUntil(Promise.all(outcomes))
    await time.runUntil((lease as Lease).release())
    await expectRest(time)
    expect([timesOut, isCancelled, contends, gets].map(({ events }) => endingsOf(events).join(" "))).toEqual([
      "timedOut",
      "cancelled",
      "failed",
      "acquired",
    ])
    for (const { types } of [timesOut, isCancelled, gets]) {
      expect(types()[0]).toBe("waitStarted")
      expect(endings.has(types().at(-1)!)).toBe(true)
    }
    expect(timesOut.events.at(-1)).toMatchObject({ error: { _tag: "LockTimeoutError", limitMs: 8000 } })
    expect(isCancelled.events.at(-1)).toMatchObject({ error: { _tag: "LockCancelledError" } })
    expect(errors).toEqual([])
  })

  it("hears the cancelled ending of a call whose signal had aborted before", async () => {
    const { time, lock } = lockWorld()
    const { observer, types } = listener()
    await time.runUntil(failure(lock("a").acquire({ observer, signal: AbortSignal.abort() })))
    expect(types()).toEqual(["cancelled"])
    await expectRest(time)
  })
})

describe("an observer", () => {
  // Tests waits: An observer changes nothing of its call.
  it("that throws, or rejects, changes nothing: its errors go to onError, and it hears on", async () => {
    const outcome = async (observer?: LockWaitObserver) => {
      const world = lockWorld({ seed: 7 })
      const { time, lock, store, errors } = world
      await time.runUntil(lock("a").acquire())
      const error = await time.runUntil(failure(lock("b").acquire({ timeout: "3 s", ...(observer && { observer }) })))
      const requests = store.script.requests.map(({ op, name }) => `${op} ${name}`)
      return { message: error.message, requests, errors: errors.length, at: time.mono() }
    }
    let heard = 0
    const throws = (): never => {
      heard++
      throw new Error("broken")
    }
    const rejects = async (): Promise<never> => throws()
    const quiet = await outcome()
    const loud = await outcome({ waitStarted: throws, retry: rejects, progress: throws, timedOut: rejects })
    expect(heard).toBeGreaterThan(5)
    expect(loud.errors).toBe(heard)
    expect(loud.requests.length).toBeGreaterThan(5)
    expect(Math.abs(loud.at - quiet.at)).toBeLessThanOrEqual(10)
    expect(loud.message.replaceAll(/\d+/g, "")).toBe(quiet.message.replaceAll(/\d+/g, ""))
  })

  it("may cancel the very call that it watches, and acquire and release from inside", async () => {
    const { time, lock, errors } = lockWorld()
    const held = await time.runUntil(lock("a").acquire())
    const controller = new AbortController()
    const cancels: LockWaitObserver = { waitStarted: () => controller.abort() }
    const error = await time.runUntil(failure(lock("b").acquire({ observer: cancels, signal: controller.signal })))
    expect(error).toMatchObject({ _tag: "LockCancelledError" })
    await time.runUntil(held.release())
    const c = lock("c")
    const released: unknown[] = []
    const lets: LockWaitObserver = { acquired: async () => void released.push(await c.release()) }
    const lease = await time.runUntil(c.acquire({ observer: lets }))
    await time.advance(100)
    expect(released).toEqual(["released"])
    expect(lease.isHeld()).toBe(false)
    expect(errors).toEqual([])
  })

  it("keeps its `this`, and may have any of the methods", async () => {
    const { time, lock } = lockWorld()
    class Counting implements LockWaitObserver {
      count = 0
      acquired(): void {
        this.count++
      }
    }
    const observer = new Counting()
    const lease = await time.runUntil(lock("a").acquire({ observer }))
    await time.runUntil(lease.release())
    await time.runUntil(lock("a").acquire({ observer: {} }))
    expect(observer.count).toBe(1)
  })

  // Tests input: Unknown options of locks, acquires, providers, observers and budgets are refused.
  it("that is none is refused by name, before anything is sent", async () => {
    const { store, lock } = lockWorld()
    const bad: readonly [unknown, string][] = [
      ["console", 'observer is "console"'],
      [null, "observer is null"],
      [{ retry: 5 }, "retry of the observer is no function"],
      [{ progressEvery: "soon" }, "progressEvery"],
      [{ progressEvery: 1 }, "progressEvery of the observer is 1 ms"],
    ]
    for (const [observer, says] of bad) {
      const error = await failure(lock("a").acquire({ observer: observer as LockWaitObserver }))
      expect(error).toBeInstanceOf(InvalidConfigError)
      expect(error.message).toContain(says)
    }
    expect(store.script.requests).toEqual([])
  })

  // Tests waits.
  it("is read after the step too: a getter that throws changes nothing of the call", async () => {
    const { time, errors, lock } = lockWorld()
    let reads = 0
    const observer = {
      get acquired(): () => void {
        if (++reads > 2) throw new RangeError("of the getter") // first the observer is checked
        return () => {}
      },
    }
    const lease = await time.runUntil(lock("a").acquire({ observer }))
    expect(lease.isHeld()).toBe(true)
    await time.runUntil(lease.release())
    expect(errors).toEqual([new RangeError("of the getter")])
  })

  // Tests input.
  it("as LockWaitEvents, logWaits and terminalWaits refuses options that nobody reads", () => {
    const makers: readonly [string, (options: never) => unknown][] = [
      ["LockWaitEvents", (options) => new LockWaitEvents(options)],
      ["logWaits", (options) => logWaits(() => {}, options)],
      ["terminalWaits", (options) => terminalWaits(options)],
    ]
    for (const [name, maker] of makers) {
      expect(() => maker({ every: 5 } as never)).toThrow(`every is no option of ${name}`)
      expect(() => maker(null as never)).toThrow(InvalidConfigError)
    }
    expect(() => logWaits("stderr" as never)).toThrow(InvalidConfigError)
  })

  it("of several calls tells them apart by their names, and a late answer tells nothing more", async () => {
    const { time, store, lock } = lockWorld()
    await time.runUntil(lock("a").acquire())
    const { observer, events } = listener()
    const calls = ["b", "c"].map((id) => failure(lock(id).acquire({ observer, contention: "retry", timeout: "4 s" })))
    await time.advance(3500)
    store.script.onRead(late(2000), late(2000))
    await time.runUntil(Promise.all(calls))
    await time.advance(10_000)
    const names = new Set(events.map(({ wait }) => wait))
    expect(names.size).toBe(2)
    for (const name of names) {
      const own = events.filter(({ wait }) => wait === name)
      expect(endingsOf(own)).toEqual(["timedOut"])
      expect(own.at(-1)!.type).toBe("timedOut")
    }
  })
})
