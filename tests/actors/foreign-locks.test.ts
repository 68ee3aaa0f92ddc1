// Locks that the manager didn't make: they may be slower, later or more talkative than ours, and must still do no harm.
import { merge, Observable, Subject } from "rxjs"
import { describe, expect, it } from "vitest"
import {
  type AcquireOptions,
  type Lease,
  type Lock,
  type LockEvent,
  LockLostError,
  LockTimeoutError,
  memoryStore,
  type Owner,
  SandboxManager,
  StoreLock,
} from "../../src/mod.ts"
import { VirtualTime } from "../../src/runtime/time/virtual-time.ts"
import { expectRest, failure } from "../support/lock-world.ts"
import { counter, statesOf } from "./world.ts"

/** A lock of ours with some of its members replaced. */
const altered = (lock: StoreLock, members: Partial<Record<keyof Lock, unknown>>): StoreLock => {
  for (const [name, value] of Object.entries(members)) Object.defineProperty(lock, name, { value })
  return lock
}

const world = async (alter: (lock: StoreLock) => StoreLock) => {
  const time = new VirtualTime()
  const store = memoryStore({ clock: time })
  const errors: unknown[] = []
  const sandbox = counter()
  const make = (id: string, key: string): StoreLock => new StoreLock(key, { store, clock: time, incarnation: { id } })
  const manager = await time.runUntil(
    SandboxManager.start({
      lockFactory: (key) => alter(make("a", key)),
      checkpoints: store,
      sandboxes: [sandbox],
      clock: time,
      onError: (error) => void errors.push(error),
    }),
  )
  return { time, errors, sandbox, manager, other: make("b", "counter/k") }
}

const another: Owner = { ownerId: "b", token: 1, expiresAt: 0 }

