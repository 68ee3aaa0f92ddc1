/** Asking for a key: how long it stands, and that it ends where the store says nothing any more. */
import { describe, expect, it } from "vitest"
import { ask } from "../../../src/cli/commands/asking.ts"
import { StoreUnavailableError } from "../../../src/locks/api/errors.ts"
import type { Lease } from "../../../src/locks/api/lock.ts"
import {
  eventsOf,
  failure,
  lockWorld,
  type LockWorld,
  recordOf,
  settling,
  silence,
  storeWith,
  types,
} from "../../support/lock-world.ts"

const never = new AbortController().signal

/** A key that one owns who doesn't leave. */
async function owned(): Promise<LockWorld & { readonly lease: Lease }> {
  const world = lockWorld()
  return { ...world, lease: await world.time.runUntil(world.lock("owner").acquire()) }
}

describe("who asks for a key", () => {
  // Tests command: A request stands for its `--for`, leaves no mark, and ends on a silent store.
  it("stands for as long as it was told, once, and leaves no mark", async () => {
    const world = await owned()
    const { time } = world
    const lock = world.lock("asker")
    const events = eventsOf(lock)
    const { ms, value } = await settling(time, ask({ lock, clock: time, stands: 5000, signal: never }))
    expect({ value, waits: types(events).filter((type) => type === "Waiting") }).toEqual({
      value: undefined,
      waits: ["Waiting"],
    })
    expect(ms).toBeGreaterThanOrEqual(5000)
    expect(ms).toBeLessThan(6000)
    expect(await time.runUntil(recordOf(world))).toMatchObject({ ownerId: "owner", waitingOwnerId: null })
  })

  it("gives up half a minute later at the latest where the store falls silent, and says so", async () => {
    const world = await owned()
    const { time } = world
    let reads = 0
    const store = storeWith(world.store, {
      read: (ref, options) => (reads++ === 0 ? world.store.read(ref, options) : silence()),
      put: () => silence(),
      remove: () => silence(),
    })
    const lock = world.lock("asker", { store })
    const { ms, value } = await settling(time, failure(ask({ lock, clock: time, stands: 5000, signal: never })))
    expect(value).toBeInstanceOf(StoreUnavailableError)
    expect(ms).toBeGreaterThan(34_000)
    expect(ms).toBeLessThan(36_000)
  })

  it("has asked where the store falls silent once the mark stands", async () => {
    const world = await owned()
    const { time } = world
    let silent = false
    const store = storeWith(world.store, {
      read: (ref, options) => (silent ? silence() : world.store.read(ref, options)),
      put: (...words) => (silent ? silence() : world.store.put(...words)),
      remove: (...words) => (silent ? silence() : world.store.remove(...words)),
    })
    const lock = world.lock("asker", { store })
    lock.events$.subscribe(({ type }) => (silent ||= type === "Waiting"))
    const { ms, value } = await settling(time, ask({ lock, clock: time, stands: 60_000, signal: never }))
    expect({ silent, value }).toEqual({ silent: true, value: undefined })
    expect(ms).toBeGreaterThanOrEqual(60_000)
    expect(ms).toBeLessThan(66_000) // it has 5 s to take its mark back
  })
})
