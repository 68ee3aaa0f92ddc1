// What the GCS store makes of a network and a server that fail: every call ends in time, with a typed error, and no
// write is ever sent twice. Real HTTP; time passes only when a test lets it.
import { describe, expect, it } from "vitest"
import { StoreUnavailableError } from "../../../src/locks/api/errors.ts"
import { ABSENT } from "../../../src/locks/stores/port.ts"
import { bytes, content, lease, readOptions, startedOn, storeOn, within } from "../../support/gcs-stores.ts"
import { type Fault, startStrictGcs } from "../../support/strict-gcs-server.ts"
import { eachTestHasItsScene, inBucket, read, remove, scene, unavailable, write } from "./gcs-scene.ts"

const calls = { GET: read, POST: write, DELETE: remove }
const methods = ["GET", "POST", "DELETE"] as const

eachTestHasItsScene()

describe("a connection that is reset", () => {
  // Tests input: The network may answer 401, 403, 429, 500, 200 with HTML, resets, silence or half a body.
  it("before a write was applied leaves it unknown, sent once", async () => {
    scene.server.script({ on: "POST", instead: "reset", applied: false })
    expect(await write()).toMatchObject({ kind: "unknown", error: { _tag: "StoreUnavailableError" } })
    expect(scene.server.counts).toEqual({ POST: 1 })
    expect(inBucket()).toBe(false)
  })

  it("after a write was applied leaves it unknown, sent once", async () => {
    scene.server.script({ on: "POST", instead: "reset" })
    expect(await write()).toMatchObject({ kind: "unknown", error: { _tag: "StoreUnavailableError" } })
    expect(scene.server.counts).toEqual({ POST: 1 })
    expect(inBucket()).toBe(true)
  })

  // Tests stores: A reset sends one request, on a warm connection.
  it("is no reason to send a write again, on a warm connection and many times", async () => {
    for (let round = 1; round <= 20; round++) {
      await read()
      scene.server.forget()
      scene.server.script({ on: "POST", instead: "reset", applied: false })
      expect(await write()).toMatchObject({ kind: "unknown" })
      expect(scene.server.counts).toEqual({ POST: 1 })
    }
  })

  it("is a failure to a read, and unknown to a delete", async () => {
    scene.server.script({ on: "GET", instead: "reset" }, { on: "GET", instead: "reset" })
    expect(await read()).toMatchObject({ kind: "failed", error: { _tag: "StoreUnavailableError" } })
    scene.server.script({ on: "DELETE", instead: "reset" }, { on: "DELETE", instead: "reset" })
    expect(await remove()).toMatchObject({ kind: "unknown", error: { _tag: "StoreUnavailableError" } })
  })

  it("and nobody listening: says which endpoint to check", async () => {
    const deaf = await startStrictGcs()
    const other = storeOn(scene.server, scene.clock, { endpoint: deaf.url })
    await deaf[Symbol.asyncDispose]()
    const error: unknown = await other.start({ deadline: 900 }).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(StoreUnavailableError)
    expect(String(error)).toContain("127.0.0.1")
    await other.close()
  })
})

