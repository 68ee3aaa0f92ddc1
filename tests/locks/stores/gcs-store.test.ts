// The GCS store against a server that keeps GCS's rules: what goes over the wire, and what comes of each answer.
import { Buffer } from "node:buffer"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { bucketMetadata } from "../../../src/locks/stores/gcs/metadata.ts"
import { gcsStore } from "../../../src/locks/stores/gcs/mod.ts"
import { ABSENT, type WriteAnswer } from "../../../src/locks/stores/port.ts"
import { type Clock, liveClock } from "../../../src/runtime/time/clock.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"
import { conformance, type MakeStore } from "../../../src/testing/mod.ts"
import { describeConformance } from "../../support/conformance.ts"
import {
  bytes,
  content,
  type GcsStore,
  lease,
  readOptions,
  startedOn,
  storeOn,
  textOf,
  within,
} from "../../support/gcs-stores.ts"
import { startStrictGcs, type StrictGcsServer } from "../../support/strict-gcs-server.ts"

const storeTime = Date.UTC(2031, 1, 28, 23, 59, 58)

let server: StrictGcsServer
let store: GcsStore

beforeEach(async () => {
  server = await startStrictGcs({ now: () => storeTime + 345 })
  store = await startedOn(server)
})

afterEach(async () => {
  await store.close()
  await server[Symbol.asyncDispose]()
})

async function written(text: string, expected: string = ABSENT): Promise<string> {
  const answer = await store.put(lease, expected, bytes(text), within)
  if (answer.kind !== "applied") throw new Error(`not applied: ${answer.kind}`)
  return answer.generation
}

