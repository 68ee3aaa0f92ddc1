/** What somebody has to make room for first is said at once, by whoever starts on the store. */
import { expect, it } from "vitest"
import { type LockError, StoreUnavailableError } from "../../src/locks/errors.ts"
import { StoreLock } from "../../src/locks/store-lock.ts"
import { memoryStore } from "../../src/locks/stores/memory.ts"
import { probe } from "../../src/locks/stores/probe.ts"
import { VirtualTime } from "../../src/runtime/virtual-time.ts"

const full = new StoreUnavailableError({ message: "The directory is full", next: "Make room", status: "ENOSPC" })

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
