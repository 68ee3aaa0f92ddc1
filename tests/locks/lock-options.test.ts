/** Bad input to a lock: each is a typed error that names the value and says what to do, and none becomes a default. */
import { describe, expect, it } from "vitest"
import { InvalidConfigError, InvalidKeyError } from "../../src/locks/api/errors.ts"
import type { AcquireOptions, Incarnation } from "../../src/locks/api/lock.ts"
import type { LockOptions } from "../../src/locks/engine/options.ts"
import { StoreLock } from "../../src/locks/lock/store-lock.ts"
import { FileLock } from "../../src/locks/stores/file/mod.ts"
import { GcsLock } from "../../src/locks/stores/gcs/mod.ts"
import { memoryStore } from "../../src/locks/stores/memory-store.ts"
import type { LeaseStore } from "../../src/locks/stores/port.ts"
import { failure, lockWorld, spaced } from "../support/lock-world.ts"

/** What the call throws. */
function thrown(call: () => unknown): Error {
  try {
    call()
  } catch (error) {
    return error as Error
  }
  throw new Error("it did not throw")
}

describe("a lock is refused at its construction", () => {
  it.each(["", "a".repeat(2000), "e\u0301", "a\u0000b", "a/../b", "..", 7 as unknown as string])(
    "for the key %j",
    (key) => {
      expect(thrown(() => new StoreLock(key, { store: memoryStore() }))).toBeInstanceOf(InvalidKeyError)
    },
  )

  it.each([undefined, {}, { store: undefined }, { store: {} }, { store: "gs://bucket" }])(
    "for the options %j, which have no store",
    (options) => {
      const error = thrown(() => new StoreLock("k", options as unknown as { store: LeaseStore }))
      expect(error).toBeInstanceOf(InvalidConfigError)
      expect(error.message).toContain("memoryStore()")
    },
  )

  const refused: readonly (readonly [string, LockOptions])[] = [
    ["ttl", { ttl: NaN }],
    ["ttl", { ttl: null as unknown as number }],
    ["renewal", { renewal: null as unknown as "strict" }],
    ["onError", { onError: "log" as unknown as () => void }],
    ["clock", { clock: {} as never }],
    ["ttl", { ttl: -1 }],
    ["ttl", { ttl: "30s" as "30 s" }],
    ["strangerTtl", { strangerTtl: 10 }],
    ["strangerTtl", { strangerTtl: Infinity }],
    ["renewal", { renewal: "lax" as "strict" }],
    ["onRelease", { onRelease: "remove" as "delete" }],
    ["address", { address: "" }],
    ["address", { address: "x".repeat(2001) }],
    ["address", { address: 8080 as unknown as string }],
    ["ttll", { ttll: "6 s" } as object],
    ["timeout", { timeout: "6 s" } as object],
  ]
  // Tests input: Keys may be empty, 2,000 bytes, not NFC, with control characters or `..`, or look alike.
  // Tests input: Options may be ttl 0, below the guard, NaN or negative.
  it.each(refused)("for its %s in %j", (name, options) => {
    const error = thrown(() => new StoreLock("k", { store: memoryStore(), ...options }))
    expect(error).toBeInstanceOf(InvalidConfigError)
    expect(error.message).toMatch(new RegExp(`^${name} `))
  })

  // Tests input: Unknown options of locks, acquires, providers, observers and budgets are refused.
  it("for options that nobody reads, of locks on a directory and on a bucket too", () => {
    const bad = { releaseOnSignals: true }
    expect(thrown(() => new FileLock("k", { directory: "/", ...bad }))).toBeInstanceOf(InvalidConfigError)
    expect(thrown(() => new GcsLock("k", { bucket: "b", ...bad }))).toBeInstanceOf(InvalidConfigError)
    expect(thrown(() => new FileLock("k", null as never))).toBeInstanceOf(InvalidConfigError)
    const message = "releaseOnSignals is no option of FileLock. Use some of ttl"
    expect(() => new FileLock("k", { directory: "/", ...bad })).toThrow(message)
    expect(() => new FileLock("k", { directory: "/" })).not.toThrow()
  })

  it.each([{ id: "" }, { id: "a b" }, { id: "a/b" }, { id: "x".repeat(101) }, {}])("for the incarnation %j", (who) => {
    const options = { store: memoryStore(), incarnation: who as Incarnation }
    expect(thrown(() => new StoreLock("k", options))).toBeInstanceOf(InvalidConfigError)
  })
})

describe("an acquire is refused before anything is sent", () => {
  const refused: readonly (readonly [string, AcquireOptions])[] = [
    ["timeuot", { timeuot: "1 s" } as object],
    ["timeout", { timeout: NaN }],
    ["timeout", { timeout: -1 }],
    ["timeout", { timeout: Infinity }],
    ["timeout", { timeout: "forever" as "infinite" }],
    ["minTenure", { minTenure: -5 }],
    ["whenOwned", { whenOwned: "ask" as "report" }],
    ["contention", { contention: "wait" as "retry" }],
    ["stateVersion", { stateVersion: 1.5 }],
    ["stateVersion", { stateVersion: -1 }],
    ["signal", { signal: new AbortController() as unknown as AbortSignal }],
  ]
  it.each(refused)("for its %s in %j", async (name, options) => {
    const { store, lock } = lockWorld()
    const error = await failure(lock("a").acquire(options))
    expect(error).toBeInstanceOf(InvalidConfigError)
    expect(error.message).toMatch(new RegExp(`^${name} `))
    expect(store.script.requests).toHaveLength(0)
  })

  // Tests input.
  it.each([5, null, "1 s"])("for options that are %j", async (options) => {
    const { store, lock } = lockWorld()
    const error = await failure(lock("a").acquire(options as never))
    expect(error).toBeInstanceOf(InvalidConfigError)
    expect(error.message).toContain(`The options of acquire are ${JSON.stringify(options)}`)
    expect(store.script.requests).toHaveLength(0)
  })

  const ttls: readonly (readonly [number, "memory" | "spaced"])[] = [
    [0, "memory"],
    [40, "memory"],
    [499, "memory"],
    [86_400_001, "memory"],
    [0, "spaced"],
    [1999, "spaced"],
    [5999, "spaced"],
  ]
  it.each(ttls)("for a ttl of %i ms on a %s store", async (ttl, kind) => {
    const { time, store, lock } = lockWorld(kind === "spaced" ? { capabilities: spaced } : {})
    const error = await time.runUntil(failure(lock("a", { ttl }).acquire()))
    expect(error).toBeInstanceOf(InvalidConfigError)
    expect(error.message).toContain(`${ttl} ms`)
    expect(store.script.requests).toHaveLength(0)
  })

  it.each([
    [500, "memory"],
    [86_400_000, "memory"],
    [6000, "spaced"],
  ] as const)("and not for a ttl of %i ms on a %s store", async (ttl, kind) => {
    const { time, lock } = lockWorld(kind === "spaced" ? { capabilities: spaced } : {})
    const lease = await time.runUntil(lock("a", { ttl }).acquire())
    expect(lease.isHeld()).toBe(true)
  })
})
