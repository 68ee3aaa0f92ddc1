// What the GCS store makes of everything that can go wrong on the way: a typed error that says what to do, in time, and
// never "absent", "applied" or a second copy of a write. Real HTTP; time passes only when a test lets it.
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { StoreMisconfiguredError, StoreUnavailableError } from "../../../src/locks/errors.ts"
import { ABSENT, type ReadAnswer, type WriteAnswer } from "../../../src/locks/store.ts"
import {
  bytes,
  content,
  type GcsStore,
  lease,
  readOptions,
  startedOn,
  storeOn,
  TellingTime,
  within,
} from "../../support/gcs-stores.ts"
import { type Fault, startStrictGcs, type StrictGcsServer } from "../../support/strict-gcs-server.ts"

const page = "<!DOCTYPE html><html><body>Please sign in</body></html>"
const html = { headers: { "content-type": "text/html" }, body: page }

let server: StrictGcsServer
let clock: TellingTime
let store: GcsStore

beforeEach(async () => {
  server = await startStrictGcs()
  clock = new TellingTime()
  store = await startedOn(server, clock)
})

afterEach(async () => {
  await store.close()
  await server[Symbol.asyncDispose]()
})

const read = (): Promise<ReadAnswer> => store.read(lease, readOptions())
const write = (): Promise<WriteAnswer> => store.put(lease, ABSENT, bytes("{}"), within)
const remove = (): Promise<WriteAnswer> => store.remove(lease, "77", within)
const list = (): Promise<unknown> =>
  store.list("leases", { ...within, prefix: "" }).then(
    (value) => ({ kind: "listed", value }),
    (error: unknown) => ({ kind: "failed", error }),
  )
const inBucket = (): boolean => server.buckets.object("bucket", "a/b/leases/key") !== undefined

const calls = { GET: read, POST: write, DELETE: remove }
const methods = ["GET", "POST", "DELETE"] as const
const everyCall = [
  ["a read", read, "failed"],
  ["a write", write, "unknown"],
  ["a delete", remove, "unknown"],
  ["a list", list, "failed"],
] as const

function unavailable(status: unknown, text = ""): unknown {
  return expect.objectContaining({
    _tag: "StoreUnavailableError",
    retryable: true,
    status,
    message: expect.stringContaining(text) as string,
  })
}

function misconfigured(status: unknown, text: string): unknown {
  return expect.objectContaining({
    _tag: "StoreMisconfiguredError",
    retryable: false,
    status,
    message: expect.stringContaining(text) as string,
  })
}

describe("a bucket that doesn't exist", () => {
  it("ends the start with an error that names it and how to make it", async () => {
    const other = storeOn(server, clock, { bucket: "no-such-bucket" })
    const error: unknown = await other.start(within).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(StoreMisconfiguredError)
    expect(error).toEqual(misconfigured(404, "no-such-bucket doesn't exist"))
    expect(String(error)).toContain("gcloud storage buckets create gs://no-such-bucket")
    await other.close()
  })

  it.each(everyCall)(
    "is never an absent object to %s, also when it vanished after the start",
    async (_, call, kind) => {
      server.buckets.drop("bucket")
      expect(await call()).toEqual({ kind, error: misconfigured(404, "bucket doesn't exist") })
    },
  )
})

