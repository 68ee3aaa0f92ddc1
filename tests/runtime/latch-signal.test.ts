import { once } from "node:events"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { anySignal, type LatchedAbort, latchedAbort } from "../../src/runtime/latch-signal.ts"

/** A signal that is over from a deadline on, by a clock that the test moves. */
const withDeadline = (): { latch: LatchedAbort; clock: { now: number; checks: number }; events: unknown[] } => {
  const clock = { now: 0, checks: 0 }
  const latch: LatchedAbort = latchedAbort(() => {
    clock.checks++
    if (clock.now >= 10) latch.abort(new Error("past the deadline"))
  })
  const events: unknown[] = []
  latch.signal.addEventListener("abort", () => events.push(latch.signal.reason))
  return { latch, clock, events }
}

describe("a latched signal", () => {
  it("is right when it is read, and then dispatches its abort once", () => {
    const { latch, clock, events } = withDeadline()
    expect([latch.signal.aborted, latch.signal.reason, events.length]).toEqual([false, undefined, 0])
    clock.now = 10
    expect([latch.signal.aborted, latch.signal.aborted, events.length]).toEqual([true, true, 1])
    expect(String(latch.signal.reason)).toBe("Error: past the deadline")
  })

  it("throws from throwIfAborted with the reason, by time alone", () => {
    const { latch, clock } = withDeadline()
    latch.signal.throwIfAborted()
    clock.now = 10
    expect(() => latch.signal.throwIfAborted()).toThrow("past the deadline")
  })

  it("stays aborted, with its first reason, and asks no more", () => {
    const { latch, clock, events } = withDeadline()
    latch.abort("first")
    latch.abort("second")
    const { checks } = clock
    clock.now = 10
    expect([latch.signal.aborted, latch.signal.reason, events]).toEqual([true, "first", ["first"]])
    expect(clock.checks).toBe(checks)
  })

  it("may be read by its own abort listeners and by its own check", () => {
    const seen: boolean[] = []
    const latch: LatchedAbort = latchedAbort(() => {
      seen.push(latch.signal.aborted)
      latch.abort("over")
    })
    latch.signal.addEventListener("abort", () => seen.push(latch.signal.aborted))
    expect(latch.signal.aborted).toBe(true)
    expect(seen).toEqual([false, true])
  })

  it("asks nothing when it is aborted from outside, although a runtime reads the signal then", () => {
    const { latch, clock, events } = withDeadline()
    latch.abort(new Error("left"))
    expect([clock.checks, events.length]).toEqual([0, 1])
  })

  it("gives the first reason where the check aborts during an abort from outside", () => {
    const { latch, clock, events } = withDeadline()
    clock.now = 10
    latch.abort("from outside")
    expect(events).toEqual([latch.signal.reason])
    expect(latch.signal.aborted).toBe(true)
  })

  it("lets what its check throws out to the reader, and asks again next time", () => {
    let broken = true
    const { signal } = latchedAbort(() => {
      if (broken) throw new Error("check failed")
    })
    expect(() => signal.aborted).toThrow("check failed")
    broken = false
    expect(signal.aborted).toBe(false)
  })

  it("is an AbortSignal to whoever looks", () => {
    const { signal } = latchedAbort(() => {})
    expect(signal).toBeInstanceOf(AbortSignal)
    expect(AbortSignal.any([signal]).aborted).toBe(false)
  })
})

describe("a derived signal", () => {
  it("is right by time when its source is, and takes its reason", () => {
    const { latch, clock } = withDeadline()
    const derived = anySignal(undefined, new AbortController().signal, latch.signal)
    const twice = anySignal(derived.signal)
    expect(twice.signal.aborted).toBe(false)
    clock.now = 10
    expect(() => twice.signal.throwIfAborted()).toThrow("past the deadline")
    expect(derived.signal.reason).toBe(latch.signal.reason)
  })

  it("dispatches when a source does, is aborted from the start with an aborted source, and aborts no source", () => {
    const controller = new AbortController()
    const derived = anySignal(controller.signal)
    let events = 0
    derived.signal.addEventListener("abort", () => events++)
    controller.abort("gone")
    expect([events, derived.signal.reason]).toEqual([1, "gone"])
    expect(anySignal(controller.signal).signal.aborted).toBe(true)

    const source = new AbortController()
    anySignal(source.signal).abort("mine")
    expect(source.signal.aborted).toBe(false)
  })

  it("has its own check beside its sources", () => {
    const source = new AbortController()
    const derived: LatchedAbort = latchedAbort(() => derived.abort("own check"), [source.signal])
    expect(derived.signal.aborted).toBe(true)
    expect(derived.signal.reason).toBe("own check")
  })

  it("leaves no listener on its sources once aborted or disposed, 10,000 times over", () => {
    const { signal } = new AbortController()
    let listeners = 0
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    Object.assign(signal, {
      addEventListener: (...args: Parameters<typeof add>) => (listeners++, add(...args)),
      removeEventListener: (...args: Parameters<typeof remove>) => (listeners--, remove(...args)),
    })
    for (let cycle = 0; cycle < 10_000; cycle++) {
      const derived = anySignal(signal)
      if (cycle % 2 === 0) derived.abort("done")
      else derived[Symbol.dispose]()
    }
    expect(listeners).toBe(0)
  })

  it("disposed, still tells by reading, but no longer listens", () => {
    const controller = new AbortController()
    const derived = anySignal(controller.signal)
    let events = 0
    derived.signal.addEventListener("abort", () => events++)
    derived[Symbol.dispose]()
    controller.abort("late")
    expect(events).toBe(0)
    expect([derived.signal.aborted, events]).toEqual([true, 1])
  })
})

describe("fetch with a latched signal", () => {
  let server: Server
  let url: string
  let requests = 0

  beforeAll(async () => {
    server = createServer(() => requests++) // never answers
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  const outcome = (signal: AbortSignal): Promise<string> => fetch(url, { signal }).then(() => "answered", String)

  it("isn't sent once its reader found it past the deadline", async () => {
    const { latch, clock } = withDeadline()
    clock.now = 10
    expect(latch.signal.aborted).toBe(true)
    expect(await outcome(latch.signal)).toContain("past the deadline")
    expect(requests).toBe(0)
  })

  it("in flight is aborted by whoever reads the signal past the deadline", async () => {
    const { latch, clock } = withDeadline()
    const arrived = once(server, "request")
    const answer = outcome(latch.signal)
    await arrived
    clock.now = 10
    expect(latch.signal.aborted).toBe(true)
    expect(await answer).toContain("past the deadline")
  })

  it("in flight is aborted by a dispatch, also through a derived signal", async () => {
    for (const derive of [(signal: AbortSignal) => signal, (signal: AbortSignal) => anySignal(signal).signal]) {
      const { latch } = withDeadline()
      const arrived = once(server, "request")
      const answer = outcome(derive(latch.signal))
      await arrived
      latch.abort(new Error("dispatched"))
      expect(await answer).toContain("dispatched")
    }
  })
})
