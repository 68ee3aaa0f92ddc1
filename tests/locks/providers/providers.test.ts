// What every lock provider that keeps others out promises, asked of each of them under virtual time.
import {
  InvalidConfigError,
  InvalidKeyError,
  LockCancelledError,
  type LockProvider,
  LockTimeoutError,
  type LockWaitEvent,
  LockWaitEvents,
  memoryLockProvider,
  memoryStore,
  type ProviderOptions,
  ReentrantLockError,
  type Section,
  storeLockProvider,
} from "leasehold"
import { describe, expect, it } from "vitest"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"
import { collected } from "../../support/gc.ts"

interface World {
  readonly time: VirtualTime
  readonly provider: LockProvider
  /** Settles as the promise does, as fast as time can go. */
  readonly until: <A>(promise: Promise<A>) => Promise<A>
}

/** What observers threw. */
const thrown: unknown[] = []
const onError = (error: unknown): void => void thrown.push(error)

const makers: Readonly<Record<string, (time: VirtualTime) => LockProvider>> = {
  memory: (clock) => memoryLockProvider({ clock, onError }),
  store: (clock) => storeLockProvider({ store: memoryStore({ clock }), clock, onError, incarnation: { id: "here" } }),
}

function worldOf(make: (time: VirtualTime) => LockProvider): World {
  const time = new VirtualTime()
  return { time, provider: make(time), until: (promise) => time.runUntil(promise) }
}

const sleep = (time: VirtualTime, ms: number): Promise<void> => new Promise((resolve) => void time.after(ms, resolve))

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => new Error("it didn't fail"),
    (error: unknown) => error,
  )