describe("an answer that says no", () => {
  it.each(everyCall)("401 without credentials to renew ends %s for good", async (_, call, kind) => {
    server.buckets.rules.token = "secret"
    expect(await call()).toEqual({ kind, error: misconfigured(401, "useAuthWithCustomEndpoint") })
  })

  it.each([
    ["a read", read, "failed", "storage.objects.get"],
    ["a write", write, "unknown", "storage.objects.create"],
    ["a delete", remove, "unknown", "storage.objects.delete"],
    ["a list", list, "failed", "storage.objects.list"],
  ] as const)("403 names the permission that %s lacks, and the role that has it", async (_, call, kind, permission) => {
    server.buckets.rules.lacking = [permission]
    const answer = await call()
    expect(answer).toEqual({ kind, error: misconfigured(403, permission) })
    expect(String((answer as { error: unknown }).error)).toContain("roles/storage.objectUser")
  })

  it.each(["storage.objects.list", "storage.objects.get", "storage.objects.create", "storage.objects.delete"])(
    "a start without %s is refused",
    async (permission) => {
      server.buckets.rules.lacking = [permission]
      const other = storeOn(server, clock)
      await expect(other.start(within)).rejects.toEqual(misconfigured(403, permission))
      await other.close()
    },
  )

  it("a rate limit that comes as a 403 passes", async () => {
    const body = JSON.stringify({
      error: { code: 403, message: "slow down", errors: [{ reason: "rateLimitExceeded" }] },
    })
    server.script({ on: "POST", status: 403, body, applied: false })
    expect(await write()).toEqual({ kind: "unknown", error: unavailable(403, "slow down") })
  })

  it("a second write within a second is throttled, and then the object is as the first left it", async () => {
    server.buckets.rules.spacing = true
    const first = await write()
    const generation = first.kind === "applied" ? first.generation : ""
    const second = await store.put(lease, generation, bytes("2"), within)
    expect(second).toEqual({ kind: "unknown", throttled: true, error: unavailable(429, "one write a second") })
    expect(await read()).toMatchObject({ kind: "found", generation })
  })

  it("429 to a read is a failure that passes", async () => {
    server.script({ on: "GET", status: 429, body: "" })
    expect(await read()).toEqual({ kind: "failed", error: unavailable(429) })
  })

  it.each([408, 409, 500, 502, 503, 504])("status %d says nothing about what became of a write", async (status) => {
    server.script({ on: "POST", status, ...html }, { on: "GET", status, ...html })
    expect(await write()).toEqual({ kind: "unknown", error: unavailable(status) })
    expect(inBucket()).toBe(true)
    expect(await read()).toEqual({ kind: "failed", error: unavailable(status) })
  })

  it.each([400, 405, 413])("status %d is not worth another try", async (status) => {
    const body = JSON.stringify({ error: { code: status, message: "Bad thing" } })
    server.script({ on: "POST", status, body, applied: false })
    expect(await write()).toEqual({ kind: "unknown", error: misconfigured(status, "Bad thing") })
  })
})

describe("an answer that isn't of GCS", () => {
  it.each(everyCall)("200 with a web page says nothing to %s", async (_, call, kind) => {
    server.script({ ...html, status: 200, applied: false })
    expect(await call()).toEqual({ kind, error: unavailable(200, "proxy") })
  })

  it.each(everyCall)("404 with a web page says nothing to %s", async (_, call, kind) => {
    server.script({ ...html, status: 404, applied: false })
    expect(await call()).toEqual({ kind, error: unavailable(404, "proxy") })
  })

  it.each(everyCall)("302 is not followed by %s", async (_, call, kind) => {
    server.script({ status: 302, headers: { location: `${server.url}/elsewhere` }, body: "", applied: false })
    expect(await call()).toEqual({ kind, error: unavailable(302, "proxy") })
    expect(Object.values(server.counts)).toEqual([1])
  })

  it.each(["{}", '{"generation":17}', '{"generation":"x"}', "[]", "null", '"1"', "", '{"generation":"1'])(
    "200 with %j doesn't make a write applied",
    async (body) => {
      server.script({ on: "POST", status: 200, body })
      expect(await write()).toEqual({ kind: "unknown", error: unavailable(200) })
    },
  )

  it.each([
    "{}",
    "[]",
    '{"kind":"storage#objects","items":[null]}',
    '{"kind":"storage#objects","items":[{}]}',
    '{"kind":"storage#objects","items":["x"]}',
    '{"kind":"storage#objects","items":[{"name":"a/b/leases/x"}]}',
    "[",
    "7",
  ])("200 with %j is no list", async (body) => {
    server.script({ on: "GET", status: 200, body })
    expect(await list()).toMatchObject({ kind: "failed", error: { _tag: "StoreUnavailableError" } })
  })

  it("ends the start", async () => {
    server.script({ ...html, status: 200 })
    const other = storeOn(server, clock)
    await expect(other.start({ deadline: 900 })).rejects.toEqual(unavailable(200, "proxy"))
    await other.close()
  })
})