describe("a lock made elsewhere", () => {
  it("that never settles its acquire ends by the chart's deadlines, and a lease that still comes is released", async () => {
    const late = Promise.withResolvers<void>()
    const { time, sandbox, manager, other } = await world((lock) => {
      const acquire = lock.acquire.bind(lock)
      return altered(lock, { acquire: () => late.promise.then(() => acquire()) })
    })
    const call = failure(manager.restoreSandbox(sandbox, "k"))
    await time.advance(10)
    const states = statesOf([...manager.sandboxes()][0]!)
    expect(await time.runUntil(call)).toBeInstanceOf(LockTimeoutError)
    await time.advance(60_000)
    expect(states).toEqual(["acquiring.trying", "acquiring.reconciling", "released.cancelled"])
    expect([...manager.sandboxes()]).toEqual([])
    late.resolve()
    await time.advance(100)
    const lease = await time.runUntil(other.acquire({ timeout: 0 }))
    expect(lease.isHeld()).toBe(true)
    await time.runUntil(lease.release())
    await time.runUntil(manager[Symbol.asyncDispose]())
    await expectRest(time)
  })

  it.each([
    ["rejects", () => Promise.reject(new Error("the other store is gone"))],
    [
      "throws",
      () => {
        throw new Error("the other store is gone")
      },
    ],
  ])("whose release %s ends as failed and reported, and its key is free here", async (_, release) => {
    const { time, errors, sandbox, manager } = await world((lock) => {
      const acquire = lock.acquire.bind(lock)
      return altered(lock, {
        acquire: async (options?: AcquireOptions): Promise<Lease> => {
          const lease = await acquire(options)
          Object.defineProperty(lease, "release", { value: release })
          return lease
        },
      })
    })
    const handle = await time.runUntil(manager.restoreSandbox(sandbox, "k"))
    expect(await time.runUntil(handle.release())).toBe("unknown")
    expect(await handle.ended).toMatchObject({ reason: "failed", error: { message: "the other store is gone" } })
    expect([...manager.sandboxes()]).toEqual([])
    expect(errors).toEqual([expect.objectContaining({ message: "the other store is gone" })])
  })

  it("that tells of a loss while its release goes on frees its key once, and not that of the next sandbox", async () => {
    const more = new Subject<LockEvent>()
    const answered = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<number>()
    let made = 0
    const { time, sandbox, manager } = await world((lock) => {
      if (made++ > 0) return lock
      const acquire = lock.acquire.bind(lock)
      return altered(lock, {
        events$: merge(lock.events$, more),
        acquire: async (options?: AcquireOptions): Promise<Lease> => {
          const lease = await acquire(options)
          const release = lease.release.bind(lease)
          const slow = async () => {
            const result = await release()
            begun.resolve(lease.token)
            await answered.promise
            return result
          }
          Object.defineProperty(lease, "release", { value: slow })
          return lease
        },
      })
    })
    const handle = await time.runUntil(manager.restoreSandbox(sandbox, "k"))
    const released = handle.release()
    const token = await time.runUntil(begun.promise)
    const error = new LockLostError({ message: "as scripted", next: "", key: "counter/k" } as never)
    more.next({ type: "Lost", at: 0, key: "counter/k", ownerId: "a", token, error, reason: "expired" } as LockEvent)
    expect(await time.runUntil(released)).toBe("alreadyLost")
    await time.runUntil(manager.use(sandbox, "k", (state) => void (state.n = 7)))
    answered.resolve()
    await time.advance(100)
    expect(Array.from(manager.sandboxes(), ({ key }) => key)).toEqual(["k"])
    await time.runUntil(manager.drain())
    expect(await time.runUntil(manager.readCheckpoint(sandbox, "k"))).toEqual({ n: 7 })
  })

  it("may tell of something while its acquire is called", async () => {
    const { time, sandbox, manager } = await world((lock) => {
      const more = new Subject<LockEvent>()
      const acquire = lock.acquire.bind(lock)
      return altered(lock, {
        events$: merge(lock.events$, more),
        acquire: (options?: AcquireOptions): Promise<Lease> => {
          more.next({ type: "Waiting", at: 0, key: "counter/k", ownerId: "a", owner: another })
          return acquire(options)
        },
      })
    })
    const told: string[] = []
    manager.events$.subscribe(({ type }) => void told.push(type))
    await time.runUntil(manager.restoreSandbox(sandbox, "k"))
    expect(told.slice(0, 2)).toEqual(["Waiting", "Acquired"])
  })

  it("that never settles its release ends as failed and reported", async () => {
    const { time, errors, sandbox, manager } = await world((lock) => {
      const acquire = lock.acquire.bind(lock)
      return altered(lock, {
        acquire: async (options?: AcquireOptions): Promise<Lease> => {
          const lease = await acquire(options)
          Object.defineProperty(lease, "release", { value: () => new Promise(() => {}) })
          return lease
        },
      })
    })
    const handle = await time.runUntil(manager.restoreSandbox(sandbox, "k"))
    expect(await time.runUntil(handle.release())).toBe("unknown")
    expect(await handle.ended).toMatchObject({ reason: "failed" })
    expect(errors).toHaveLength(1)
    await time.runUntil(manager[Symbol.asyncDispose]())
  })

  it("that loses its lease without a word keeps no use looking for it again and again", async () => {
    const lost = new AbortController()
    const { time, sandbox, manager } = await world((lock) => {
      const acquire = lock.acquire.bind(lock)
      return altered(lock, {
        acquire: async (options?: AcquireOptions): Promise<Lease> => {
          const lease = await acquire(options)
          Object.defineProperty(lease, "signal", { value: lost.signal })
          Object.defineProperty(lease, "isHeld", { value: () => !lost.signal.aborted })
          return lease
        },
      })
    })
    await time.runUntil(manager.restoreSandbox(sandbox, "k"))
    const loss = new LockLostError({
      ...{ key: "counter/k", owner: undefined, reason: "taken", since: 0, cause: undefined },
      ...{ message: "It is gone", next: "nothing" },
    })
    lost.abort(loss)
    expect(await time.runUntil(failure(manager.use(sandbox, "k", () => 0)))).toBe(loss)
    await time.runUntil(manager[Symbol.asyncDispose]())
  })

  it("that tells of a waiter before its acquire has settled is heard all the same", async () => {
    const { time, sandbox, manager } = await world((lock) => {
      const early = new Subject<LockEvent>()
      const acquire = lock.acquire.bind(lock)
      return altered(lock, {
        events$: merge(lock.events$, early),
        acquire: async (options?: AcquireOptions): Promise<Lease> => {
          const lease = await acquire(options)
          const about = { at: 0, key: lease.key, ownerId: "a", token: lease.token }
          early.next({ ...about, type: "ReleaseRequested", waiterId: "b" })
          return lease
        },
      })
    })
    const error = await time.runUntil(failure(manager.restoreSandbox(sandbox, "k")))
    expect(error).toMatchObject({ _tag: "HandingOffError" })
    await time.advance(100)
    expect([...manager.sandboxes()]).toEqual([])
    await time.runUntil(manager[Symbol.asyncDispose]())
    await expectRest(time)
  })

  it("is left alone once its sandbox has ended: nobody listens to it any more", async () => {
    let listening = 0
    const { time, sandbox, manager } = await world((lock) => {
      const { events$ } = lock
      const counted = new Observable<LockEvent>((subscriber) => {
        listening++
        const subscription = events$.subscribe(subscriber)
        return () => {
          listening--
          subscription.unsubscribe()
        }
      })
      return altered(lock, { events$: counted })
    })
    const handle = await time.runUntil(manager.restoreSandbox(sandbox, "k"))
    expect(listening).toBeGreaterThan(0)
    await time.runUntil(handle.release())
    expect(listening).toBe(0)
    await time.runUntil(manager[Symbol.asyncDispose]())
    await expectRest(time)
  })
})