describe.each(Object.entries(makers))("a lock provider (%s)", (_name, make) => {
  // Tests providers: Sections of one key run in the order of the calls, and release the key however they end.
  it("runs sections of one key one after the other, in the order of the calls, and gives what they give", async () => {
    const { time, provider, until } = worldOf(make)
    const told: string[] = []
    const section = (name: string) => async (): Promise<string> => {
      told.push(`${name} begins`)
      await sleep(time, 10)
      told.push(`${name} ends`)
      return name
    }
    const all = Promise.all(["a", "b", "c"].map((name) => provider.withLock("orders/7", section(name))))
    expect(await until(all)).toEqual(["a", "b", "c"])
    expect(told).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"])
  })

  // Tests providers: Sections of different keys run side by side.
  it("runs sections of different keys side by side", async () => {
    const { time, provider, until } = worldOf(make)
    let running = 0
    let most = 0
    const section = async (): Promise<void> => {
      most = Math.max(most, ++running)
      await sleep(time, 10)
      running--
    }
    await until(Promise.all(["a", "b", "c"].map((key) => provider.withLock(key, section))))
    expect(most).toBe(3)
  })

  it("releases the key when a section throws, at once or later", async () => {
    const { time, provider, until } = worldOf(make)
    const early = provider.withLock("k", () => {
      throw new RangeError("early")
    })
    await expect(until(early)).rejects.toThrow("early")
    const late = provider.withLock("k", async () => {
      await sleep(time, 5)
      throw new RangeError("late")
    })
    await expect(until(late)).rejects.toThrow("late")
    expect(await until(provider.withLock("k", () => "free again", { timeout: 0 }))).toBe("free again")
  })

  it("tells a section its key, a token that grows, and the time inside", async () => {
    const { time, provider, until } = worldOf(make)
    const sections = [1, 2].map(() =>
      provider.withLock("k", async ({ key, token, clock, signal }) => {
        const from = clock.now()
        await sleep(time, 100)
        return { key, token, aborted: signal.aborted, from, to: clock.now() }
      }),
    )
    const [first, second] = await until(Promise.all(sections))
    expect(first).toMatchObject({ key: "k", aborted: false, to: first!.from + 100 })
    expect(second!.token).toBeGreaterThan(first!.token)
    expect(second!.from).toBeGreaterThanOrEqual(first!.to)
  })

  it("says inside that the key is held, and afterwards that it isn't", async () => {
    const { provider, until } = worldOf(make)
    const section = await until(provider.withLock("k", (inside) => ({ inside, held: inside.isHeld() })))
    expect([section.held, section.inside.isHeld()]).toEqual([true, false])
  })

  // Tests providers: A wait ends with its budget or its signal, and leaves nothing in the queue.
  it("waits no longer than its budget, and leaves its place in the queue", async () => {
    const { time, provider, until } = worldOf(make)
    const held = await until(provider.acquire("k"))
    const from = time.mono()
    const error = await until(failure(provider.withLock("k", () => "never", { timeout: "2 s" })))
    expect(error).toBeInstanceOf(LockTimeoutError)
    expect(error).toMatchObject({ key: "k", limitMs: 2000 })
    expect(Math.abs(time.mono() - from - 2000)).toBeLessThan(50)
    expect(await until(failure(provider.acquire("k", { timeout: 0 })))).toBeInstanceOf(LockTimeoutError)
    const next = provider.withLock("k", () => "next")
    await held.release()
    expect(await until(next)).toBe("next")
  })

  it("can be cancelled while it waits, and before", async () => {
    const { time, provider, until } = worldOf(make)
    const held = await until(provider.acquire("k"))
    const caller = new AbortController()
    const waiting = failure(provider.acquire("k", { signal: caller.signal }))
    await time.advance(1000)
    caller.abort()
    expect(await until(waiting)).toBeInstanceOf(LockCancelledError)
    expect(await until(failure(provider.acquire("free", { signal: caller.signal })))).toBeInstanceOf(LockCancelledError)
    await held.release()
    expect(await until(provider.withLock("k", () => "free", { timeout: 0 }))).toBe("free")
  })

  // Tests providers: A caller that gives up aborts its section's signal; the key is kept until the section has ended.
  it("tells a section by its signal that its caller gave up, and settles as the section does", async () => {
    const { time, provider, until } = worldOf(make)
    const caller = new AbortController()
    const reason = new RangeError("the client went away")
    const stopped = failure(
      provider.withLock(
        "k",
        ({ signal }) =>
          new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error))),
        { signal: caller.signal },
      ),
    )
    const finished = provider.withLock(
      "l",
      async ({ signal }) => {
        await sleep(time, 2000)
        return { aborted: signal.aborted, reason: signal.reason as unknown }
      },
      { signal: caller.signal },
    )
    await time.advance(1000)
    caller.abort(reason)
    expect(await until(stopped)).toBe(reason)
    expect(await until(finished)).toEqual({ aborted: true, reason })
    expect(await until(provider.withLock("k", () => "free", { timeout: 0 }))).toBe("free")
  })

  it("is released by `await using`, and by release as often as it is called", async () => {
    const { provider, until } = worldOf(make)
    {
      await using lock = await until(provider.acquire("k"))
      expect(lock.isHeld()).toBe(true)
    }
    const lock = await until(provider.acquire("k", { timeout: 0 }))
    expect(await lock.release()).toBe("released")
    await lock.release()
    expect(lock.isHeld()).toBe(false)
    const next = await until(provider.acquire("k", { timeout: 0 }))
    await lock.release() // it is another's by now
    expect(next.isHeld()).toBe(true)
    await next.release()
  })

  // Tests input: Unknown options of locks, acquires, providers, observers and budgets are refused.
  it("refuses keys that aren't canonical, options that it doesn't have, and durations that are none", async () => {
    const { provider, until } = worldOf(make)
    for (const key of ["", "a/../b", "e\u0301", 7 as never])
      expect(await until(failure(provider.withLock(key, () => {})))).toBeInstanceOf(InvalidKeyError)
    const bad = [
      ...[{ timeout: "soon" }, { patience: 1 }, { signal: 1 }, 5, null],
      ...[{ whenOwned: "report" }, { contention: "retry" }, { minTenure: 1 }], // a lock's, which a provider decides itself
      ...[{ observer: null }, { observer: 1 }],
    ] as never[]
    for (const options of bad) {
      for (const call of [
        () => provider.acquire("k", options),
        () => provider.acquireAll(["k"], options),
        () => provider.withLock("k", () => {}, options),
      ])
        expect(await until(failure(call()))).toBeInstanceOf(InvalidConfigError)
    }
    expect(provider.stats().acquisitions).toBe(0)
  })

  // Tests providers: A call rejects and never throws; a wrong section is refused before anything is acquired.
  it("refuses by a rejection, never by a throw, and a section that is no function before it acquires", async () => {
    const { provider, until } = worldOf(make)
    const calls = [() => provider.acquire(""), () => provider.acquireAll([""]), () => provider.withLock("", () => {})]
    for (const call of calls) expect(await until(failure(call()))).toBeInstanceOf(InvalidKeyError)
    for (const fn of [undefined, null, "work", { run: () => {} }])
      expect(await until(failure(provider.withLock("k", fn as never)))).toBeInstanceOf(InvalidConfigError)
    expect(provider.stats().acquisitions).toBe(0)
  })

  it("leaves no timer behind", async () => {
    const { time, provider, until } = worldOf(make)
    await until(Promise.all([1, 2, 3].map(() => provider.withLock("k", () => sleep(time, 10)))))
    await time.advance(1000)
    expect(time.pendingTimers - time.pendingBackground).toBe(0)
  })

  // Tests providers: The counters count acquisitions, waits, contention, losses, renewals, and writes without room.
  it("counts what happens", async () => {
    const { time, provider, until } = worldOf(make)
    await until(Promise.all([1, 2, 3].map(() => provider.withLock("k", () => sleep(time, 10)))))
    expect(provider.stats()).toEqual({ acquisitions: 3, waits: 2, contention: 1, losses: 0, renewals: 0, throttled: 0 })
  })
})

