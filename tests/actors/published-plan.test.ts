// The calls that the published plan promises, as a user makes them: a lock by itself, and a manager that is given
// locks.
import { describe, expect, it } from "vitest"
import {
  type LockError,
  LockTimeoutError,
  memoryStore,
  OwnedElsewhereError,
  SandboxManager,
  StoreLock,
} from "../../src/mod.ts"
import { VirtualTime } from "../../src/runtime/time/virtual-time.ts"
import { expectRest, failure } from "../support/lock-world.ts"
import { scripted } from "../support/scripted-store.ts"
import { counter, cutOff } from "./world.ts"

const world = () => {
  const time = new VirtualTime()
  const store = scripted(memoryStore({ clock: time }), time)
  const lock = (id: string, key = "counter/k", wire = store) =>
    new StoreLock(key, { store: wire, clock: time, incarnation: { id } })
  return { time, store, lock }
}

describe("the published plan's calls", () => {
  it("acquire with a timeout, renew, and an idempotent release", async () => {
    const { time, lock } = world()
    const mine = lock("a")
    const lease = await time.runUntil(mine.acquire({ timeout: "5 s" }))
    const late = failure(lock("b").acquire({ timeout: "5 s" }))
    await time.advance(5000)
    expect(await late).toBeInstanceOf(LockTimeoutError)
    const before = lease.deadline
    await time.advance(1000)
    await time.runUntil(mine.renew())
    expect(lease.deadline).toBeGreaterThan(before)
    expect(await time.runUntil(Promise.all([mine.release(), mine.release(), lease.release()]))).toEqual([
      "released",
      "released",
      "released",
    ])
    expect(await time.runUntil(mine.release())).toBe("released")
    expect(lease.isHeld()).toBe(false)
    await expectRest(time)
  })

  it("the release-requested handler is called exactly once for a waiter, however long it waits", async () => {
    const { time, lock } = world()
    const mine = lock("a")
    await time.runUntil(mine.acquire())
    let calls = 0
    using _handler = mine.onReleaseRequested(() => void calls++)
    const waiting = lock("b").acquire({ timeout: "2 min" })
    await time.advance(60_000)
    expect(calls).toBe(1)
    await time.runUntil(mine.release())
    const lease = await time.runUntil(waiting)
    expect(lease.isHeld()).toBe(true)
    expect(calls).toBe(1)
    await time.runUntil(lease.release())
    await expectRest(time)
  })

  it("the renewal-error handler hears of failed renewals and of the loss", async () => {
    const { time, store, lock } = world()
    const mine = lock("a")
    await time.runUntil(mine.acquire())
    const heard: LockError[] = []
    using _handler = mine.onRenewalError((error) => void heard.push(error))
    cutOff(store)
    await time.advance(40_000)
    expect(heard.length).toBeGreaterThan(1)
    expect(heard.at(-1)).toMatchObject({ _tag: "LockLostError" })
    store.script.heal()
    await expectRest(time)
  })

  it("a manager takes the locks it is given, and keeps its checkpoints in another store", async () => {
    const { time, lock } = world()
    const checkpoints = memoryStore({ clock: time, name: "checkpoints" })
    const sandbox = counter()
    const made: string[] = []
    const start = (id: string): Promise<SandboxManager> =>
      SandboxManager.start({
        lockFactory: (key) => {
          made.push(`${id} ${key}`)
          return lock(id, key)
        },
        checkpoints,
        sandboxes: [sandbox],
        clock: time,
        minTenure: 0,
      })
    const a = await time.runUntil(start("a"))
    const b = await time.runUntil(start("b"))
    await time.runUntil(a.use(sandbox, "k", (state) => (state.n += 3)))
    expect(await time.runUntil(b.use(sandbox, "k", (state) => ++state.n))).toBe(4)
    expect(made).toEqual(["a counter/k", "b counter/k"])
    expect(await time.runUntil(b.whereIs(sandbox, "k"))).toMatchObject({ ownerId: "b", here: true })
    await time.runUntil(Promise.all([a[Symbol.asyncDispose](), b[Symbol.asyncDispose]()]))
    await expectRest(time)
  })

  it("a second client is refused while a sandbox is locked, and gets it once it is released", async () => {
    const { time, store, lock } = world()
    const sandbox = counter()
    const manager = await time.runUntil(
      SandboxManager.start({ store, sandboxes: [sandbox], clock: time, incarnation: { id: "a" } }),
    )
    const handle = await time.runUntil(manager.restoreSandbox(sandbox, "k"))
    const second = lock("b")
    const error = await time.runUntil(failure(second.acquire({ whenOwned: "report" })))
    expect(error).toBeInstanceOf(OwnedElsewhereError)
    expect(error.owner).toMatchObject({ ownerId: "a" })
    await time.runUntil(handle.release())
    const lease = await time.runUntil(second.acquire({ whenOwned: "report" }))
    expect(lease.isHeld()).toBe(true)
    await time.runUntil(lease.release())
    await time.runUntil(manager[Symbol.asyncDispose]())
    await expectRest(time)
  })
})
