/** The lock on a server that keeps GCS's rules: that it is the shell over the store, and which locks share one. */
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import {
  InvalidConfigError,
  LockTimeoutError,
  OwnedElsewhereError,
  StoreMisconfiguredError,
} from "../../../src/locks/errors.ts"
import { GcsLock } from "../../../src/locks/stores/gcs/mod.ts"
import { liveClock } from "../../../src/runtime/clock.ts"
import { failure } from "../../support/lock-world.ts"
import { startStrictGcs, type StrictGcsServer } from "../../support/strict-gcs-server.ts"

let server: StrictGcsServer
beforeEach(async () => {
  server = await startStrictGcs()
})
afterEach(() => server[Symbol.asyncDispose]())

const lockOn = (key: string, options: Partial<ConstructorParameters<typeof GcsLock>[1]> = {}): GcsLock =>
  new GcsLock(key, { bucket: "bucket", prefix: "locks", endpoint: server.url, ...options })

describe("a lock on a bucket", () => {
  it("is acquired, renewed and released by one request each, after one read", async () => {
    const lock = lockOn("orders/7")
    expect(await lock.peek()).toBeUndefined()
    server.forget()
    const lease = await lock.acquire()
    expect(server.counts).toEqual({ GET: 1, POST: 1 })
    await lease.renew()
    expect(server.counts).toEqual({ GET: 1, POST: 2 })
    expect(lease.isHeld()).toBe(true)
    expect(lease.deadline - liveClock.read().wall).toBeGreaterThan(25_000)
    expect(await lease.release()).toBe("released")
    expect(server.counts).toEqual({ GET: 1, POST: 3 })
  })

  it("contends with the locks of other incarnations", async () => {
    const lease = await lockOn("k", { address: "http://10.0.0.3" }).acquire()
    const other = lockOn("k", { incarnation: { id: liveClock.id() } })
    expect(await failure(other.acquire({ timeout: 0 }))).toBeInstanceOf(LockTimeoutError)
    const error = await failure(other.acquire({ whenOwned: "report" }))
    expect(error).toBeInstanceOf(OwnedElsewhereError)
    expect(error.owner).toMatchObject({ address: "http://10.0.0.3", token: lease.token })
  })

  it("takes turns with the locks of the same process and the same place, and no others", async () => {
    await lockOn("k").acquire()
    const { message } = await failure(lockOn("k").acquire({ timeout: 0 }))
    expect(message).toContain("held by this very process")
    expect((await lockOn("k", { prefix: "others" }).acquire({ timeout: 0 })).isHeld()).toBe(true)
  })

  it("asks the bucket and probes once for all locks of one place", async () => {
    await lockOn("k1").peek()
    const { counts } = server
    const started = Object.values(counts).reduce((sum, count) => sum + count, 0)
    await lockOn("k2").peek()
    expect(Object.values(counts).reduce((sum, count) => sum + count, 0) - started).toBe(1)
  })

  it("refuses options that can't work before it does anything", () => {
    expect(() => new GcsLock("k", { bucket: "gs://bucket" })).toThrow(InvalidConfigError)
    expect(() => lockOn("..")).toThrow("is not a key")
    expect(() => lockOn("k", { ttl: NaN })).toThrow("ttl")
  })

  it("says that there is no such bucket, at the first call", async () => {
    const error = await failure(lockOn("k", { bucket: "no-such-bucket" }).acquire())
    expect(error).toBeInstanceOf(StoreMisconfiguredError)
    expect(error.message).toContain("no-such-bucket")
  })

  it("refuses a ttl that is too short for a clock of whole seconds", async () => {
    const error = await failure(lockOn("k", { ttl: 5999 }).acquire())
    expect(error).toBeInstanceOf(InvalidConfigError)
  })
})
