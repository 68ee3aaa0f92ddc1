// What a start of the GCS store asks and writes: a probe where nothing counts that is remembered of one, one list
// elsewhere, and for who only reads not a write. Each case in which a proof must not count ends with a server that
// ignores preconditions refused. tests/integration/gcs-start.test.ts counts on the real server.
import { describe, expect, it } from "vitest"
import { BucketConnection } from "../../../src/locks/stores/gcs/connection/connection.ts"
import { checkOptions } from "../../../src/locks/stores/gcs/connection/options.ts"
import { Paths } from "../../../src/locks/stores/gcs/connection/paths.ts"
import { fetchHttp } from "../../../src/locks/stores/gcs/http/fetch.ts"
import { undiciHttp } from "../../../src/locks/stores/gcs/http/undici.ts"
import { BucketObjects } from "../../../src/locks/stores/gcs/objects.ts"
import { Proofs } from "../../../src/locks/stores/gcs/proofs.ts"
import { ABSENT, type ReadAnswer } from "../../../src/locks/stores/port.ts"
import { bytes, type GcsStore, lease, readOptions, startedOn, storeOn, within } from "../../support/gcs-stores.ts"
import { eachTestHasItsScene, read, scene } from "./gcs-scene.ts"

const DAY = 86_400_000

eachTestHasItsScene()

/** The names that are remembered under a prefix, without it. */
const proofs = (prefix = "a/b"): string[] =>
  scene.server.buckets.names("bucket").flatMap((name) => name.split(`${prefix}/proofs/`).slice(1))

/** What comes of starting it, and closes it. */
async function startOf(store: GcsStore): Promise<string> {
  const end = await store.start(within).then(() => "started", String)
  await store.close()
  return end
}

const unfit: unknown = expect.stringContaining("ignores the preconditions of writes")

describe("a start", () => {
  // Tests stores: A start on a probed bucket asks once and writes nothing; readers never write.
  it("is one request where the bucket was probed before, and writes nothing", async () => {
    const other = storeOn(scene.server, scene.clock)
    await other.start(within)
    expect(scene.server.counts).toEqual({ GET: 1 })
    expect(other.capabilities).toEqual(scene.store.capabilities)
    expect(await other.put(lease, ABSENT, bytes("{}"), within)).toMatchObject({ kind: "applied" })
    await other.close()
  })

  it("remembers that deletes ignore their preconditions", async () => {
    scene.server.buckets.rules.ignored = ["delete"]
    const options = { prefix: "fresh" }
    await startedOn(scene.server, scene.clock, options).then((first) => first.close())
    scene.server.buckets.rules.ignored = []
    const other = await startedOn(scene.server, scene.clock, options)
    expect(proofs("fresh")).toHaveLength(2)
    expect(other.capabilities.deletes).toBe(false)
    await other.close()
  })

  // Tests stores: A remembered probe counts for its server and way; for others than Google's, a day.
  it("trusts the one that promises less where two were remembered", async () => {
    const [, proof = ""] = proofs()
    scene.server.buckets.write("bucket", `a/b/proofs/${proof.replace("deletes", "writes")}`, bytes(""))
    const other = await startedOn(scene.server, scene.clock)
    expect(other.capabilities.deletes).toBe(false)
    await other.close()
  })

  // Tests stores: A probe that finds a server unfit takes back what was remembered; one without an end changes nothing.
  it("that probes again and doesn't come to an end takes nothing from what writes meanwhile", async () => {
    scene.server.silenced.add("probe%2F")
    // Its own deadline, and those of a list, two deletes and the probe's first write.
    const waits = Array.from({ length: 5 }, () => scene.clock.armed(within.deadline))
    const again = scene.store.start({ ...within, probe: "again" }).catch((error: unknown) => error)
    await Promise.all(waits)
    expect(await scene.store.put(lease, ABSENT, bytes("{}"), within)).toMatchObject({ kind: "applied" })
    await scene.clock.advance(10_000)
    expect(await again).toMatchObject({ _tag: "StoreUnavailableError" })
    expect(await scene.store.put(lease, ABSENT, bytes("{}"), within)).toMatchObject({ kind: "refused" })
  })

  it("that can't remember is none the worse, and leaves the next one to probe", async () => {
    scene.server.silenced.add("name=fresh%2Fproofs")
    const options = { prefix: "fresh" }
    const other = storeOn(scene.server, scene.clock, options)
    const silent = scene.clock.armed(2500)
    const started = other.start(within)
    await silent
    await scene.clock.advance(2500)
    await started
    expect(await other.put(lease, ABSENT, bytes("{}"), within)).toMatchObject({ kind: "applied" })
    await other.close()
    scene.server.silenced.clear()
    scene.server.buckets.rules.ignored = ["write"]
    expect(await startOf(storeOn(scene.server, scene.clock, options))).toEqual(unfit)
  })
})