describe("a connection that is reset", () => {
  it("before a write was applied leaves it unknown, sent once", async () => {
    server.script({ on: "POST", instead: "reset", applied: false })
    expect(await write()).toMatchObject({ kind: "unknown", error: { _tag: "StoreUnavailableError" } })
    expect(server.counts).toEqual({ POST: 1 })
    expect(inBucket()).toBe(false)
  })

  it("after a write was applied leaves it unknown, sent once", async () => {
    server.script({ on: "POST", instead: "reset" })
    expect(await write()).toMatchObject({ kind: "unknown", error: { _tag: "StoreUnavailableError" } })
    expect(server.counts).toEqual({ POST: 1 })
    expect(inBucket()).toBe(true)
  })

  it("is no reason to send a write again, on a warm connection and many times", async () => {
    for (let round = 1; round <= 20; round++) {
      await read()
      server.forget()
      server.script({ on: "POST", instead: "reset", applied: false })
      expect(await write()).toMatchObject({ kind: "unknown" })
      expect(server.counts).toEqual({ POST: 1 })
    }
  })

  it("is a failure to a read, and unknown to a delete", async () => {
    server.script({ on: "GET", instead: "reset" }, { on: "GET", instead: "reset" })
    expect(await read()).toMatchObject({ kind: "failed", error: { _tag: "StoreUnavailableError" } })
    server.script({ on: "DELETE", instead: "reset" }, { on: "DELETE", instead: "reset" })
    expect(await remove()).toMatchObject({ kind: "unknown", error: { _tag: "StoreUnavailableError" } })
  })

  it("and nobody listening: says which endpoint to check", async () => {
    const deaf = await startStrictGcs()
    const other = storeOn(server, clock, { endpoint: deaf.url })
    await deaf[Symbol.asyncDispose]()
    const error: unknown = await other.start({ deadline: 900 }).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(StoreUnavailableError)
    expect(String(error)).toContain("127.0.0.1")
    await other.close()
  })
})

describe("a server that stays silent", () => {
  it.each(methods)("%s ends at its deadline, not before", async (method) => {
    server.script({ on: method, instead: "silence" })
    const arrived = server.arrival(method)
    let settled = false
    const answer = calls[method]().finally(() => (settled = true))
    await arrived
    await clock.advance(4999)
    expect(settled).toBe(false)
    await clock.advance(1)
    expect(await answer).toMatchObject({ error: { status: "ETIMEDOUT" } })
  })

  it.each(methods)("%s ends when its caller gives up", async (method) => {
    server.script({ on: method, instead: "silence" })
    const arrived = server.arrival(method)
    const abort = new AbortController()
    const options = { ...readOptions(), signal: abort.signal }
    const answer = {
      GET: () => store.read(lease, options),
      POST: () => store.put(lease, ABSENT, bytes("{}"), options),
      DELETE: () => store.remove(lease, "77", options),
    }[method]()
    await arrived
    abort.abort()
    expect(await answer).toMatchObject({ error: { status: "ECANCELED" } })
  })

  it("a caller that gave up beforehand sends nothing", async () => {
    const options = { ...within, signal: AbortSignal.abort() }
    expect(await store.put(lease, ABSENT, bytes("{}"), options)).toMatchObject({ kind: "unknown" })
    expect(await store.read(lease, { ...options, limit: 9 })).toMatchObject({ kind: "failed" })
    await read()
    expect(server.counts).toEqual({ GET: 1 })
  })

  it.each([
    { name: "a record", ref: lease, ends: true },
    { name: "a head", ref: { area: "state", name: "key/head" }, ends: true },
    { name: "contents", ref: content, ends: false },
  ] as const)("requestTimeout ends the write of $name: $ends", async ({ ref, ends }) => {
    const other = await startedOn(server, clock, { requestTimeout: "2 s" })
    server.script({ on: "POST", instead: "silence" })
    const arrived = server.arrival("POST")
    let settled = false
    const answer = other.put(ref, ABSENT, bytes("{}"), { deadline: 60_000 }).finally(() => (settled = true))
    await arrived
    await clock.advance(2000)
    if (ends) await answer
    expect(settled).toBe(ends)
    await other.close()
    expect(await answer).toMatchObject({ kind: "unknown" })
  })

  it.each([
    ["a read", "GET", read],
    ["a write", "POST", write],
  ] as const)("after half of a body: %s ends at its deadline", async (_, method, call) => {
    if (method === "GET") server.buckets.write("bucket", "a/b/leases/key", new Uint8Array(40_000))
    server.script({ on: method, instead: "half" })
    const arrived = server.arrival(method)
    const answer = call()
    await arrived
    await clock.advance(5000)
    expect(await answer).toMatchObject({ error: { status: "ETIMEDOUT" } })
  })

  it("ends the start at its deadline", async () => {
    server.script({ on: "GET", instead: "silence" })
    const arrived = server.arrival("GET")
    const other = storeOn(server, clock)
    const started = other.start({ deadline: 3000 }).catch((error: unknown) => error)
    await arrived
    await clock.advance(3000)
    expect(await started).toEqual(unavailable("ETIMEDOUT"))
    await other.close()
  })

  it("ends what is in flight when the store is closed", async () => {
    server.script({ on: "POST", instead: "silence" })
    const arrived = server.arrival("POST")
    const answer = write()
    await arrived
    await store.close()
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
    const { generation } = server.buckets.write("bucket", "a/b/leases/key", new Uint8Array(size))
    server.script({ on: "GET", ...fault })
    expect(await read()).toMatchObject({ kind: "tooLarge", generation, storeTime: expect.any(Number) as number })
  })

  it("of the answer to a write makes it unknown", async () => {
    server.script({ on: "POST", body: `{"generation":"1","x":"${"x".repeat(200_000)}"}` })
    expect(await write()).toMatchObject({ kind: "unknown", error: { _tag: "StoreUnavailableError" } })
  })

  it("is as long as the limit allows, to the byte", async () => {
    server.buckets.write("bucket", "a/b/leases/key", new Uint8Array(1000))
    expect(await store.read(lease, readOptions({ limit: 1000 }))).toMatchObject({ kind: "found" })
    expect(await store.read(lease, readOptions({ limit: 999 }))).toMatchObject({ kind: "tooLarge" })
  })
})

