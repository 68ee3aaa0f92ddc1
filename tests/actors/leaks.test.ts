import { describe, expect, it } from "vitest"
import { type Clock, memoryStore, SandboxManager } from "../../src/mod.ts"
import { liveClock } from "../../src/runtime/time/clock.ts"
import { heapInUse } from "../support/gc.ts"
import { counter } from "./world.ts"

/** This process's clock, with a count of the timers that have neither run nor been cancelled. */
const countingClock = () => {
  const pending = new Set<object>()
  const clock: Clock = {
    read: () => liveClock.read(),
    mono: () => liveClock.mono(),
    random: () => liveClock.random(),
    id: () => liveClock.id(),
    soon: (callback) => liveClock.soon(callback),
    bootId: liveClock.bootId,
    after: (ms, callback, options) => {
      const own = {}
      pending.add(own)
      const elapsed = (): void => {
        pending.delete(own)
        callback()
      }
      const timer = liveClock.after(ms, elapsed, options)
      return {
        cancel: () => {
          pending.delete(own)
          timer.cancel()
        },
      }
    },
  }
  return { clock, pending }
}

/** The listeners that a signal has from now on. */
const listenersOf = (signal: AbortSignal): readonly unknown[] => {
  const listeners: unknown[] = []
  const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)]
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners.push(args[1])
    add(...args)
  }
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    const index = listeners.indexOf(args[1])
    if (index >= 0) listeners.splice(index, 1)
    remove(...args)
  }
  return listeners
}

describe("2,700 cycles of use and release, live", () => {
  // Tests leftovers: 10,000 acquires and releases, and 1,500 sandboxes, leave nothing; an idle process ends.
  it("leave no timer, no listener, no sandbox and no heap behind", async () => {
    const { clock, pending } = countingClock()
    const { signal } = new AbortController()
    const listeners = listenersOf(signal)
    const sandbox = counter({ idleAfter: "1 h", checkpointEvery: "1 h" })
    const manager = await SandboxManager.start({ store: memoryStore(), sandboxes: [sandbox], clock })
    const cycles = async (count: number): Promise<number> => {
      for (let i = 0; i < count; i++) {
        const handle = await manager.restoreSandbox(sandbox, "k", { signal })
        await handle.use((state) => ++state.n, { signal })
        await handle.release()
      }
      return heapInUse()
    }
    // What the runtime compiles and remembers of its code comes in jumps, fewer and fewer: they must not count as much
    // as many cycles.
    const [before, after] = [await cycles(1100), await cycles(1600)]
    expect(await manager.readCheckpoint(sandbox, "k")).toEqual({ n: 2700 })
    expect((after - before) / 1600, "bytes a cycle").toBeLessThan(200)
    expect([...manager.sandboxes()]).toEqual([])
    expect(listeners).toEqual([])
    expect(pending.size).toBe(0)
    await manager[Symbol.asyncDispose]()
  })
})

describe("1,000 uses of one sandbox", () => {
  it("leave no listener on its lease and no timer", async () => {
    const { clock, pending } = countingClock()
    const sandbox = counter()
    await using manager = await SandboxManager.start({ store: memoryStore(), sandboxes: [sandbox], clock })
    const handle = await manager.restoreSandbox(sandbox, "k")
    const listeners = listenersOf(handle.lease.signal)
    const before = pending.size
    for (let i = 0; i < 1000; i++) {
      await handle.use(
        (state, { signal }) => {
          state.n += signal.aborted ? 0 : 1
        },
        { durable: i % 10 === 0 },
      )
    }
    expect(await handle.use(({ n }) => n)).toBe(1000)
    expect(listeners).toEqual([])
    expect(pending.size).toBeLessThanOrEqual(before)
  })
})
