// Who the GCS store says it is: endpoint and credentials as @google-cloud/storage has them, tokens renewed off the path of
// requests, and one renewal for a token that is refused. The tokens come from a real exchange, over HTTP, by the real client.
import process from "node:process"
import { Storage } from "@google-cloud/storage"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { ABSENT } from "../../../src/locks/store.ts"
import { gcsStore } from "../../../src/locks/stores/gcs/mod.ts"
import {
  bytes,
  type GcsStore,
  lease,
  readOptions,
  startedOn,
  storeOn,
  TellingTime,
  within,
} from "../../support/gcs-stores.ts"
import { startStrictGcs, type StrictGcsServer } from "../../support/strict-gcs-server.ts"

let server: StrictGcsServer
let clock: TellingTime
const stores: GcsStore[] = []

beforeEach(async () => {
  vi.spyOn(console, "warn").mockImplementation(() => {}) // the client warns of credentials given as an object
  server = await startStrictGcs()
  clock = new TellingTime()
})

afterEach(async () => {
  vi.restoreAllMocks()
  await Promise.all(stores.splice(0).map((store) => store.close()))
  await server[Symbol.asyncDispose]()
})

/** A workload that trades its own token for one of Google's, as on another cloud. */
function client(): Storage {
  return new Storage({
    apiEndpoint: server.url,
    useAuthWithCustomEndpoint: true,
    projectId: "project",
    credentials: {
      type: "external_account",
      audience: "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/provider",
      subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
      token_url: `${server.url}/sts/token`,
      credential_source: { url: `${server.url}/sts/subject` },
    },
  })
}

function unstarted(storage: Storage = client()): GcsStore {
  const store = storeOn(server, clock, { storage })
  stores.push(store)
  return store
}

/** Started on a server that lets in `token-1` only; its requests are counted from here on. */
async function authorized(): Promise<GcsStore> {
  server.buckets.rules.token = "token-1"
  const store = await startedOn(server, clock, { storage: client() })
  stores.push(store)
  return store
}

