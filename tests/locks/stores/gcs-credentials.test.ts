// Who the GCS store says it is, and to whom: endpoint and credentials of a client or of the environment, tokens renewed
// off the path of requests, and one renewal for a token that is refused. The tokens come from a real exchange, over
// HTTP, by the real google-auth-library.
import { execFile } from "node:child_process"
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import type { Duplex } from "node:stream"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { Storage } from "@google-cloud/storage"
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest"
import { gcsStore } from "../../../src/locks/stores/gcs/mod.ts"
import { ABSENT } from "../../../src/locks/stores/port.ts"
import {
  bytes,
  federated,
  type GcsStore,
  lease,
  readOptions,
  startedOn,
  storeOn,
  TellingTime,
  within,
} from "../../support/gcs-stores.ts"
import { startStrictGcs, type StrictGcsServer } from "../../support/strict-gcs-server.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url))
const deno = "Deno" in globalThis ? process.execPath : join(root, "node_modules", ".bin", "deno")

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

function client(): Storage {
  return new Storage({
    apiEndpoint: server.url,
    useAuthWithCustomEndpoint: true,
    projectId: "project",
    credentials: federated(server.url),
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

  // Tests stores: Credentials go to Cloud Storage and the named endpoint, and never in the open to another machine.
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

/**
 * Credentials as a file that the environment names, and a `gcloud` first on the PATH that leaves a trace when it is
 * asked.
 */
function environment(credentials: object): { readonly gcloudWasAsked: () => boolean } {
  const folder = mkdtempSync(join(tmpdir(), "leasehold-credentials-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [file, gcloud, trace] = ["adc.json", "gcloud", "trace"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  writeFileSync(file, JSON.stringify(credentials))
  writeFileSync(gcloud, `#!/bin/sh\ntouch '${trace}'\n`)
  chmodSync(gcloud, 0o755)
  vi.stubEnv("GOOGLE_APPLICATION_CREDENTIALS", file)
  vi.stubEnv("PATH", `${folder}:${process.env["PATH"]}`)
  vi.stubEnv("GCE_METADATA_HOST", new URL(server.url).host)
  vi.stubEnv("STORAGE_EMULATOR_HOST", "")
  for (const name of ["GCLOUD_PROJECT", "GOOGLE_CLOUD_PROJECT"]) vi.stubEnv(name, "")
  return { gcloudWasAsked: () => existsSync(trace) }
}

describe("the credentials of the environment", () => {
  afterEach(() => vi.unstubAllEnvs())

  // Tests stores: A bucket is asked for with a token and nothing else: no project, no `gcloud`, no other server.
  it("of a workload ask for its token, and for no project that it may not see", async () => {
    const { gcloudWasAsked } = environment({
      ...federated(server.url),
      cloud_resource_manager_url: `${server.url}/v1/projects/`,
    })
    vi.stubEnv("CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE", server.url)
    server.buckets.rules.token = "token-1"
    const store = gcsStore({ bucket: "bucket", clock })
    stores.push(store)
    await store.start(within)
    expect(server.counts["token"]).toBe(1)
    expect(server.requests.filter(({ path }) => !/^(\/upload)?\/storage\/v1\/b\/bucket\/o/.test(path))).toEqual([])
    expect(gcloudWasAsked()).toBe(false)
  })

  it("of a user of gcloud ask for a token, and nothing and nobody else", async () => {
    const { gcloudWasAsked } = environment({
      type: "authorized_user",
      client_id: "c",
      client_secret: "s",
      refresh_token: "r",
    })
    const asked = new Set<string | undefined>()
    const proxy = createServer().on("connect", ({ url }: { url?: string }, socket: Duplex) => {
      asked.add(url)
      socket.on("error", () => {}).end("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n")
    })
    await new Promise<void>((settle) => void proxy.listen(0, "127.0.0.1", settle))
    onTestFinished(() => void proxy.close())
    for (const name of ["https_proxy", "NO_PROXY", "no_proxy"]) vi.stubEnv(name, "")
    vi.stubEnv("HTTP_PROXY", "http://not for this")
    vi.stubEnv("HTTPS_PROXY", `127.0.0.1:${(proxy.address() as AddressInfo).port}`)
    const store = gcsStore({ bucket: "bucket", clock })
    stores.push(store)
    await expect(store.start({ deadline: 900 })).rejects.toThrow("no credentials for gs://bucket")
    expect([...asked]).toEqual(["oauth2.googleapis.com:443"])
    expect(server.requests).toEqual([])
    expect(gcloudWasAsked()).toBe(false)
  })
})

describe("the endpoint of a GCS store", () => {
  afterEach(() => vi.unstubAllEnvs())

  /** A store that is told nothing but its bucket. */
  async function onlyBucket(): Promise<void> {
    const store = gcsStore({ bucket: "bucket", clock })
    stores.push(store)
    await store.start(within)
  }

  it.each(["", "/", "/storage/v1", "/storage/v1/"])("is STORAGE_EMULATOR_HOST, with %j after it", async (path) => {
    vi.stubEnv("STORAGE_EMULATOR_HOST", server.url + path)
    await onlyBucket()
    expect(server.requests[0]?.path).toBe("/storage/v1/b/bucket/o")
  })

  it("is STORAGE_EMULATOR_HOST without a scheme too, by http", async () => {
    vi.stubEnv("STORAGE_EMULATOR_HOST", new URL(server.url).host)
    await onlyBucket()
    expect(server.requests[0]?.path).toBe("/storage/v1/b/bucket/o")
  })

  it("given as an option is stronger than STORAGE_EMULATOR_HOST, and that than the override", async () => {
    vi.stubEnv("STORAGE_EMULATOR_HOST", "http://127.0.0.1:9")
    stores.push(await startedOn(server, clock))
    vi.stubEnv("STORAGE_EMULATOR_HOST", server.url)
    vi.stubEnv("CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE", "https://127.0.0.1:9")
    await onlyBucket()
    expect(stores).toHaveLength(2)
  })

  it("is the option's in a process that Deno lets read no variable", async () => {
    const program = fileURLToPath(new URL("../programs/gcs-without-environment.ts", import.meta.url))
    const config = join(root, "deno.json")
    const args = ["run", "--allow-net", "--allow-read", "--no-prompt", "--quiet", "--config", config, program]
    expect((await promisify(execFile)(deno, args)).stdout).toBe("applied\n")
  })

  // Tests stores.
  it("is CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE, which is sent credentials", async () => {
    environment(federated(server.url))
    vi.stubEnv("CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE", `${server.url}/storage/v1/`)
    server.buckets.rules.token = "token-1"
    await onlyBucket()
    expect(server.requests[0]?.headers["authorization"]).toBe("Bearer token-1")
  })

  it.each([
    ["STORAGE_EMULATOR_HOST", "http://a host"],
    ["STORAGE_EMULATOR_HOST", "localhost:99999"],
    ["STORAGE_EMULATOR_HOST", "ftp://host"],
    ["CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE", "storage-me.p.googleapis.com"],
    ["CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE", "http://storage-me.p.googleapis.com"],
    ["CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE", "http://127.0.0.1.example.test"],
  ])("is refused by name where %s is %s", async (name, value) => {
    vi.stubEnv("STORAGE_EMULATOR_HOST", "")
    vi.stubEnv(name, value)
    const message = expect.stringContaining(`${name} is`) as string
    await expect(onlyBucket()).rejects.toMatchObject({ _tag: "InvalidConfigError", message })
  })
})