describe("a proof doesn't count", () => {
  // Tests stores.
  it("that was copied with the bucket's objects, under another prefix or by a server that took over the address", async () => {
    const { buckets } = scene.server
    for (const name of proofs()) {
      for (const prefix of ["a/b", "copy"]) buckets.write("bucket", `${prefix}/proofs/${name}`, bytes("copied"))
    }
    buckets.rules.ignored = ["write"]
    for (const prefix of ["a/b", "copy"])
      expect(await startOf(storeOn(scene.server, scene.clock, { prefix }))).toEqual(unfit)
  })

  it("of another way to the bucket", async () => {
    scene.server.buckets.rules.ignored = ["write"]
    const endpoint = scene.server.url.replace("127.0.0.1", "localhost")
    expect(await startOf(storeOn(scene.server, scene.clock, { endpoint }))).toEqual(unfit)
  })

  it("of a probe that asked for less, or more", async () => {
    const { buckets } = scene.server
    const [anchor = ""] = proofs()
    for (const version of ["0", "2"]) {
      const name = `old/proofs/${anchor.replace(/^1/, version)}`
      const { generation } = buckets.write("bucket", name, bytes(""))
      buckets.write("bucket", `${name}-${generation}-deletes`, bytes(""))
    }
    buckets.rules.ignored = ["write"]
    expect(await startOf(storeOn(scene.server, scene.clock, { prefix: "old" }))).toEqual(unfit)
  })

  it("that lacks its anchor, or stands alone as one", async () => {
    const { buckets } = scene.server
    const [anchor = ""] = proofs()
    buckets.write("bucket", `alone/proofs/${anchor}`, bytes(""))
    buckets.write("bucket", `lacks/proofs/${anchor}-17-deletes`, bytes(""))
    buckets.rules.ignored = ["write"]
    for (const prefix of ["alone", "lacks"])
      expect(await startOf(storeOn(scene.server, scene.clock, { prefix }))).toEqual(unfit)
  })

  it("of another day, where the server isn't Google's, and is removed by the next", async () => {
    await scene.clock.advance(DAY)
    const before = proofs()
    const other = await startedOn(scene.server, scene.clock)
    await other.close()
    expect(proofs()).toHaveLength(2)
    expect(proofs().filter((name) => before.includes(name))).toEqual([])
    await scene.clock.advance(DAY)
    scene.server.buckets.rules.ignored = ["write"]
    expect(await startOf(storeOn(scene.server, scene.clock))).toEqual(unfit)
  })

  it("for a start that is told to probe again, which forgets it first", async () => {
    scene.server.buckets.rules.ignored = ["write"]
    await expect(scene.store.start({ ...within, probe: "again" })).rejects.toThrow(
      "ignores the preconditions of writes",
    )
    expect(await scene.store.put(lease, ABSENT, bytes("{}"), within)).toMatchObject({ kind: "unknown" })
    expect(await startOf(storeOn(scene.server, scene.clock))).toEqual(unfit)
    scene.server.buckets.rules.ignored = []
    const sound = storeOn(scene.server, scene.clock)
    await sound.start({ ...within, probe: "again" })
    await sound.close()
    expect(proofs()).toHaveLength(2)
  })
})

