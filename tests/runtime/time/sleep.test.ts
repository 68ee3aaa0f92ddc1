/** The wait on a clock: when it ends, and that it leaves nothing behind. */
import { getEventListeners } from "node:events"
import { describe, expect, it } from "vitest"
import { sleep } from "../../../src/runtime/time/sleep.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"

const asleep = (time: VirtualTime, ms: number, signal?: AbortSignal): { readonly over: boolean } => {
  const state = { over: false }
  void sleep(time, ms, signal).then(() => (state.over = true))
  return state
}

describe("a sleep", () => {
  it("ends when its time is over, and not before", async () => {
    const time = new VirtualTime()
    const state = asleep(time, 100)
    await time.advance(99)
    expect(state.over).toBe(false)
    await time.advance(1)
    expect(state.over).toBe(true)
  })

  it("ends as soon as its signal aborts, and without rejecting", async () => {
    const time = new VirtualTime()
    const abort = new AbortController()
    const state = asleep(time, 100, abort.signal)
    abort.abort()
    await time.advance(0)
    expect(state.over).toBe(true)
  })

  it("ends at once where its signal has aborted", async () => {
    const time = new VirtualTime()
    const state = asleep(time, 100, AbortSignal.abort())
    await time.advance(0)
    expect(state.over).toBe(true)
  })

  it("leaves no listener behind, however it ends", async () => {
    const time = new VirtualTime()
    const abort = new AbortController()
    asleep(time, 100, abort.signal)
    await time.advance(100)
    expect(getEventListeners(abort.signal, "abort")).toHaveLength(0)
    asleep(time, 100, abort.signal)
    abort.abort()
    expect(getEventListeners(abort.signal, "abort")).toHaveLength(0)
  })
})