describe("a GCS store", () => {
  it("is named by its bucket and prefix, whatever the endpoint, and says what it can", () => {
    expect(store.name).toBe("gs://bucket/a/b")
    expect(storeOn(server, new VirtualTime(), { prefix: "" }).name).toBe("gs://bucket")
    expect(store.capabilities).toEqual({
      clock: "coarse",
      sameClock: false,
      deletes: true,
      cheapReads: false,
      writeSpacing: 1000,
    })
  })

  it("leaves two objects behind, which say that it was probed", () => {
    expect(server.buckets.names("bucket")).toEqual([
      expect.stringMatching(/^a\/b\/proofs\/1-[0-9a-f]{16}-day\d+$/),
      expect.stringMatching(/^a\/b\/proofs\/1-[0-9a-f]{16}-day\d+-\d+-deletes$/),
    ])
  })

  it("reads what it wrote, with its generation and the store's time in whole seconds", async () => {
    const generation = await written("{}")
    expect(await textOf(store.read(lease, readOptions()))).toEqual({ kind: "found", generation, body: "{}", storeTime })
  })

  it("answers absent where there is no object", async () => {
    expect(await store.read(lease, readOptions())).toEqual({ kind: "absent", storeTime })
  })

  it("answers unchanged by a 304 that carries no body", async () => {
    const known = await written("{}")
    server.forget()
    expect(await store.read(lease, readOptions({ known }))).toEqual({ kind: "unchanged", generation: known, storeTime })
    expect(server.requests[0]?.query["ifGenerationNotMatch"]).toBe(known)
  })

  it("answers unchanged also where a server ignores the condition and sends the known generation again", async () => {
    const known = await written("{}")
    server.buckets.rules.ignored = ["read"]
    expect(await store.read(lease, readOptions({ known }))).toEqual({ kind: "unchanged", generation: known, storeTime })
  })

  it("answers found where the known generation is over", async () => {
    const known = await written("1")
    const generation = await written("2", known)
    expect(await textOf(store.read(lease, readOptions({ known })))).toMatchObject({ generation, body: "2" })
  })

  it("creates only where there is nothing, and writes only on the generation that is there", async () => {
    const first = await written("1")
    const refused: WriteAnswer = { kind: "refused", storeTime }
    expect(await store.put(lease, ABSENT, bytes("2"), within)).toEqual(refused)
    const second = await written("2", first)
    expect(second).not.toBe(first)
    expect(await store.put(lease, first, bytes("3"), within)).toEqual(refused)
    expect(await textOf(store.read(lease, readOptions()))).toMatchObject({ body: "2" })
  })

  it("deletes only on the generation that is there", async () => {
    const first = await written("1")
    const second = await written("2", first)
    expect(await store.remove(lease, first, within)).toEqual({ kind: "refused", storeTime })
    expect(await store.remove(lease, second, within)).toEqual({ kind: "applied", generation: second, storeTime })
    expect(await store.remove(lease, second, within)).toEqual({ kind: "refused", storeTime })
  })

  it("sends one request for each call", async () => {
    const generation = await written("1")
    await store.read(lease, readOptions())
    await store.remove(lease, generation, within)
    await store.list("leases", { ...within, prefix: "" })
    expect(server.counts).toEqual({ POST: 1, GET: 2, DELETE: 1 })
  })

  // Tests stores: Where requesters pay, every request names the project that does.
  it("names the project that pays in every request, and none where none is named", async () => {
    await store.read(lease, readOptions())
    expect(server.requests.map(({ query }) => query["userProject"])).toEqual([undefined])
    server.forget()
    const options = { bucket: "bucket", prefix: "a/b", endpoint: server.url, userProject: "payer-1" }
    const paid = gcsStore(options)
    await paid.start(within)
    await paid.read(lease, readOptions({ known: "7" }))
    await paid.put(lease, ABSENT, bytes("{}"), within)
    await paid.remove(lease, "7", within)
    await paid.list("leases", { ...within, prefix: "" })
    await paid.close()
    await bucketMetadata(options)
    expect(new Set(server.requests.map(({ method }) => method))).toEqual(new Set(["GET", "POST", "DELETE"]))
    expect(new Set(server.requests.map(({ query }) => query["userProject"]))).toEqual(new Set(["payer-1"]))
  })

  it("writes records and heads as JSON, contents as bytes, none of them to be cached", async () => {
    const head = { area: "state", name: "key/head" } as const
    for (const ref of [lease, head, content]) await store.put(ref, ABSENT, bytes("x"), within)
    const stored = (name: string): unknown => server.buckets.object("bucket", `a/b/${name}`)
    expect(stored("leases/key")).toMatchObject({ contentType: "application/json", cacheControl: "no-store" })
    expect(stored("state/key/head")).toMatchObject({ contentType: "application/json", cacheControl: "no-store" })
    expect(stored("state/key/1-1-x")).toMatchObject({
      contentType: "application/octet-stream",
      cacheControl: "no-store",
    })
  })

  it("stores every byte as it is, also bytes that look like the framing of the upload", async () => {
    const tricky = Buffer.concat([
      Buffer.from("\r\n--leasehold-\r\n--\r\n\r\n"),
      Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)),
      Buffer.alloc(300_000, 7),
      Buffer.from("\r\n"),
    ])
    await store.put(content, ABSENT, tricky, within)
    const answer = await store.read(content, readOptions({ limit: 1_000_000 }))
    expect(answer.kind === "found" && Buffer.compare(answer.body, tricky)).toBe(0)
  })

  it("stores and reads an empty object", async () => {
    await store.put(content, ABSENT, new Uint8Array(0), within)
    expect(await textOf(store.read(content, readOptions()))).toMatchObject({ kind: "found", body: "" })
  })

  it.each(["=2e=2e", "a=2fb", "%2F", "ü?&#+ ~", "a/b/head"])("keeps %j one name, under its prefix", async (name) => {
    await store.put({ area: "state", name }, ABSENT, bytes("x"), within)
    expect(server.buckets.names("bucket").filter((object) => !object.includes("/proofs/"))).toEqual([
      `a/b/state/${name}`,
    ])
    expect(await store.list("state", { ...within, prefix: name.slice(0, 1) })).toMatchObject({ items: [{ name }] })
  })

  // Tests rule 3: An answer from a cache gives neither sample nor authority.
  it("gives no time where a cache on the way kept the answer", async () => {
    const generation = await written("{}")
    server.script({ on: "GET", headers: { age: "7" } })
    expect(await textOf(store.read(lease, readOptions()))).toEqual({ kind: "found", generation, body: "{}" })
    server.script({ on: "POST", headers: { age: "0" } })
    expect(await store.put(lease, ABSENT, bytes("2"), within)).toEqual({ kind: "refused" })
  })

  it("gives no time where the Date is none", async () => {
    server.script({ on: "GET", headers: { date: "yesterday" } })
    expect(await store.read(lease, readOptions())).toEqual({ kind: "absent" })
  })

  it("answers 20 creates at once with one winner", async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => store.put(lease, ABSENT, bytes(`${n}`), within)),
    )
    const kinds = answers.map(({ kind }) => kind).sort()
    expect(kinds).toEqual(["applied", ...Array.from({ length: 19 }, () => "refused")])
  })
})