describe("a proof of a server", () => {
  /** As of an endpoint, whose requests the strict server answers. */
  async function proofsOf(endpoint: string): Promise<Proofs> {
    const url = new URL(scene.server.url)
    const http = "Deno" in globalThis ? fetchHttp(url, scene.clock) : await undiciHttp(url, scene.clock)
    const settings = checkOptions({ bucket: "bucket", prefix: "google" })
    const grant = { headers: {}, forced: true, accepted: false }
    const credentials = { get: () => grant, rejected: () => false, close: () => {} }
    const place = { name: settings.name, bucket: "bucket", endpoint }
    const connection = new BucketConnection(place, new Paths("", "bucket", "google"), http, credentials, scene.clock)
    return new Proofs(new BucketObjects(connection, settings, scene.clock), scene.clock)
  }

  // Tests stores.
  it.each([
    ["https://storage.googleapis.com", true],
    ["https://storage-mine.p.googleapis.com", true],
    ["http://storage.googleapis.com", false],
    ["https://notgoogleapis.com", false],
    ["https://storage.googleapis.com.example.test", false],
    ["https://storage.googleapis.com:8443", false],
    ["https://gateway.test", false],
  ])("%s counts for good: %s", async (endpoint, forGood) => {
    const first = await proofsOf(endpoint)
    expect(await first.recall(within)).toBeUndefined()
    await first.remember({ deletes: true }, within)
    expect(await (await proofsOf(endpoint)).recall(within)).toEqual({ deletes: true })
    await scene.clock.advance(400 * DAY)
    expect(await (await proofsOf(endpoint)).recall(within)).toEqual(forGood ? { deletes: true } : undefined)
  })
})

describe("a start for reading alone", () => {
  // Tests stores.
  it("asks once, writes nothing, also where the bucket was never probed, and reads and lists", async () => {
    scene.server.buckets.write("bucket", "fresh/leases/key", bytes("{}"))
    const reader = storeOn(scene.server, scene.clock, { prefix: "fresh" })
    await reader.start({ ...within, probe: "never" })
    expect(scene.server.counts).toEqual({ GET: 1 })
    expect((await reader.read(lease, readOptions())).kind).toBe("found")
    expect((await reader.list("leases", { ...within, prefix: "" })).items).toHaveLength(1)
    expect(proofs("fresh")).toEqual([])
    await reader.close()
  })

  it("sends no write, and says what to do, until a start that proves the server", async () => {
    const store = storeOn(scene.server, scene.clock, { prefix: "fresh" })
    await store.start({ ...within, probe: "never" })
    const error: unknown = expect.objectContaining({ message: expect.stringContaining("for reading alone") as string })
    expect(await store.put(lease, ABSENT, bytes("{}"), within)).toEqual({ kind: "unknown", error })
    expect(await store.remove(lease, "1", within)).toEqual({ kind: "unknown", error })
    expect(Object.keys(scene.server.counts)).toEqual(["GET"])
    await store.start(within)
    expect(await store.put(lease, ABSENT, bytes("{}"), within)).toMatchObject({ kind: "applied" })
    await store.close()
  })

  it("can read what a server keeps that may not be written to, and still refuses to write there", async () => {
    scene.server.buckets.rules.ignored = ["write"]
    const store = storeOn(scene.server, scene.clock, { prefix: "fresh" })
    await store.start({ ...within, probe: "never" })
    await expect(store.start(within)).rejects.toThrow("ignores the preconditions of writes")
    const answer: ReadAnswer = await store.read(lease, readOptions())
    expect(answer.kind).toBe("absent")
    expect(await store.put(lease, ABSENT, bytes("{}"), within)).toMatchObject({ kind: "unknown" })
    await store.close()
  })

  it("tells of a bucket that is missing", async () => {
    const reader = storeOn(scene.server, scene.clock, { bucket: "no-such-bucket" })
    await expect(reader.start({ ...within, probe: "never" })).rejects.toMatchObject({ status: 404 })
    await reader.close()
    expect((await read()).kind).toBe("absent")
  })
})