describe.each(Object.entries(makers))("the observer of a provider's call (%s)", (_name, make) => {
  const listener = () => {
    const observer = new LockWaitEvents()
    const events: LockWaitEvent[] = []
    observer.events$.subscribe((event) => events.push(event))
    const first = (...names: LockWaitEvent["type"][]): readonly LockWaitEvent[] =>
      events.filter(({ type }) => names.includes(type))
    return { observer, events, endings: () => first("acquired", "timedOut", "cancelled", "failed"), first }
  }

  // Tests providers: A call's observer gets its wait, the time and exactly one ending, and changes nothing.
  it("hears that it waits, the time, and that it has got the key", async () => {
    const { time, provider, until } = worldOf(make)
    const held = await until(provider.acquire("k"))
    const { observer, events, endings, first } = listener()
    const section = provider.withLock("k", () => "mine", { observer, timeout: "10 s" })
    await time.advance(2500)
    await until(held.release())
    expect(await until(section)).toBe("mine")
    await time.advance(5000)
    expect(events[0]).toMatchObject({ type: "waitStarted", key: "k", limitMs: 10_000, source: "the timeout option" })
    expect(first("progress")).toHaveLength(2)
    expect(endings()).toHaveLength(1)
    expect(endings()[0]).toMatchObject({ type: "acquired", waited: true })
    expect(endings()[0]!.elapsedMs).toBeGreaterThanOrEqual(2500)
  })

  it("hears one ending of a call that has the key at once, is too late, is cancelled, or won't wait", async () => {
    const { time, provider, until } = worldOf(make)
    const told = async (options: ProviderOptions): Promise<readonly LockWaitEvent[]> => {
      const { observer, endings } = listener()
      await until(failure(provider.acquire("k", { ...options, observer })))
      await time.advance(5000)
      return endings()
    }
    const caller = new AbortController()
    time.after(13_000, () => caller.abort())
    expect(await told({})).toMatchObject([{ type: "acquired", waited: false }])
    expect(await told({ timeout: "1 s" })).toMatchObject([{ type: "timedOut", waited: true, limitMs: 1000 }])
    expect(await told({ signal: caller.signal })).toMatchObject([{ type: "cancelled", waited: true }])
    expect(await told({ signal: caller.signal })).toMatchObject([{ type: "cancelled", waited: false }])
    expect(await told({ timeout: 0 })).toMatchObject([{ type: "timedOut" }])
  })

  it("hears one ending of a call that is refused from inside a section on its key", async () => {
    const { time, provider, until } = worldOf(make)
    const { observer, events } = listener()
    const inside = provider.withLock("k", () => failure(provider.withLock("k", () => "never", { observer })))
    const error = await until(inside)
    expect(error).toBeInstanceOf(ReentrantLockError)
    await time.advance(5000)
    expect(events).toMatchObject([{ type: "failed", key: "k", waited: false, limitMs: 30_000, error }])
  })

  // Tests providers: The budget of several keys, and the waited time of its error, count from the call.
  it("hears of each of several keys as of a call that came when theirs did", async () => {
    const { time, provider, until } = worldOf(make)
    const [a, b] = [await until(provider.acquire("a")), await until(provider.acquire("b"))]
    time.after(1500, () => void a.release())
    time.after(2500, () => void b.release())
    const { observer, endings } = listener()
    await using _locks = await until(provider.acquireAll(["b", "a"], { observer }))
    await time.advance(0)
    expect(endings().map(({ key, type }) => [key, type])).toEqual([
      ["a", "acquired"],
      ["b", "acquired"],
    ])
    expect(endings()[1]!.elapsedMs).toBeGreaterThanOrEqual(2500)
  })

  it("changes nothing of the call by throwing", async () => {
    const { provider, until } = worldOf(make)
    const observer = {
      acquired: () => {
        throw new RangeError("not me")
      },
    }
    expect(await until(provider.withLock("k", () => "mine", { observer }))).toBe("mine")
    await Promise.resolve()
    expect(thrown.splice(0)).toEqual([new RangeError("not me")])
  })
})