describe("a server that stays silent", () => {
  // Tests input.
  it.each(methods)("%s ends at its deadline, not before", async (method) => {
    scene.server.script({ on: method, instead: "silence" })
    const arrived = scene.server.arrival(method)
    let settled = false
    const answer = calls[method]().finally(() => (settled = true))
    await arrived
    await scene.clock.advance(4999)
    expect(settled).toBe(false)
    await scene.clock.advance(1)
    expect(await answer).toMatchObject({ error: { status: "ETIMEDOUT" } })
  })

  it.each(methods)("%s ends when its caller gives up", async (method) => {
    scene.server.script({ on: method, instead: "silence" })
    const arrived = scene.server.arrival(method)
    const abort = new AbortController()
    const options = { ...readOptions(), signal: abort.signal }
    const answer = {
      GET: () => scene.store.read(lease, options),
      POST: () => scene.store.put(lease, ABSENT, bytes("{}"), options),
      DELETE: () => scene.store.remove(lease, "77", options),
    }[method]()
    await arrived
    abort.abort()
    expect(await answer).toMatchObject({ error: { status: "ECANCELED" } })
  })

  it("a caller that gave up beforehand sends nothing", async () => {
    const options = { ...within, signal: AbortSignal.abort() }
    expect(await scene.store.put(lease, ABSENT, bytes("{}"), options)).toMatchObject({ kind: "unknown" })
    expect(await scene.store.read(lease, { ...options, limit: 9 })).toMatchObject({ kind: "failed" })
    await read()
    expect(scene.server.counts).toEqual({ GET: 1 })
  })

  it.each([
    { name: "a record", ref: lease, ends: true },
    { name: "a head", ref: { area: "state", name: "key/head" }, ends: true },
    { name: "contents", ref: content, ends: false },
  ] as const)("requestTimeout ends the write of $name: $ends", async ({ ref, ends }) => {
    const other = await startedOn(scene.server, scene.clock, { requestTimeout: "2 s" })
    scene.server.script({ on: "POST", instead: "silence" })
    const arrived = scene.server.arrival("POST")
    let settled = false
    const answer = other.put(ref, ABSENT, bytes("{}"), { deadline: 60_000 }).finally(() => (settled = true))
    await arrived
    await scene.clock.advance(2000)
    if (ends) await answer
    expect(settled).toBe(ends)
    await other.close()
    expect(await answer).toMatchObject({ kind: "unknown" })
  })

  it.each([
    ["a read", "GET", read],
    ["a write", "POST", write],
  ] as const)("after half of a body: %s ends at its deadline", async (_, method, call) => {
    if (method === "GET") scene.server.buckets.write("bucket", "a/b/leases/key", new Uint8Array(40_000))
    scene.server.script({ on: method, instead: "half" })
    const arrived = scene.server.arrival(method)
    const answer = call()
    await arrived
    await scene.clock.advance(5000)
    expect(await answer).toMatchObject({ error: { status: "ETIMEDOUT" } })
  })

  it("ends the start at its deadline", async () => {
    scene.server.script({ on: "GET", instead: "silence" })
    const arrived = scene.server.arrival("GET")
    const other = storeOn(scene.server, scene.clock)
    const started = other.start({ deadline: 3000 }).catch((error: unknown) => error)
    await arrived
    await scene.clock.advance(3000)
    expect(await started).toEqual(unavailable("ETIMEDOUT"))
    await other.close()
  })

  it("ends what is in flight when the store is closed", async () => {
    scene.server.script({ on: "POST", instead: "silence" })
    const arrived = scene.server.arrival("POST")
    const answer = write()
    await arrived
    await scene.store.close()
    expect(await answer).toMatchObject({ kind: "unknown", error: { _tag: "StoreUnavailableError" } })
  })
})

describe("a body over the limit", () => {
  const size = 50 * 1024 * 1024

  it.each([
    ["whose length is told", {}],
    ["whose length isn't told", { chunked: true }],
    ["that never ends", { instead: "half" }],
  ] as [string, Fault][])("of 50 MB, %s: tooLarge, and the rest is not read", async (_, fault) => {
    const { generation } = scene.server.buckets.write("bucket", "a/b/leases/key", new Uint8Array(size))
    scene.server.script({ on: "GET", ...fault })
    expect(await read()).toMatchObject({ kind: "tooLarge", generation, storeTime: expect.any(Number) as number })
  })

  it("of the answer to a write makes it unknown", async () => {
    scene.server.script({ on: "POST", body: `{"generation":"1","x":"${"x".repeat(200_000)}"}` })
    expect(await write()).toMatchObject({ kind: "unknown", error: { _tag: "StoreUnavailableError" } })
  })

  it("is as long as the limit allows, to the byte", async () => {
    scene.server.buckets.write("bucket", "a/b/leases/key", new Uint8Array(1000))
    expect(await scene.store.read(lease, readOptions({ limit: 1000 }))).toMatchObject({ kind: "found" })
    expect(await scene.store.read(lease, readOptions({ limit: 999 }))).toMatchObject({ kind: "tooLarge" })
  })
})

