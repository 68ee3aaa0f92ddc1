/**
 * Who waits for a lock in a directory is woken by the system: by real writes and the real end of another process, where
 * no look is due any more, since the timers of who waits have stopped.
 */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { StoreLock } from "../../src/locks/lock/store-lock.ts"
import { fileStore } from "../../src/locks/stores/file/mod.ts"
import { type Clock, liveClock, type Reading, type Timer, type TimerOptions } from "../../src/runtime/time/clock.ts"
import { storeWith } from "../support/lock-world.ts"
import { LockProcess } from "./support/lock-process.ts"
import type { Runtime } from "./support/spawn.ts"

const KEY = "deploy/web"
/** Nothing here waits for a lease to run out. */
const TTL = "1 h"

/** The clock of this process, until its timers stop: what would come by time alone never comes then. */
class StoppedClock implements Clock {
  readonly bootId = liveClock.bootId
  #stopped = false

  stop(): void {
    this.#stopped = true
  }

  read(): Reading {
    return liveClock.read()
  }

  mono(): number {
    return liveClock.mono()
  }

  random(): number {
    return liveClock.random()
  }

  id(): string {
    return liveClock.id()
  }

  after(ms: number, callback: () => void, options?: TimerOptions): Timer {
    return liveClock.after(ms, () => void (this.#stopped || callback()), options)
  }

  soon(callback: () => void): void {
    liveClock.soon(callback)
  }
}

interface Scene {
  /** A lock in this process, whose timers stop once it watches what it waits for. */
  readonly lock: StoreLock
  /** Settles then. What had happened before has been looked at. */
  readonly watches: Promise<void>
  /** Another process. */
  readonly start: (runtime: Runtime) => Promise<LockProcess>
}

async function scene(): Promise<Scene> {
  const directory = await mkdtemp(join(tmpdir(), "leasehold-wakes-"))
  onTestFinished(() => rm(directory, { recursive: true }))
  const clock = new StoppedClock()
  const store = fileStore({ directory, clock })
  const { promise: watches, resolve } = Promise.withResolvers<void>()
  const watched = storeWith(store, {
    prompt: store.prompt!,
    oracle: store.oracle!,
    watch: (ref, wake) => {
      clock.stop()
      resolve()
      return store.watch!(ref, wake)
    },
  })
  const start = async (runtime: Runtime): Promise<LockProcess> => {
    const one = new LockProcess(runtime, { key: KEY, place: { directory }, options: { ttl: TTL } })
    onTestFinished(() => one[Symbol.asyncDispose]())
    await one.says("ready")
    return one
  }
  return { lock: new StoreLock(KEY, { store: watched, clock, ttl: TTL }), watches, start }
}

async function owner({ start }: Scene, runtime: Runtime): Promise<LockProcess> {
  const one = await start(runtime)
  one.tell({ do: "acquire" })
  expect(await one.says("acquire")).not.toHaveProperty("error")
  return one
}

describe.each(["node", "deno"] as const)("beside a process on %s", (runtime) => {
  // Tests stores: In a directory a release, a waiter and an owner's end wake their waiters, with no look due.
  it.each([
    ["that asked", "request"],
    ["that only waits", "wait"],
  ] as const)("a waiter %s is woken by the release, with no look due", async (_, whenOwned) => {
    const here = await scene()
    const holder = await owner(here, runtime)
    const waits = here.lock.acquire({ timeout: "infinite", whenOwned })
    await here.watches
    holder.tell({ do: "release" })
    await using lease = await waits
    expect(lease.how).toBe("granted")
  })

  it.each(["is killed", "exits"])("a waiter is woken when the owner's process %s, with no look due", async (end) => {
    const here = await scene()
    const holder = await owner(here, runtime)
    const waits = here.lock.acquire({ timeout: "infinite" })
    await here.watches
    if (end === "exits") holder.tell({ do: "exit", code: 0 })
    else holder.signal("SIGKILL")
    await using lease = await waits
    expect(lease.how).toBe("takeover")
  })

  it("an owner is woken by a waiter, with no look due", async () => {
    const here = await scene()
    const other = await here.start(runtime)
    await using lease = await here.lock.acquire()
    const asked = new Promise<void>((resolve) => void here.lock.onReleaseRequested(() => resolve()))
    await here.watches
    other.tell({ do: "acquire" })
    await asked
    await lease.release()
    expect(await other.says("acquire")).toMatchObject({ how: "granted" })
  })
})