describe.each(Object.entries(makers))("a section (%s)", (_name, make) => {
  // Tests providers: A section that would wait for itself is refused; one beside it, or from its timer, is not.
  it("that asks for its own key is refused at once, also by way of another key", async () => {
    const { provider, until } = worldOf(make)
    const direct = provider.withLock("k", () => provider.withLock("k", () => "never"))
    expect(await until(failure(direct))).toBeInstanceOf(ReentrantLockError)
    const around = provider.withLock("k", () => provider.withLock("l", () => provider.withLock("k", () => "never")))
    expect(await until(failure(around))).toBeInstanceOf(ReentrantLockError)
    expect(await until(provider.withLock("k", () => provider.withLock("l", () => "other")))).toBe("other")
  })

  it("isn't taken for one that runs beside it: siblings of one key wait for each other", async () => {
    const { time, provider, until } = worldOf(make)
    const told: number[] = []
    const inner = (n: number): Promise<void> =>
      provider.withLock("inner", async () => {
        await sleep(time, 5)
        told.push(n)
      })
    await until(provider.withLock("outer", () => Promise.all([inner(1), inner(2), inner(3)])))
    expect(told).toEqual([1, 2, 3])
  })

  it("isn't taken for what it started once it is over: a timer's call waits like any other", async () => {
    const { time, provider, until } = worldOf(make)
    const { promise: later, resolve } = Promise.withResolvers<string>()
    const section = provider.withLock("k", () => {
      // Goes on in the async context of the section, as a timer of the process would; one of virtual time would not.
      void sleep(time, 50).then(() => resolve(provider.withLock("k", () => "later")))
    })
    await until(section)
    const other = provider.withLock("k", () => sleep(time, 200))
    expect(await until(later)).toBe("later")
    await until(other)
  })

  // Tests providers: Sections and turns that are over are kept by none that they began.
  it.each([
    ["while it lasts", 5],
    ["when it is over", 15],
  ])("is let go by the sections that it began %s: a long chain keeps the last few", async (_when, ms) => {
    const { time, provider, until } = worldOf(make)
    const sections: WeakRef<Section>[] = []
    const [last, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const link = (left: number): Promise<void> =>
      provider.withLock(`k/${left}`, (section) => {
        sections.push(new WeakRef(section))
        if (left === 0) return (last.resolve(), end.promise)
        void sleep(time, ms).then(() => link(left - 1))
        return sleep(time, 10)
      })
    void link(40)
    await until(last.promise)
    await time.advance(100)
    await collected()
    expect(sections.filter((section) => section.deref() !== undefined).length).toBeLessThan(10)
    expect(sections.at(-1)?.deref()).toBeDefined()
    expect(sections).toHaveLength(41)
    end.resolve()
  })

  it("that began another and has ended is still inside of what it was begun in", async () => {
    const { time, provider, until } = worldOf(make)
    const late = Promise.withResolvers<unknown>()
    await until(
      provider.withLock("outer", async () => {
        await provider.withLock("inner", () => {
          void sleep(time, 10).then(() => late.resolve(failure(provider.withLock("outer", () => "never"))))
        })
        await sleep(time, 20)
      }),
    )
    expect(await until(late.promise)).toBeInstanceOf(ReentrantLockError)
  })

  it("doesn't make its caller an insider", async () => {
    const { time, provider, until } = worldOf(make)
    const first = provider.withLock("k", () => sleep(time, 10))
    const second = provider.withLock("k", () => "second") // called in the same turn as the first
    expect(await until(second)).toBe("second")
    await first
    expect(await until(provider.withLock("k", () => "third"))).toBe("third")
  })
})

describe.each(Object.entries(makers))("several keys (%s)", (_name, make) => {
  it("are held together, each once, in one order, with a token each", async () => {
    const { provider, until } = worldOf(make)
    await using locks = await until(provider.acquireAll(["b", "a", "C", "b"]))
    expect(locks.keys).toEqual(["C", "a", "b"])
    expect(locks.isHeld()).toBe(true)
    expect(locks.token("a")).toBeGreaterThan(0)
    expect(locks.token("z")).toBeUndefined()
    expect(locks.signal.aborted).toBe(false)
    expect(await until(failure(provider.acquire("b", { timeout: 0 })))).toBeInstanceOf(LockTimeoutError)
    expect(await until(locks.release())).toBe("released")
    expect(await until(locks.release())).toBe("released")
    expect(locks.isHeld()).toBe(false)
  })

  // Tests providers: Several keys are held all or none, and never waited for in a circle.
  it("never wait for each other in a circle", async () => {
    const { time, provider, until } = worldOf(make)
    const taking = async (keys: readonly string[]): Promise<void> => {
      await using _locks = await provider.acquireAll(keys)
      await sleep(time, 10)
    }
    const orders = [
      ["a", "b", "c"],
      ["c", "a"],
      ["b", "c", "a"],
      ["c", "b"],
    ]
    await until(Promise.all(orders.map(taking)))
    expect(provider.stats().acquisitions).toBe(10)
  })

  it("are all free again where one of them isn't to be had within the budget of all", async () => {
    const { time, provider, until } = worldOf(make)
    const [b, c] = [await until(provider.acquire("b")), await until(provider.acquire("c"))]
    time.after(1500, () => void b.release())
    const from = time.mono()
    const error = await until(failure(provider.acquireAll(["a", "b", "c"], { timeout: "2 s" })))
    expect(error).toMatchObject({ _tag: "LockTimeoutError", key: "c", limitMs: 2000, waitedMs: 2000 })
    expect(Math.abs(time.mono() - from - 2000)).toBeLessThan(50)
    for (const key of ["a", "b"]) await (await until(provider.acquire(key, { timeout: 0 }))).release()
    await c.release()
  })

  it("are all free again where the call is cancelled while it waits for one", async () => {
    const { time, provider, until } = worldOf(make)
    const b = await until(provider.acquire("b"))
    const caller = new AbortController()
    time.after(1500, () => caller.abort())
    const error = await until(failure(provider.acquireAll(["a", "b", "c"], { signal: caller.signal })))
    expect(error).toMatchObject({ _tag: "LockCancelledError", key: "b" })
    for (const key of ["a", "c"]) await (await until(provider.acquire(key, { timeout: 0 }))).release()
    await b.release()
    expect(await until(provider.acquireAll(["a", "b"], { timeout: 0 }))).toMatchObject({ keys: ["a", "b"] })
  })

  it("are none at all, or no keys: refused before anything is held", async () => {
    const { provider, until } = worldOf(make)
    expect(await until(failure(provider.acquireAll([])))).toBeInstanceOf(InvalidConfigError)
    expect(await until(failure(provider.acquireAll(["a", ""])))).toBeInstanceOf(InvalidKeyError)
    expect(provider.stats().acquisitions).toBe(0)
  })
})