describe("a server that ignores preconditions", () => {
  it("of writes is refused at the start, by name", async () => {
    server.buckets.rules.ignored = ["write"]
    const other = storeOn(server, clock)
    await expect(other.start(within)).rejects.toThrow("gs://bucket/a/b ignores the preconditions of writes")
    await other.close()
  })

  it("of deletes can be used, and says that it doesn't honour them", async () => {
    server.buckets.rules.ignored = ["delete"]
    const other = await startedOn(server, clock)
    expect(other.capabilities.deletes).toBe(false)
    await other.close()
  })
})

describe("a start", () => {
  it("tries again after a failure that passes", async () => {
    server.script({ on: "GET", status: 503, body: "" })
    const other = storeOn(server, clock)
    const pausing = clock.armed(1000)
    const started = other.start(within)
    await pausing
    await clock.advance(1000)
    await expect(started).resolves.toBeUndefined()
    await other.close()
  })

  it("that failed can be called again", async () => {
    server.script({ on: "GET", status: 503, body: "" })
    const other = storeOn(server, clock)
    await expect(other.start({ deadline: 500 })).rejects.toEqual(unavailable(503))
    await expect(other.start(within)).resolves.toBeUndefined()
    await other.close()
  })

  it("is one, however many ask for it", async () => {
    const other = storeOn(server, clock)
    await Promise.all([other.start(within), other.start(within)])
    await other.start(within)
    const one = server.counts
    server.forget()
    await startedOn(server, clock).then((another) => another.close())
    expect(server.counts).toEqual({})
    expect(one).toMatchObject({ POST: 4 })
    await other.close()
  })

  it("ends for the caller that gives up, and goes on for the other", async () => {
    server.script({ on: "GET", instead: "silence" })
    const arrived = server.arrival("GET")
    const other = storeOn(server, clock, { requestTimeout: "1 s" })
    const abort = new AbortController()
    const given = other.start({ deadline: 9000, signal: abort.signal }).catch((error: unknown) => error)
    const kept = other.start({ deadline: 9000 })
    await arrived
    abort.abort()
    expect(await given).toEqual(unavailable("ECANCELED"))
    const pausing = clock.armed(1000)
    await clock.advance(1000)
    await pausing
    await clock.advance(1000)
    await expect(kept).resolves.toBeUndefined()
    await other.close()
  })
})

describe("a store that isn't open", () => {
  it("answers with what to do before its start", async () => {
    const other = storeOn(server, clock)
    const error: unknown = expect.objectContaining({ message: expect.stringContaining("Await its start()") as string })
    expect(await other.read(lease, readOptions())).toEqual({ kind: "failed", error })
    expect(await other.put(lease, ABSENT, bytes(""), within)).toEqual({ kind: "unknown", error })
    expect(await other.remove(lease, "1", within)).toEqual({ kind: "unknown", error })
    await expect(other.list("leases", { ...within, prefix: "" })).rejects.toEqual(error)
  })

  it("answers with what to do after its close, and doesn't start again", async () => {
    await store.close()
    const error: unknown = expect.objectContaining({ message: expect.stringContaining("was closed") as string })
    expect(await read()).toEqual({ kind: "failed", error })
    await expect(store.start(within)).rejects.toEqual(error)
  })

  it("leaves no timer behind", async () => {
    await write()
    await store.close()
    expect(clock.pendingTimers).toBe(0)
  })
})
