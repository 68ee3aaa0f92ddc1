/** The lock on a server that keeps GCS's rules: that it is the shell over the store, and which locks share one. */
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import {
  InvalidConfigError,
  LockTimeoutError,
  OwnedElsewhereError,
  StoreMisconfiguredError,
} from "../../../src/locks/api/errors.ts"
import { StoreLock } from "../../../src/locks/lock/store-lock.ts"
import { GcsLock, gcsStore } from "../../../src/locks/stores/gcs/mod.ts"
import { ABSENT } from "../../../src/locks/stores/port.ts"
import { liveClock } from "../../../src/runtime/time/clock.ts"
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

  // Tests rule 7: A key's record can be an object that others name, and never one of leasehold's own.
  it("keeps its record in the object that it was given, whatever the prefix, and there alone", async () => {
    const named = lockOn("nightly", { objectName: "jobs/nightly.json" })
    const lease = await named.acquire()
    const text = (name: string): string | undefined => server.buckets.object("bucket", name)?.body.toString()
    expect(JSON.parse(text("jobs/nightly.json") ?? "{}")).toMatchObject({
      key: "nightly",
      owner: { token: lease.token },
    })
    expect(text("locks/leases/nightly")).toBeUndefined()
    // The same key elsewhere is another; another lock of the same object contends, whatever its prefix.
    expect((await lockOn("nightly").acquire({ timeout: 0 })).isHeld()).toBe(true)
    expect(text("locks/leases/nightly")).toBeDefined()
    const other = lockOn("nightly", { objectName: "jobs/nightly.json", prefix: "", incarnation: { id: "other" } })
    expect(await failure(other.acquire({ whenOwned: "report" }))).toBeInstanceOf(OwnedElsewhereError)
    await lease.release()
  })

  it("is found by code of others in that object, and finds them there", async () => {
    const store = gcsStore({ bucket: "bucket", endpoint: server.url, objectNames: { nightly: "jobs/nightly.json" } })
    await store.start({ deadline: 30_000 })
    const ref = { area: "leases", name: "nightly" } as const
    const expiresAt = Math.round(liveClock.read().wall / 1000) + 60
    const theirs = new TextEncoder().encode(JSON.stringify({ ownerId: "theirs", expiresAt, waitingOwnerId: null }))
    expect(await store.put(ref, ABSENT, theirs, { deadline: 5000 })).toMatchObject({ kind: "applied" })
    expect(server.buckets.object("bucket", "jobs/nightly.json")).toBeDefined()
    const error = await failure(new StoreLock("nightly", { store }).acquire({ whenOwned: "report" }))
    expect(error.owner).toMatchObject({ ownerId: "theirs" })
    expect((await store.list("leases", { deadline: 5000, prefix: "" })).items).toEqual([])
    await store.close()
  })

  it("refuses an object's name that could be one of leasehold's own", () => {
    expect(() => lockOn("k", { objectName: "locks/leases/other" })).toThrow(InvalidConfigError)
    expect(() => lockOn("k", { objectName: "" })).toThrow("is empty")
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