describe("a GCS store on a strict server", () => {
  let shared: StrictGcsServer
  beforeAll(async () => {
    shared = await startStrictGcs({ record: false })
  })
  afterAll(() => shared[Symbol.asyncDispose]())

  describeConformance((place) => gcsStore({ bucket: "bucket", prefix: place, endpoint: shared.url }), {
    silence: (place) => void shared.silenced.add(place),
  })

  it("passes on a server that takes one write of an object in a second, on clocks that run fast", async () => {
    const clock = fastClock(8) // a spacing of 125 ms: a busy machine still sends its next write within it
    await using spaced = await startStrictGcs({ record: false, now: () => clock.read().wall })
    spaced.buckets.rules.spacing = true
    const make: MakeStore = (place) =>
      gcsStore({ bucket: "bucket", prefix: place, endpoint: spaced.url, clock, requestTimeout: PATIENT })
    const cases = conformance(make, { clock, deadline: PATIENT, grace: PATIENT, names: 3 })
    await Promise.all(cases.map(({ run }) => run()))
    expect(spaced.tooEarly).toBeGreaterThan(cases.length)
  })
})

/** A guard against hangs, no measure of speed: three minutes of a busy machine, by a clock that runs fast. */
const PATIENT = 1_440_000

/** Time that passes so many times as fast. */
function fastClock(times: number): Clock {
  const start = liveClock.read().mono
  const passed = (): number => (liveClock.mono() - start) * times
  return {
    read: () => ({ wall: storeTime + passed(), mono: passed(), boot: passed() }),
    mono: passed,
    random: () => liveClock.random(),
    id: () => liveClock.id(),
    after: (ms, callback, options) => liveClock.after(ms / times, callback, options),
    soon: (callback) => liveClock.soon(callback),
    bootId: undefined,
  }
}

describe("its lists", () => {
  it("come in pages, in order, with names and generations of one area only", async () => {
    const names = Array.from({ length: 2500 }, (_, n) => `key-${String(n).padStart(4, "0")}`)
    for (const name of names) server.buckets.write("bucket", `a/b/leases/${name}`, bytes("{}"))
    server.buckets.write("bucket", "a/b/state/key-9999/head", bytes("{}"))
    server.buckets.write("bucket", "a/b/leases/other", bytes("{}"))
    const seen: string[] = []
    let after: string | undefined
    do {
      const options = { ...within, prefix: "key-", ...(after === undefined ? {} : { after }) }
      const page = await store.list("leases", options)
      seen.push(...page.items.map(({ name }) => name))
      after = page.next
    } while (after !== undefined)
    expect(seen).toEqual(names)
    expect(server.counts["GET"]).toBe(3)
  })

  it("go on after a page that is empty and not the last", async () => {
    const generation = await written("{}")
    const emptyPage = { kind: "storage#objects", nextPageToken: Buffer.from("!").toString("base64url") }
    server.script({ on: "GET", body: JSON.stringify(emptyPage) }, { on: "GET", body: JSON.stringify(emptyPage) })
    expect(await store.list("leases", { ...within, prefix: "" })).toEqual({ items: [{ name: "key", generation }] })
    expect(server.counts["GET"]).toBe(3)
  })

  it("are empty where nothing has the prefix", async () => {
    expect(await store.list("state", { ...within, prefix: "" })).toEqual({ items: [] })
  })

  it("carry the generation that a read shows", async () => {
    const generation = await written("{}")
    expect(await store.list("leases", { ...within, prefix: "" })).toEqual({ items: [{ name: "key", generation }] })
  })
})