describe("a server that ignores preconditions", () => {
  // Tests stores: A store that ignores write preconditions is refused; one that ignores those of deletes gets none.
  it("of writes is refused at the start, by name", async () => {
    scene.server.buckets.rules.ignored = ["write"]
    const other = storeOn(scene.server, scene.clock, { prefix: "fresh" })
    await expect(other.start(within)).rejects.toThrow("gs://bucket/fresh ignores the preconditions of writes")
    await other.close()
  })

  it("of deletes can be used, and says that it doesn't honour them", async () => {
    scene.server.buckets.rules.ignored = ["delete"]
    const other = await startedOn(scene.server, scene.clock, { prefix: "fresh" })
    expect(other.capabilities.deletes).toBe(false)
    await other.close()
  })
})

describe("a start", () => {
  it("tries again after a failure that passes", async () => {
    scene.server.script({ on: "GET", status: 503, body: "" })
    const other = storeOn(scene.server, scene.clock)
    const pausing = scene.clock.armed(1000)
    const started = other.start(within)
    await pausing
    await scene.clock.advance(1000)
    await expect(started).resolves.toBeUndefined()
    await other.close()
  })

  it("says why after some tries, however much time there is: who wants to wait starts it again", async () => {
    const refusals = Array.from({ length: 20 }, () => ({ on: "GET", status: 503, body: "" }) as const)
    scene.server.script(...refusals)
    const other = storeOn(scene.server, scene.clock)
    const failure = other.start({ deadline: 30_000 }).catch((error: unknown) => error)
    for (let second = 0; second < 5; second++) {
      const pausing = scene.clock.armed(1000)
      if ((await Promise.race([failure, pausing])) !== undefined) break
      await scene.clock.advance(1000)
    }
    expect(await failure).toEqual(unavailable(503))
    expect(scene.clock.pendingTimers).toBe(0)
    await other.close()
  })

  it("that failed can be called again", async () => {
    scene.server.script({ on: "GET", status: 503, body: "" })
    const other = storeOn(scene.server, scene.clock)
    await expect(other.start({ deadline: 500 })).rejects.toEqual(unavailable(503))
    await expect(other.start(within)).resolves.toBeUndefined()
    await other.close()
  })

  it("is one, however many ask for it", async () => {
    const other = storeOn(scene.server, scene.clock)
    await Promise.all([other.start(within), other.start(within)])
    await other.start(within)
    expect(scene.server.counts).toEqual({ GET: 1 })
    await other.close()
  })

  it("ends for the caller that gives up, and goes on for the other", async () => {
    scene.server.script({ on: "GET", instead: "silence" })
    const arrived = scene.server.arrival("GET")
    const other = storeOn(scene.server, scene.clock, { requestTimeout: "1 s" })
    const abort = new AbortController()
    const given = other.start({ deadline: 9000, signal: abort.signal }).catch((error: unknown) => error)
    const kept = other.start({ deadline: 9000 })
    await arrived
    abort.abort()
    expect(await given).toEqual(unavailable("ECANCELED"))
    const pausing = scene.clock.armed(1000)
    await scene.clock.advance(1000)
    await pausing
    await scene.clock.advance(1000)
    await expect(kept).resolves.toBeUndefined()
    await other.close()
  })
})

describe("a store that isn't open", () => {
  it("answers with what to do before its start", async () => {
    const other = storeOn(scene.server, scene.clock)
    const error: unknown = expect.objectContaining({ message: expect.stringContaining("Await its start()") as string })
    expect(await other.read(lease, readOptions())).toEqual({ kind: "failed", error })
    expect(await other.put(lease, ABSENT, bytes(""), within)).toEqual({ kind: "unknown", error })
    expect(await other.remove(lease, "1", within)).toEqual({ kind: "unknown", error })
    await expect(other.list("leases", { ...within, prefix: "" })).rejects.toEqual(error)
  })

  it("answers with what to do after its close, and doesn't start again", async () => {
    await scene.store.close()
    const error: unknown = expect.objectContaining({ message: expect.stringContaining("was closed") as string })
    expect(await read()).toEqual({ kind: "failed", error })
    await expect(scene.store.start(within)).rejects.toEqual(error)
  })

  it("leaves no timer behind", async () => {
    await write()
    await scene.store.close()
    expect(scene.clock.pendingTimers).toBe(0)
  })
})