describe("the credentials of a GCS store", () => {
  it("are those of the client that it was given, asked for once", async () => {
    server.buckets.rules.token = "token-1"
    const store = unstarted()
    await store.start(within)
    await Promise.all(Array.from({ length: 20 }, () => store.read(lease, readOptions())))
    expect(server.counts["token"]).toBe(1)
    expect(new Set(server.requests.map(({ headers }) => headers["authorization"]))).toEqual(new Set(["Bearer token-1"]))
  })

  it("are not sent to an endpoint of one's own, unless the client says so", async () => {
    const store = await startedOn(server, clock)
    stores.push(store)
    await store.read(lease, readOptions())
    expect(server.requests[0]?.headers["authorization"]).toBeUndefined()
  })

  it("are renewed once by a 401, after which the same call succeeds", async () => {
    const store = await authorized()
    server.token.value = server.buckets.rules.token = "token-2"
    const refused = await store.put(lease, ABSENT, bytes("{}"), within)
    expect(refused).toMatchObject({ kind: "unknown", error: { _tag: "StoreUnavailableError", status: 401 } })
    expect(await store.put(lease, ABSENT, bytes("{}"), within)).toMatchObject({ kind: "applied" })
    expect(server.counts).toMatchObject({ POST: 2, token: 1 })
  })

  it("are renewed once by many 401s at a time", async () => {
    const store = await authorized()
    server.token.value = server.buckets.rules.token = "token-2"
    const reads = (): Promise<string[]> =>
      Promise.all(Array.from({ length: 10 }, async () => (await store.read(lease, readOptions())).kind))
    expect(new Set(await reads())).toEqual(new Set(["failed"]))
    expect(new Set(await reads())).toEqual(new Set(["absent"]))
    expect(server.counts["token"]).toBe(1)
  })

  it("that are refused after their renewal too are an error of the set-up, and not renewed again and again", async () => {
    const store = await authorized()
    server.buckets.rules.token = "another"
    const seen: unknown[] = []
    for (let n = 0; n < 4; n++) seen.push(await store.read(lease, readOptions()))
    const error = { _tag: "StoreMisconfiguredError", status: 401 }
    expect(seen).toMatchObject([
      { kind: "failed", error: { _tag: "StoreUnavailableError" } },
      { kind: "failed", error },
      { kind: "failed", error },
      { kind: "failed", error },
    ])
    expect(server.counts["token"]).toBe(1)
  })

  it("are tried again after a minute, so that a store outlives an outage of the token service", async () => {
    const store = await authorized()
    server.buckets.rules.token = "another"
    for (let n = 0; n < 3; n++) await store.read(lease, readOptions())
    server.token.value = "another"
    const renewed = clock.armed(60_000)
    await clock.advance(60_000)
    await renewed
    await store.read(lease, readOptions())
    expect(await store.read(lease, readOptions())).toMatchObject({ kind: "absent" })
  })

  it("are renewed beside the requests: while the token service is silent, the old token serves", async () => {
    server.token.expiresIn = 60
    const store = await authorized()
    server.token.answers = "silent"
    const asked = server.arrival("token")
    await clock.advance(60_000)
    await asked
    expect(await store.read(lease, readOptions())).toMatchObject({ kind: "absent" })
  })

  it("survive a renewal that fails: it is tried again in ten seconds", async () => {
    server.token.expiresIn = 60
    const store = await authorized()
    server.token.answers = "refused"
    const failed = clock.armed(10_000)
    await clock.advance(60_000)
    await failed
    server.token.answers = "given"
    server.token.value = server.buckets.rules.token = "token-2"
    const renewed = clock.armed(60_000)
    await clock.advance(10_000)
    await renewed
    expect(await store.read(lease, readOptions())).toMatchObject({ kind: "absent" })
  })

  it("that a silent token service doesn't give end the start at its deadline", async () => {
    server.token.answers = "silent"
    const asked = server.arrival("token")
    const started = unstarted()
      .start({ deadline: 3000 })
      .catch((error: unknown) => error)
    await asked
    await clock.advance(3000)
    expect(await started).toMatchObject({ _tag: "StoreUnavailableError" })
  })

  it("that are refused at the start, even renewed, end it", async () => {
    server.buckets.rules.token = "another"
    const pausing = clock.armed(1000)
    const started = unstarted()
      .start(within)
      .catch((error: unknown) => error)
    await pausing
    await clock.advance(1000)
    expect(await started).toMatchObject({ _tag: "StoreMisconfiguredError", status: 401 })
    expect(server.counts).toMatchObject({ GET: 2, token: 2 })
  })

  it("that don't exist end the start with where to get them", async () => {
    server.token.answers = "refused"
    const error: unknown = await unstarted()
      .start(within)
      .catch((reason: unknown) => reason)
    expect(error).toMatchObject({ _tag: "StoreMisconfiguredError" })
    expect(String(error)).toContain("gcloud auth application-default login")
    const missing = new Storage({
      apiEndpoint: server.url,
      useAuthWithCustomEndpoint: true,
      keyFilename: "/nowhere/key.json",
    })
    await expect(unstarted(missing).start(within)).rejects.toMatchObject({ _tag: "StoreMisconfiguredError" })
  })

  it("leave no timer behind when the store is closed", async () => {
    const store = await authorized()
    expect(clock.pendingTimers).toBe(1)
    expect(clock.pendingBackground).toBe(1)
    await store.close()
    expect(clock.pendingTimers).toBe(0)
  })

  it("leave no timer behind when the store is closed during a renewal", async () => {
    server.token.expiresIn = 60
    const store = await authorized()
    server.token.answers = "silent"
    const asked = server.arrival("token")
    await clock.advance(60_000)
    await asked
    await store.close()
    await clock.advance(30_000)
    expect(clock.pendingTimers).toBe(0)
  })
})

describe("the endpoint of a GCS store", () => {
  const saved = process.env["STORAGE_EMULATOR_HOST"]

  afterEach(() => {
    if (saved === undefined) delete process.env["STORAGE_EMULATOR_HOST"]
    else process.env["STORAGE_EMULATOR_HOST"] = saved
  })

  it.each(["", "/", "/storage/v1", "/storage/v1/"])("is STORAGE_EMULATOR_HOST, with %j after it", async (path) => {
    process.env["STORAGE_EMULATOR_HOST"] = server.url + path
    const store = gcsStore({ bucket: "bucket", clock })
    stores.push(store)
    await store.start(within)
    expect(server.requests[0]?.path).toBe("/storage/v1/b/bucket/o")
  })

  it("given as an option is stronger than STORAGE_EMULATOR_HOST", async () => {
    process.env["STORAGE_EMULATOR_HOST"] = "http://127.0.0.1:9"
    stores.push(await startedOn(server, clock))
    expect(stores).toHaveLength(1)
  })

  it("that is no URL is refused", async () => {
    process.env["STORAGE_EMULATOR_HOST"] = "http://a host"
    const store = gcsStore({ bucket: "bucket", clock })
    await expect(store.start(within)).rejects.toMatchObject({ _tag: "InvalidConfigError" })
  })
})
