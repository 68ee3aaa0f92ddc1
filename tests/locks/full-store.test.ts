/** What somebody has to make room for first is said at once, by whoever starts on the store. */
import { expect, it } from "vitest"
import { type LockError, StoreUnavailableError } from "../../src/locks/api/errors.ts"
import { StoreLock } from "../../src/locks/lock/store-lock.ts"
import { memoryStore } from "../../src/locks/stores/memory-store.ts"
import type { LeaseStore } from "../../src/locks/stores/port.ts"
import { probe } from "../../src/locks/stores/probe.ts"
import { VirtualTime } from "../../src/runtime/time/virtual-time.ts"
import { storeWith } from "../support/lock-world.ts"

const full = new StoreUnavailableError({ message: "The directory is full", next: "Make room", status: "ENOSPC" })

// Tests command: On a full store a start fails at once, reads work, and runs last as long as their leases.
it("a lock doesn't wait for a start that lacks room", async () => {
  const clock = new VirtualTime()
  const store = Object.assign(memoryStore({ clock }), { start: () => Promise.reject(full) })
  const from = clock.mono()
  const acquired = new StoreLock("k", { store, clock }).acquire({ timeout: "10 min" })
  expect(await clock.runUntil(acquired.catch((error: LockError) => error))).toBe(full)
  expect(clock.mono() - from).toBeLessThan(200)
})

it("nor does the probe of a start", async () => {
  const clock = new VirtualTime()
  const memory = memoryStore({ clock })
  const store = {
    ...{ name: "a full store", read: memory.read.bind(memory), remove: memory.remove.bind(memory) },
    put: async () => ({ kind: "unknown", error: full }) as const,
  }
  const from = clock.mono()
  const probed = probe(store, clock, { deadline: 30_000 })
  expect(await clock.runUntil(probed.catch((error: LockError) => error))).toBe(full)
  expect(clock.mono() - from).toBe(0)
})

/** Starts, shows what it holds, and has no room for a write once it is told so. */
function filled(clock: VirtualTime): {
  readonly store: LeaseStore
  readonly fill: () => void
  readonly empty: () => void
} {
  const memory = memoryStore({ clock })
  let isFull = false
  const store = storeWith(memory, {
    put: async (ref, expected, body, options) =>
      isFull ? { kind: "unknown", error: full } : memory.put(ref, expected, body, options),
  })
  return { store, fill: () => void (isFull = true), empty: () => void (isFull = false) }
}

it("an acquire ends at once that finds no room for its claim", async () => {
  const clock = new VirtualTime()
  const { store, fill } = filled(clock)
  fill()
  const from = clock.mono()
  const acquired = new StoreLock("k", { store, clock }).acquire({ timeout: "10 min" })
  expect(await clock.runUntil(acquired.catch((error: LockError) => error))).toBe(full)
  expect(clock.mono() - from).toBeLessThan(200)
})

it("nor does one wait that finds none for its mark", async () => {
  const clock = new VirtualTime()
  const { store, fill } = filled(clock)
  const lock = (id: string): StoreLock => new StoreLock("k", { store, clock, incarnation: { id } })
  const lease = await clock.runUntil(lock("a").acquire())
  fill()
  const from = clock.mono()
  const acquired = lock("b").acquire({ timeout: "10 min" })
  expect(await clock.runUntil(acquired.catch((error: LockError) => error))).toBe(full)
  expect(clock.mono() - from).toBeLessThan(200)
  expect(lease.isHeld()).toBe(true)
})

it("a grant that comes to who gave up meanwhile is released once there is room again, behind the call", async () => {
  const clock = new VirtualTime()
  const { store, fill, empty } = filled(clock)
  const lock = (id: string): StoreLock => new StoreLock("k", { store, clock, incarnation: { id } })
  const lease = await clock.runUntil(lock("a").acquire())
  const stop = new AbortController()
  const given = lock("b").acquire({ signal: stop.signal })
  await clock.advance(20_000)
  await clock.runUntil(lease.release()) // by a grant, which its waiter has not seen yet
  fill()
  const from = clock.mono()
  stop.abort()
  expect(await clock.runUntil(given.catch((error: LockError) => error))).toMatchObject({ _tag: "LockCancelledError" })
  expect(clock.mono() - from).toBeLessThan(200)
  await clock.advance(1000)
  empty()
  const next = await clock.runUntil(lock("c").acquire())
  expect(next.isHeld()).toBe(true)
  expect(clock.mono() - from).toBeLessThan(5000)
})
