/**
 * What a lock makes of a fault of the protocol itself, such as a store brings about that answers with what is no time:
 * it reports the fault, acts on the key no more, and serves the next caller.
 */
import { describe, expect, it } from "vitest"
import type { WriteAnswer } from "../../src/locks/stores/port.ts"
import type { VirtualTime } from "../../src/runtime/time/virtual-time.ts"
import { expectRest, failure, lockWorld, type LockWorld } from "../support/lock-world.ts"

/** The generation that the last write made. */
function written({ store }: LockWorld): string {
  const answer = store.script.requests.findLast(({ op }) => op === "put")?.answer as WriteAnswer
  if (answer.kind !== "applied") throw new Error(`the last write was ${answer.kind}`)
  return answer.generation
}

/** What a call rejects with that is made while one of the clocks tells no time. */
async function failureWithoutBootClock(time: VirtualTime, call: () => Promise<unknown>): Promise<unknown> {
  const read = time.read.bind(time)
  time.read = () => ({ ...read(), boot: Number.NaN })
  const error = await time.runUntil(failure(call()))
  time.read = read
  return error
}

describe("a fault of the protocol", () => {
  it("under an owner is reported, and loses the lease at once", async () => {
    const world = lockWorld()
    const { time, store, errors, lock } = world
    const a = lock("a")
    const lease = await time.runUntil(a.acquire())
    const noTime = { kind: "unchanged", generation: written(world), storeTime: Number.NaN } as const
    store.script.onRead({ before: "lost", instead: noTime })
    await time.advance(3000)
    expect(store.script.pending).toBe(0)
    expect(errors).toMatchObject([{ _tag: "ProtocolFaultError", code: "LEASEHOLD_FAULT", key: "orders/7" }])
    expect(lease.isHeld()).toBe(false)
    expect(lease.signal.aborted).toBe(true)
    expect(lease.signal.reason).toMatchObject({ _tag: "LockLostError", reason: "fault", cause: errors[0] })
    expect(await time.runUntil(lease.release())).toBe("alreadyLost")

    const again = await time.runUntil(a.acquire())
    expect(again.isHeld()).toBe(true)
    expect(again.token).toBeGreaterThan(lease.token)
    await time.runUntil(again.release())
    await expectRest(time)
  })

  it("while it is acquired rejects the call, and the one behind it gets the key", async () => {
    const { time, store, errors, lock } = lockWorld()
    const a = lock("a")
    store.script.onPut({ instead: { kind: "applied", generation: "1", storeTime: Number.NaN } })
    const [first, second] = [failure(a.acquire()), a.acquire()]
    expect(await time.runUntil(first)).toMatchObject({ _tag: "ProtocolFaultError", retryable: false })
    expect(errors).toHaveLength(1)
    const lease = await time.runUntil(second)
    expect(lease.isHeld()).toBe(true)
    await time.runUntil(lease.release())
    await expectRest(time)
  })

  it("as an acquire begins rejects it, and ends its turn", async () => {
    const { time, lock } = lockWorld()
    const a = lock("a")
    const error = await failureWithoutBootClock(time, () => a.acquire())
    expect(error).toMatchObject({ _tag: "ProtocolFaultError" })
    const lease = await time.runUntil(a.acquire())
    expect(lease.isHeld()).toBe(true)
    await time.runUntil(lease.release())
    await expectRest(time)
  })
})
